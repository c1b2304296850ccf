/**
 * `npm run bench`: this server and the plain recipe, side by side: one PostgreSQL of one configuration (fsync on), one
 * load generator, the same events. Prints a table and its ratios. `--seconds N` (default 12), `--rounds N` (default 3),
 * `--profile DIR` (writes a CPU profile of this server), `--before DIR` (compares with the server of another checkout, where
 * `npm ci` has run, instead of the recipe).
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import type pg from "pg";
import { fullEvent } from "./full-event.ts";
import type { LoadResult } from "./load.ts";
import { load, migrate, openScene, print, printed, READY } from "./scene.ts";
import { cpuOf, residentOf } from "./usage.ts";

const run = promisify(execFile);
const CONNECTIONS = 64;

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "12" },
    rounds: { type: "string", default: "3" },
    profile: { type: "string" },
    before: { type: "string" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);

interface Subject {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
  readonly token: string;
  readonly actionId: string;
  /** Bytes of all that an event leaves in the database. */
  readonly storedBytes: () => Promise<number>;
}

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverCpu: number;
  readonly databaseCpu: number;
  readonly bytesPerEvent: number;
  readonly resident: number;
}

const scene = await openScene();

async function sizeOf(client: pg.Client, schema: string): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes from pg_class c
      join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
    [schema],
  );
  return Number(rows[0]?.bytes);
}

async function startRecipe(): Promise<Subject> {
  const client = await scene.createDatabase("recipe");
  const token = "recipe-token";
  const child = spawn(process.execPath, [join(import.meta.dirname, "recipe.ts"), scene.url("recipe"), token], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const at = await printed(child, /(http:\S+)/);
  return { name: "recipe", url: at, child, token, actionId: "act_1", storedBytes: () => sizeOf(client, "public") };
}

/** @param root a checkout. Its own commands make what it needs: each has a schema of its own. */
async function startServer(name: string, root: string): Promise<Subject> {
  const client = await scene.createDatabase(name);
  const env = { ...process.env, ...scene.environmentOf(name) };
  const drs = join(root, "packages/server/bin/drs.js");
  await migrate(drs, env);
  const issue = ["token", "issue", "--account", "bench", "--ttl", "24h", "--json"];
  const { token } = JSON.parse((await run(process.execPath, [drs, ...issue], { env })).stdout) as { token: string };
  const register = ["action", "register", "--account", "bench", "--type", "payment", "--id", "act_1", "--ttl", "24h"];
  await run(process.execPath, [drs, ...register], { env });
  const profile = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`];
  const child = spawn(process.execPath, ["--max-semi-space-size=4", ...profile, drs, "serve"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const at = await printed(child, READY);
  return { name, url: at, child, token, actionId: "act_1", storedBytes: () => sizeOf(client, "drs") };
}

const loadOn = ({ url, token, actionId }: Subject, seconds: number, rate: number): Promise<LoadResult> =>
  load({ url, token, actionId, connections: CONNECTIONS, seconds, rate });

async function measure(subject: Subject): Promise<Figures> {
  const pid = subject.child.pid as number;
  await loadOn(subject, 3, 0);
  const bytes = await subject.storedBytes();
  const server = cpuOf(pid);
  const database = cpuOf(scene.postmaster);
  let resident = 0;
  const watching = setInterval(() => (resident = Math.max(resident, residentOf(pid))), 250);
  const full = await loadOn(subject, SECONDS, 0);
  clearInterval(watching);
  const serverCpu = (cpuOf(pid) - server) / full.stored;
  const databaseCpu = (cpuOf(scene.postmaster) - database) / full.stored;
  const bytesPerEvent = ((await subject.storedBytes()) - bytes) / full.stored;
  const perSecond = full.stored / full.seconds;
  const half = await loadOn(subject, Math.max(5, SECONDS / 2), perSecond / 2);
  return { perSecond, p50Ms: half.p50Ms, p99Ms: half.p99Ms, serverCpu, databaseCpu, bytesPerEvent, resident };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = low] = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return (low + high) / 2;
}

function medians(all: readonly Figures[]): Figures {
  const names = Object.keys(all[0] ?? {}) as (keyof Figures)[];
  return Object.fromEntries(
    names.map((name) => [name, median(all.map((figures) => figures[name]))]),
  ) as unknown as Figures;
}

/** Computes the ratio of each round, then the median: what slows both down at one time does not count. */
function ratioOf(name: keyof Figures): number {
  const [theirs = [], own = []] = [...found.values()];
  return median(own.map((figures, round) => figures[name] / (theirs[round]?.[name] ?? Number.NaN)));
}

/** Microseconds that this core takes to parse a full event: the yardstick for CPU figures. */
function parseCost(): number {
  const texts = Array.from({ length: 100 }, (_, seed) => JSON.stringify(fullEvent(seed, new Date(0))));
  const once = (): number => {
    const started = performance.now();
    for (const text of texts) JSON.parse(text);
    return ((performance.now() - started) / texts.length) * 1000;
  };
  return median(Array.from({ length: 31 }, once));
}

const { before } = options;
const peer = before === undefined ? await startRecipe() : await startServer("before", resolve(before));
const ours = await startServer("ours", join(import.meta.dirname, "../.."));
const parse = parseCost();
const bodyBytes = JSON.stringify(fullEvent(1, new Date())).length;
const found = new Map<Subject, Figures[]>([
  [peer, []],
  [ours, []],
]);
for (let round = 1; round <= ROUNDS; round++) {
  for (const subject of round % 2 === 1 ? [peer, ours] : [ours, peer]) {
    const figures = await measure(subject);
    found.get(subject)?.push(figures);
    print(`round ${round} of ${ROUNDS}, ${subject.name}: ${figures.perSecond.toFixed(0)} events/s`);
  }
}

const [a, b] = [medians(found.get(peer) ?? []), medians(found.get(ours) ?? [])];
const rows: [string, keyof Figures, number, number, string][] = [
  ["durable events per second", "perSecond", 1, 0, before === undefined ? "≥ 3.0 × the recipe" : "≥ 0.95 × before"],
  ["p50 at half load, ms", "p50Ms", 1, 2, ""],
  ["p99 at half load, ms", "p99Ms", 1, 2, "≤ 15"],
  ["server CPU per event, µs", "serverCpu", 1, 0, `≤ ${((250 / 31) * parse).toFixed(0)} here`],
  ["PostgreSQL CPU per event, µs", "databaseCpu", 1, 0, ""],
  ["stored bytes per event, indexes included", "bytesPerEvent", 1, 0, "≤ 3,072"],
  ["resident memory, MB", "resident", 1e6, 0, "≤ 200"],
];
print("");
print(
  `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, events of ${bodyBytes} bytes, ${CONNECTIONS} connections,`,
);
print(
  `${ROUNDS} rounds of ${SECONDS} s, medians; ratios are medians of each round's. JSON.parse of an event takes ${parse.toFixed(0)} µs here; the CPU goal, 250 µs where it takes 31, scales with it.`,
);
print("");
print(`| figure | ${peer.name} | ours | ours ÷ ${peer.name} | goal |`);
print("| --- | --- | --- | --- | --- |");
for (const [what, name, unit, digits, goal] of rows) {
  const [theirs, own] = [a[name] / unit, b[name] / unit];
  print(`| ${what} | ${theirs.toFixed(digits)} | ${own.toFixed(digits)} | ${ratioOf(name).toFixed(2)} | ${goal} |`);
}

for (const { child } of [peer, ours]) {
  child.removeAllListeners("exit");
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}
await scene.close();
process.exit(0);
