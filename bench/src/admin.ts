/**
 * `npm run bench:admin`: measures latencies of the admin API during ingestion, on a database with a million events.
 * Prints a line for each figure as soon as it is measured. `--events N` (default 1000000), `--rate N` requests a second
 * of ingestion (default 200), `--reads N` requests of each kind (default 200). Filling the database ends after
 * `--fill-seconds N` (default 180), even if it has fewer events. `--folder DIR` keeps the events, and a later run
 * continues with them.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createServer } from "node:net";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { createAdminClient } from "../../packages/admin-api/src/client.ts";
import { readConfig } from "../../packages/server/src/base/config/config.ts";
import { openSystem } from "../../packages/server/src/runtime/system.ts";
import { figureLine, load, migrate, openScene, print, printed, READY } from "./scene.ts";
import { STORED_DAYS, fill } from "./past-events.ts";

const CONNECTIONS = 16;
const PAGE_SIZE = 50;
/** The server allows a person 50 requests a second. */
const INTERVAL_MS = 25;
/** The load generator makes its events in this time, before it sends the first one. */
const LOAD_START_MS = 3_000;
/** Maximum time for one figure. On a slow machine the figure has fewer reads. */
const MAX_MEASURING_MS = 10_000;
/** Each run has another account, because `--folder` can have events of an earlier run. */
const ACCOUNT = `bench-${Date.now()}`;
const ACTION = "act_1";
const CASE_REASON = { category: "fraud-investigation", ticket: "BENCH-1", reason: "measured by the bench" } as const;
const DRS_PATH = join(import.meta.dirname, "../../packages/server/bin/drs.js");

const { values: options } = parseArgs({
  options: {
    events: { type: "string", default: "1000000" },
    rate: { type: "string", default: "200" },
    reads: { type: "string", default: "200" },
    "fill-seconds": { type: "string", default: "180" },
    folder: { type: "string" },
  },
});
const [EVENTS, RATE, READS] = [Number(options.events), Number(options.rate), Number(options.reads)];

const scene = await openScene(options.folder);
const owner = await scene.createDatabase("bench", "-c search_path=drs -c timezone=UTC");
const adminPort = await freePort();
const environment = {
  ...scene.environmentOf("bench"),
  DRS_ADMIN_PORT: String(adminPort),
  DRS_OPENED_EVENTS_LIMIT: "1000000",
};
const env = { ...process.env, ...environment };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function drs<Answer>(...args: readonly string[]): Promise<Answer> {
  const { stdout } = await promisify(execFile)(process.execPath, [DRS_PATH, ...args, "--json"], { env });
  return JSON.parse(stdout) as Answer;
}

/** @returns the number of events. */
async function fillWithPastEvents(): Promise<number> {
  const config = readConfig(environment, scene.folder);
  if (!config.ok) throw new Error(config.problems.join("\n"));
  const ports = { clock: Date, asServer: false, environment: process.env, onError: (): void => {} };
  const system = await openSystem(config.config, ports);
  const until = Date.now() + Number(options["fill-seconds"]) * 1_000;
  const filled = await fill({ owner, secrets: system.secrets }, EVENTS, until);
  await system.close();
  return filled;
}

/** Analyses the partition that ingestion fills, as autovacuum does a minute after its first events. */
async function analyzeCurrentPartition(): Promise<void> {
  const { rows } = await owner.query<{ table_name: string }>(
    "select table_name from event_partition where lower_bound <= now() and now() < upper_bound",
  );
  for (const { table_name } of rows) await owner.query(`analyze ${table_name}`);
}

/**
 * Makes calls one at a time, at a steady rate, until the time limit of one figure. @returns the latencies in
 * milliseconds, ascending.
 */
async function measureLatencies(count: number, call: (index: number) => Promise<unknown>): Promise<number[]> {
  const latenciesMs: number[] = [];
  const end = performance.now() + MAX_MEASURING_MS;
  for (let index = 0; index < count && performance.now() < end; index++) {
    const started = performance.now();
    await call(index);
    const took = performance.now() - started;
    latenciesMs.push(took);
    await sleep(Math.max(0, INTERVAL_MS - took));
  }
  return latenciesMs.toSorted((a, b) => a - b);
}

function printFigure(what: string, sorted: readonly number[], goal: number): void {
  const percentile = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  print(figureLine(`${what}, p95 (p50 ${percentile(0.5).toFixed(1)} ms)`, percentile(0.95), "ms", goal));
}

async function stopServer(server: ChildProcess | undefined): Promise<void> {
  if (!server || server.exitCode !== null) return;
  server.kill("SIGTERM");
  await new Promise((resolve) => server.once("exit", resolve));
}

let server: ChildProcess | undefined;
try {
  await migrate(DRS_PATH, env);
  const filled = await fillWithPastEvents();
  print(`filled ${filled} of ${EVENTS} events`);
  const { token } = await drs<{ token: string }>("token", "issue", "--account", ACCOUNT, "--ttl", "24h");
  await drs("action", "register", "--account", ACCOUNT, "--type", "payment", "--id", ACTION, "--ttl", "24h");
  const person = ["--person", "bench", "--role", "analyst", "investigator"];
  const admin = await drs<{ token: string }>("admin-token", "issue", ...person, "--ttl", "1d");
  server = spawn(process.execPath, [DRS_PATH, "serve"], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const url = await printed(server, READY);
  const client = createAdminClient({ url: `http://127.0.0.1:${adminPort}`, token: admin.token });
  const ingest = (seconds: number, rate: number): ReturnType<typeof load> =>
    load({ url, token, actionId: ACTION, connections: CONNECTIONS, seconds, rate });
  await ingest(5, RATE);

  const { rows: middles } = await owner.query<{ received_at: Date }>(
    `select received_at from bench_${Math.floor((filled / EVENTS) * (STORED_DAYS / 2))} order by received_at limit 1`,
  );
  const to = middles[0]?.received_at.toISOString() ?? "";
  const filters: Readonly<Record<string, (index: number) => object>> = {
    everything: () => ({}),
    "an account": (index) => ({ account: `account-${index % 9_999}` }),
    "an action": (index) => ({ action_id: `action-${(index % 100) + 1}` }),
    "an action type": (index) => ({ action_type: `type-${index % 50}` }),
    "an SDK version": (index) => ({ sdk_version: `1.0.${index % 60}` }),
  };
  const seconds = Math.ceil((Object.keys(filters).length * 2 * READS + READS) * (INTERVAL_MS / 1000) + 10);
  await analyzeCurrentPartition();
  print(
    `\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${filled} events, ${READS} reads of each\n`,
  );
  print("| figure | value | goal | verdict |\n| --- | --- | --- | --- |");
  const busy = ingest(seconds, RATE);
  await sleep(LOAD_START_MS);
  for (const [what, filter] of Object.entries(filters)) {
    for (const [where, span] of [
      ["first", {}],
      ["middle", { to }],
    ] as const) {
      const list = (index: number): Promise<unknown> =>
        client.call("listEvents", { ...filter(index), ...span, limit: PAGE_SIZE });
      printFigure(`${PAGE_SIZE} of ${what}, ${where} page`, await measureLatencies(READS, list), 25);
    }
  }
  const { case_id } = await client.call("openCase", { ...CASE_REASON, account: ACCOUNT });
  const { events } = await client.call("listEvents", { account: ACCOUNT, limit: READS });
  const open = (index: number): Promise<unknown> =>
    client.call("readExactEvent", { event_id: events[index % events.length]?.event_id ?? "", case_id });
  printFigure("an opened event with its audit entry", await measureLatencies(READS, open), 40);
  const during = await busy;

  print(`\n${RATE} requests/s of ingestion at the same time, whose p99 is ${during.p99Ms.toFixed(1)} ms`);
} finally {
  await stopServer(server);
  await owner.end();
  await scene.close();
}
