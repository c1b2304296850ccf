/**
 * `npm run bench`: compares this server with the plain recipe (`recipe.ts`). Both use the same PostgreSQL with fsync,
 * the same load generator and the same events. Prints a table with ratios. `--seconds N` (default 8), `--rounds N`
 * (default 5), `--connections N` (default 64), `--profile DIR` (writes a CPU profile of this server), `--before DIR`
 * (compares with the server of another checkout, where `npm ci` has run, instead of the recipe), `--generator
 * full|unseen` (events of one generator only). A round during which other programs used more than a tenth of the
 * machine is repeated, unless as many rounds as `--rounds` were repeated already.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { open, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type pg from "pg";
import { deflatedBytes, type Generator, GENERATORS } from "./generators.ts";
import type { LoadResult } from "./load.ts";
import { median } from "./median.ts";
import { load, migrate, openScene, print, printed, READY } from "./scene.ts";
import { cpuOf, machineCpu, residentOf } from "./usage.ts";

const run = promisify(execFile);
const STARTER_FEATURES = join(import.meta.dirname, "../../packages/features/src/starter");
/** The share of the machine that other programs may use during a round. */
const MAX_DISTURBANCE = 0.1;

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "8" },
    rounds: { type: "string", default: "5" },
    connections: { type: "string", default: "64" },
    profile: { type: "string" },
    before: { type: "string" },
    generator: { type: "string" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const CONNECTIONS = Number(options.connections);
const ALL_GENERATORS = Object.keys(GENERATORS) as Generator[];
const MEASURED = ALL_GENERATORS.filter((name) => name === (options.generator ?? name));
if (MEASURED.length === 0) throw new TypeError(`--generator is one of ${ALL_GENERATORS.join(", ")}`);

interface Subject {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
  readonly token: string;
  readonly actionId: string;
  /** @returns the size of all tables and indexes of the subject, in bytes. */
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
  /** The share of the machine that other programs used at saturation. */
  readonly disturbance: number;
}

const scene = await openScene();

/** Number of WAL segments that PostgreSQL fills between two checkpoints: a little more than half of `max_wal_size`. */
const WAL_SEGMENTS = 70;

/**
 * Writes as many WAL segments as PostgreSQL fills between two checkpoints, so that later writes reuse them. A new
 * PostgreSQL fills each new segment with zeros before it writes there, and commits wait for this. A PostgreSQL that has
 * run for some minutes reuses old segments.
 */
async function recycleSegments(client: pg.Client): Promise<void> {
  for (let segment = 0; segment < WAL_SEGMENTS; segment++) {
    await client.query("select pg_logical_emit_message(true, 'bench', '')");
    await client.query("select pg_switch_wal()");
  }
  await client.query("checkpoint");
}

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

/**
 * @param root a checkout. The commands of this checkout set up the database, because checkouts may differ in schema.
 */
async function startServer(name: string, root: string): Promise<Subject> {
  const client = await scene.createDatabase(name);
  const env = {
    ...process.env,
    ...scene.environmentOf(name),
    DRS_ERASURE_JOURNAL: join(scene.folder, `${name}-journal`),
    // No worker computes features during the measurement. Earlier releases have no such worker and refuse the variable.
    ...(existsSync(join(root, "packages/features")) && { DRS_FEATURE_WORKER: "false" }),
  };
  const drs = join(root, "packages/server/bin/drs.js");
  await migrate(drs, env);
  await activateFeatures(drs, env);
  const issue = ["token", "issue", "--account", "bench", "--ttl", "24h", "--json"];
  const { token } = JSON.parse((await run(process.execPath, [drs, ...issue], { env })).stdout) as { token: string };
  const register = ["action", "register", "--account", "bench", "--type", "payment", "--id", "act_1", "--ttl", "24h"];
  await run(process.execPath, [drs, ...register], { env });
  const profile = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`];
  const child = spawn(process.execPath, [...profile, drs, "serve"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const at = await printed(child, READY);
  return { name, url: at, child, token, actionId: "act_1", storedBytes: () => sizeOf(client, "drs") };
}

/**
 * Applies a policy with a purpose that covers all probes, and adopts the starter features, so that ingestion checks
 * adopted fields and records which events are due. An earlier release may lack these commands.
 */
async function activateFeatures(drs: string, env: NodeJS.ProcessEnv): Promise<void> {
  const command = (...args: readonly string[]): Promise<unknown> => run(process.execPath, [drs, ...args], { env });
  const why = ["--reason", "measured by the bench", "--break-glass"];
  const policy = join(scene.folder, "policy.yaml");
  const purpose = { id: "payments", title: "t", legal_basis: "l", owner: "o", raw_retention: "P90D" };
  const purposes = [{ ...purpose, derived_retention: "P1Y", probes: CATALOG.map(({ id }) => id) }];
  await writeFile(policy, JSON.stringify({ purposes, actions: { payment: "payments" }, unmapped: "refuse" }));
  try {
    await command("purpose", "apply", policy, "--yes");
    await command("feature", "propose", STARTER_FEATURES, ...why);
    const listed = await run(process.execPath, [drs, "feature", "list", STARTER_FEATURES, "--json"], { env });
    const features = listed.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { feature: string }).feature);
    await command("feature", "adopt", ...features, "--purpose", "payments", "--accept-refusals", ...why);
  } catch (error) {
    if (before === undefined) throw error;
    print(`without features: ${String((error as { stderr?: unknown }).stderr).trim()}`);
  }
}

async function measure(subject: Subject, generator: Generator): Promise<Figures> {
  const { url, token, actionId } = subject;
  const loadWith = (seconds: number, rate: number): Promise<LoadResult> =>
    load({ url, token, actionId, connections: CONNECTIONS, seconds, rate, generator });
  const pid = subject.child.pid as number;
  await loadWith(3, 0);
  const bytes = await subject.storedBytes();
  const server = cpuOf(pid);
  const database = cpuOf(scene.postmaster);
  const others = machineCpu() - cpuOf(process.pid);
  const started = performance.now();
  let resident = 0;
  const watching = setInterval(() => (resident = Math.max(resident, residentOf(pid))), 250);
  const saturated = await loadWith(SECONDS, 0);
  clearInterval(watching);
  const available = (performance.now() - started) * 1_000 * cpus().length;
  const disturbance = (machineCpu() - cpuOf(process.pid) - others) / available;
  const serverCpu = (cpuOf(pid) - server) / saturated.stored;
  const databaseCpu = (cpuOf(scene.postmaster) - database) / saturated.stored;
  const bytesPerEvent = ((await subject.storedBytes()) - bytes) / saturated.stored;
  const perSecond = saturated.stored / saturated.seconds;
  const atHalfLoad = await loadWith(Math.max(5, SECONDS / 2), perSecond / 2);
  return {
    perSecond,
    p50Ms: atHalfLoad.p50Ms,
    p99Ms: atHalfLoad.p99Ms,
    serverCpu,
    databaseCpu,
    bytesPerEvent,
    resident,
    disturbance,
  };
}

/**
 * The time of `fdatasync` after a write of a page, in milliseconds: a 201 waits for one. @returns the 99th percentile
 * of 500.
 */
async function diskP99Ms(): Promise<number> {
  const path = join(scene.folder, "fdatasync");
  const file = await open(path, "w");
  const times: number[] = [];
  for (let n = 0; n < 500; n++) {
    await file.write(Buffer.alloc(8_192, n));
    const started = performance.now();
    await file.datasync();
    times.push(performance.now() - started);
  }
  await file.close();
  await rm(path);
  return times.toSorted((a, b) => a - b)[494] ?? Number.NaN;
}

function medians(all: readonly Figures[]): Figures {
  const names = Object.keys(all[0] ?? {}) as (keyof Figures)[];
  return Object.fromEntries(
    names.map((name) => [name, median(all.map((figures) => figures[name]))]),
  ) as unknown as Figures;
}

/** The figures of all rounds: those of the peer, then those of this server. */
type Rounds = readonly [theirs: Figures[], own: Figures[]];

/** @returns the median of the ratios of the rounds. A slow machine affects both servers, and hardly changes a ratio. */
function ratioOf(name: keyof Figures, [theirs, own]: Rounds): number {
  return median(own.map((figures, round) => figures[name] / (theirs[round]?.[name] ?? Number.NaN)));
}

/**
 * @returns the microseconds that `JSON.parse` of an event takes on this machine. The goal for the server's CPU time
 * scales with it.
 */
function measureParseMicroseconds(generator: Generator): number {
  const texts = Array.from({ length: 100 }, (_, seed) => JSON.stringify(GENERATORS[generator](seed, new Date(0))));
  const once = (): number => {
    const started = performance.now();
    for (const text of texts) JSON.parse(text);
    return ((performance.now() - started) / texts.length) * 1000;
  };
  return median(Array.from({ length: 31 }, once));
}

const { before } = options;
await recycleSegments(await scene.createDatabase("segments"));
const peer = before === undefined ? await startRecipe() : await startServer("before", resolve(before));
const ours = await startServer("ours", join(import.meta.dirname, "../.."));
print(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${CONNECTIONS} connections,`);
print(`${ROUNDS} rounds of ${SECONDS} s, medians; ratios are medians of each round's.`);
for (const generator of MEASURED) {
  const rounds: Rounds = [[], []];
  // The number of repeated rounds is at most the number of rounds.
  for (let left = 2 * ROUNDS; rounds[0].length < ROUNDS; left--) {
    const [theirs, own] = await measureRound(generator, rounds[0].length % 2 === 0);
    const disturbance = Math.max(theirs.disturbance, own.disturbance);
    const isRepeated = disturbance > MAX_DISTURBANCE && left > ROUNDS - rounds[0].length;
    const [a, b] = [theirs, own].map(({ perSecond }) => perSecond.toFixed(0));
    print(
      `${generator}, round ${rounds[0].length + 1} of ${ROUNDS}: ${peer.name} ${a}, ours ${b} events/s; other programs used ${(disturbance * 100).toFixed(0)} % of the machine${isRepeated ? ": repeated" : ""}`,
    );
    if (isRepeated) continue;
    rounds[0].push(theirs);
    rounds[1].push(own);
  }
  report(generator, rounds, await diskP99Ms());
}

async function measureRound(generator: Generator, peerFirst: boolean): Promise<readonly [Figures, Figures]> {
  if (peerFirst) {
    const theirs = await measure(peer, generator);
    return [theirs, await measure(ours, generator)];
  }
  const own = await measure(ours, generator);
  return [await measure(peer, generator), own];
}

function report(generator: Generator, rounds: Rounds, diskMs: number): void {
  const parse = measureParseMicroseconds("full");
  const bodyBytes = JSON.stringify(GENERATORS[generator](1, new Date())).length;
  const deflated = deflatedBytes(generator);
  const [a, b] = [medians(rounds[0]), medians(rounds[1])];
  const rows: [string, keyof Figures, number, number, string][] = [
    ["durable events per second", "perSecond", 1, 0, before === undefined ? "≥ 3.5 × the recipe" : "≥ 0.95 × before"],
    ["p50 at half load, ms", "p50Ms", 1, 2, ""],
    ["p99 at half load, ms", "p99Ms", 1, 2, `≤ ${(10 + diskMs).toFixed(1)} here`],
    ["server CPU per event, µs", "serverCpu", 1, 0, `≤ ${((180 / 31) * parse).toFixed(0)} here`],
    ["PostgreSQL CPU per event, µs", "databaseCpu", 1, 0, "≤ 70"],
    ["stored bytes per event, indexes included", "bytesPerEvent", 1, 0, ""],
    ["stored bytes ÷ deflate with the catalog's names", "bytesPerEvent", deflated, 2, "≤ 1.0"],
    ["resident memory, MB", "resident", 1e6, 0, "≤ 200"],
  ];
  print("");
  print(
    `Generator ${generator}: events of ${bodyBytes} bytes. JSON.parse of a full event takes ${parse.toFixed(0)} µs here; the CPU goal, 180 µs where it takes 31, scales with it. The 99th percentile of fdatasync is ${diskMs.toFixed(2)} ms.`,
  );
  print("");
  print(`| figure | ${peer.name} | ours | ours ÷ ${peer.name} | goal |`);
  print("| --- | --- | --- | --- | --- |");
  for (const [what, name, unit, digits, goal] of rows) {
    const [theirs, own] = [a[name] / unit, b[name] / unit];
    const ratio = ratioOf(name, rounds).toFixed(2);
    print(`| ${what} | ${theirs.toFixed(digits)} | ${own.toFixed(digits)} | ${ratio} | ${goal} |`);
  }
  print("");
}

for (const { child } of [peer, ours]) {
  child.removeAllListeners("exit");
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}
await scene.close();
process.exit(0);
