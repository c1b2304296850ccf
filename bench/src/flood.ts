/**
 * `npm run bench:flood`: measures how a flood of costly bodies from one account, sent at the account's rate limit,
 * slows down the requests of another account (the neighbour). Prints the neighbour's p99 during the flood divided by
 * its p99 without. `--seconds N` (default 12), `--rounds N` (default 3), `--server DIR` (measures the server of another
 * checkout, where `npm ci` has run), `--profile DIR` (writes a CPU profile).
 */
import { execFile, spawn } from "node:child_process";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { COSTLY } from "./costly-bodies.ts";
import type { LoadResult } from "./load.ts";
import { median } from "./median.ts";
import { loadWithRejections, load, migrate, openScene, print, printed, READY } from "./scene.ts";

const run = promisify(execFile);
const MAX_SLOWDOWN = 3;
/** Requests per second, below the default rate limit of an account, so that the server rejects none of them. */
const NEIGHBOUR_RATE = 40;
/** The default rate limit of an account, in requests per second. */
const FLOOD_RATE = 50;
/**
 * The flood starts this long before the measurement, so that the measurement includes only a part of the burst at the
 * start of the flood.
 */
const AHEAD_SECONDS = 1;

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "12" },
    rounds: { type: "string", default: "3" },
    server: { type: "string", default: join(import.meta.dirname, "../..") },
    profile: { type: "string" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const drs = join(resolve(options.server), "packages/server/bin/drs.js");

const scene = await openScene();
await scene.createDatabase("flood");
const { DRS_THROTTLE_RATE: _, ...settings } = scene.environmentOf("flood");
const env = { ...process.env, ...settings };
await migrate(drs, env);

interface Party {
  readonly token: string;
  readonly actionId: string;
}

async function makeParty(account: string): Promise<Party> {
  const issue = ["token", "issue", "--account", account, "--ttl", "24h", "--json"];
  const { token } = JSON.parse((await run(process.execPath, [drs, ...issue], { env })).stdout) as { token: string };
  const actionId = `act_${account}`;
  const register = ["action", "register", "--account", account, "--type", "payment", "--id", actionId, "--ttl", "24h"];
  await run(process.execPath, [drs, ...register], { env });
  return { token, actionId };
}

const neighbour = await makeParty("neighbour");
const flooder = await makeParty("hostile");
const profile = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`];
const server = spawn(process.execPath, [...profile, drs, "serve"], {
  env,
  stdio: ["ignore", "pipe", "inherit"],
});
const url = await printed(server, READY);

const loadNeighbour = (seconds = SECONDS): Promise<LoadResult> =>
  load({ url, ...neighbour, connections: 16, seconds, rate: NEIGHBOUR_RATE });

async function loadNeighbourDuringFlood(costly: string): Promise<LoadResult> {
  const flooding = loadWithRejections({
    url,
    ...flooder,
    connections: 16,
    seconds: SECONDS + AHEAD_SECONDS,
    rate: FLOOD_RATE,
    costly,
  });
  await new Promise((wake) => setTimeout(wake, AHEAD_SECONDS * 1_000));
  const asked = await loadNeighbour();
  await flooding;
  return asked;
}

interface Figures {
  readonly p50: number[];
  readonly p99: number[];
  readonly ratio: number[];
}

const noFigures = (): Figures => ({ p50: [], p99: [], ratio: [] });
const figuresWithoutFlood = noFigures();
const figuresByKind = new Map(Object.keys(COSTLY).map((kind) => [kind, noFigures()]));
await loadNeighbour(3);
for (let round = 1; round <= ROUNDS; round++) {
  const before = await loadNeighbour();
  figuresWithoutFlood.p50.push(before.p50Ms);
  figuresWithoutFlood.p99.push(before.p99Ms);
  for (const [kind, { p50, p99, ratio }] of figuresByKind) {
    const during = await loadNeighbourDuringFlood(kind);
    p50.push(during.p50Ms);
    p99.push(during.p99Ms);
    ratio.push(during.p99Ms / before.p99Ms);
  }
  print(`round ${round} of ${ROUNDS}`);
}

print("");
print(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}; a neighbour with ${NEIGHBOUR_RATE} events/s,`);
print(`a flood of ${FLOOD_RATE} requests/s; ${ROUNDS} rounds of ${SECONDS} s, medians; a ratio is of one round.`);
print("");
print("| flood | neighbour's p50, ms | p99, ms | p99 ÷ p99 without | goal |");
print("| --- | --- | --- | --- | --- |");
print(`| none | ${median(figuresWithoutFlood.p50).toFixed(1)} | ${median(figuresWithoutFlood.p99).toFixed(1)} | | |`);
for (const [kind, { p50, p99, ratio }] of figuresByKind) {
  print(
    `| ${kind} | ${median(p50).toFixed(1)} | ${median(p99).toFixed(1)} | ${median(ratio).toFixed(1)} | ≤ ${MAX_SLOWDOWN} |`,
  );
}

server.removeAllListeners("exit");
const ended = new Promise((wake) => server.once("exit", wake));
server.kill("SIGTERM");
await ended;
await scene.close();
process.exit(0);
