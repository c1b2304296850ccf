/**
 * `npm run bench:privacy`: measures the cost of deleting events on a database with a million events: erasure and expiry
 * during ingestion, the deletion of tombstones, and lists. `--events N` (default 1000000), `--rate N` requests a second
 * of ingestion (default 200).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { registerAction } from "../../packages/server/src/ingest/actions/action-table.ts";
import { readConfig } from "../../packages/server/src/base/config/config.ts";
import { openSystem } from "../../packages/server/src/runtime/system.ts";
import { issueToken } from "../../packages/server/src/ingest/sessions/opaque-tokens.ts";
import { findPartitions, spansOf } from "../../packages/server/src/store/events/partition-slices.ts";
import { type EventFilter, listQuery } from "../../packages/server/src/store/events/list-events.ts";
import type { LoadResult } from "./load.ts";
import { STORED_DAYS, fill } from "./past-events.ts";
import { load, openScene, print, printed, READY } from "./scene.ts";

const DAY_MS = 86_400_000;
const CONNECTIONS = 16;
const DRS = join(import.meta.dirname, "../../packages/server/bin/drs.js");

const { values: options } = parseArgs({
  options: { events: { type: "string", default: "1000000" }, rate: { type: "string", default: "200" } },
});
const EVENTS = Number(options.events);
const RATE = Number(options.rate);

const rows: string[] = [];
const addRow = (what: string, figure: string, goal = ""): void => void rows.push(`| ${what} | ${figure} | ${goal} |`);

const scene = await openScene();
const { folder } = scene;
const owner = await scene.createDatabase("bench", "-c search_path=drs -c timezone=UTC");
const environment = {
  ...scene.environmentOf("bench"),
  DRS_ERASURE_JOURNAL: join(folder, "journal"),
  DRS_RETENTION_INTERVAL: "24h",
};
const config = readConfig(environment, folder);
if (!config.ok) throw new Error(config.problems.join("\n"));
const system = await openSystem(config.config, {
  clock: Date,
  asServer: false,
  environment: process.env,
  onError: () => {},
});
const { token } = await issueToken(system.pool, system.clock, "bench", DAY_MS);
await registerAction(system.pool, system.clock, {
  account: "bench",
  actionType: "payment",
  actionId: "act_1",
  ttlMs: DAY_MS,
});
function run(args: readonly string[]): { readonly child: ChildProcess; readonly text: Promise<string> } {
  const child = spawn(process.execPath, [...args], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<string>((resolve, reject) => {
    child.once("close", (code) => (code === 0 ? resolve(text) : reject(new Error(`${args.join(" ")}: exit ${code}`))));
  });
  return { child, text: ended };
}

async function applyPeriod(period: string): Promise<void> {
  const file = join(folder, "policy.yaml");
  const purpose = { id: "default", title: "t", legal_basis: "l", derived_retention: "P1Y", owner: "o" };
  const policy = { purposes: [{ ...purpose, raw_retention: period }], actions: {}, unmapped: "default" };
  await writeFile(file, JSON.stringify(policy));
  await run([DRS, "purpose", "apply", file, "--yes", "--break-glass"]).text;
}

interface Plan {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly Plans?: readonly Plan[];
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/**
 * Measures the first page and a page in the middle of a list, for each filter. @throws Error if PostgreSQL reads a list
 * without an index.
 */
async function measureLists(): Promise<void> {
  const filters: Record<string, EventFilter> = {
    "an account": { account: "account-77" },
    "an action": { actionId: "action-77" },
    "an action type": { actionType: "type-7" },
    "an SDK version": { sdkVersion: "1.0.7" },
    everything: {},
  };
  const middle = await owner.query<{ event_id: string }>("select event_id from bench_5 order by received_at limit 1");
  for (const [what, filter] of Object.entries(filters)) {
    const times: number[] = [];
    const indexes = new Set<string>();
    for (const after of [undefined, middle.rows[0]?.event_id]) {
      const [span = { partitions: [] }] = spansOf(await findPartitions(system.pool));
      const { text, values } = listQuery(filter, span, 50, after);
      const explained = await system.pool.query<{ "QUERY PLAN": [{ Plan: Plan; "Execution Time": number }] }>(
        `explain (analyze, format json) ${text}`,
        values,
      );
      const [{ Plan: plan, "Execution Time": ms }] = explained.rows[0]?.["QUERY PLAN"] ?? [
        { Plan: { "Node Type": "" }, "Execution Time": 0 },
      ];
      times.push(ms);
      for (const node of nodesOf(plan)) {
        if (node["Node Type"] === "Seq Scan" && /bench_|event/.test(JSON.stringify(node)))
          throw new Error(`${what} is read without an index`);
        if (node["Index Name"]?.startsWith("bench_5")) indexes.add(node["Index Name"].replace("bench_5_", ""));
      }
    }
    addRow(
      `50 of ${what}, first page and in the middle`,
      `${times.map((ms) => ms.toFixed(1)).join(" and ")} ms by ${[...indexes].join(", ")}`,
      "by index",
    );
  }
}

const loadServer = (at: string, seconds: number): Promise<LoadResult> =>
  load({ url: at, token, actionId: "act_1", connections: CONNECTIONS, seconds, rate: RATE });

async function timed<T>(work: () => Promise<T>): Promise<{ readonly seconds: number; readonly result: T }> {
  const started = performance.now();
  const result = await work();
  return { seconds: (performance.now() - started) / 1_000, result };
}

const formatMs = (value: number): string => value.toFixed(1);

/** The load generator makes its events and warms up in this time. */
const LOAD_START_MS = 3_000;

/**
 * Runs a command and ingestion at the same time. @returns the seconds and output of the command, and the figures of
 * ingestion.
 */
async function runDuringIngestion(
  at: string,
  ...args: readonly string[]
): Promise<{ seconds: number; answer: string; busy: LoadResult }> {
  const ingestion = loadServer(at, 12);
  await sleep(LOAD_START_MS);
  const { seconds, result: answer } = await timed(() => run([DRS, ...args]).text);
  return { seconds, answer, busy: await ingestion };
}

async function measureErasure(at: string, what: string, ...subject: readonly string[]): Promise<void> {
  const { seconds, answer, busy } = await runDuringIngestion(
    at,
    "erase",
    "run",
    ...subject,
    "--reason",
    "measured by the bench",
    "--yes",
    "--break-glass",
    "--json",
  );
  const { events } = JSON.parse(answer) as { events: number };
  addRow(`${what} with ${events} events erased, as a command`, `${seconds.toFixed(1)} s`);
  addRow("ingestion at the same time, p99 and longest", `${formatMs(busy.p99Ms)} and ${formatMs(busy.longestMs)} ms`);
}

async function measureExpiry(at: string): Promise<void> {
  await applyPeriod("P30D");
  const { seconds, busy } = await runDuringIngestion(at, "retention", "run");
  const { rows: left } = await owner.query<{ count: number }>(
    "select count(*)::int as count from event_partition where dropped_at is null and table_name like 'bench%'",
  );
  if (left[0]?.count !== 0) throw new Error("something was not dropped");
  addRow(`${EVENTS} events expired (${STORED_DAYS} partitions), as a command`, `${seconds.toFixed(1)} s`);
  addRow("ingestion at the same time, p99 and longest", `${formatMs(busy.p99Ms)} and ${formatMs(busy.longestMs)} ms`);
}

async function measureDeletionOfKeys(): Promise<void> {
  const count = 200_000;
  await owner.query(
    `insert into tombstone select decode(md5(i::text), 'hex'), decode(md5(i::text), 'hex'), decode(md5(i::text), 'hex'), now() - interval '31 days'
      from generate_series(1, ${count}) i`,
  );
  const batches = await timed(async () => {
    for (let done = 1; done > 0;) {
      const { rows: counts } = await system.pool.query<{ done: number }>(
        "select delete_expired_tombstones('30 days', 1000) as done",
      );
      done = counts[0]?.done ?? 0;
    }
  });
  const perSecond = count / batches.seconds;
  addRow("tombstones deleted", `${perSecond.toFixed(0)}/s, ${(perSecond / 4_000).toFixed(1)} × 4,000`, "> 4,000/s");
  await owner.query(
    "update event_partition set dropped_at = dropped_at - interval '31 days' where table_name like 'bench%'",
  );
  const { seconds, result } = await timed(() => run([DRS, "retention", "run", "--json"]).text);
  const { keys } = JSON.parse(result) as { keys: number };
  addRow(
    `${keys} idempotency keys of expired events deleted`,
    `${(keys / seconds).toFixed(0)}/s, ${(keys / seconds / 4_000).toFixed(1)} × 4,000`,
    "> 4,000/s",
  );
}

await applyPeriod("P90D");
const filled = await timed(() => fill({ owner, secrets: system.secrets }, EVENTS));
print(`filled in ${filled.seconds.toFixed(0)} s`);
await measureLists();
const server = run([DRS, "serve"]);
const at = await printed(server.child, READY);
await loadServer(at, 3);
const withoutOtherWork = await loadServer(at, 12);
addRow(
  `ingestion at ${RATE} requests/s without other work, p99 and longest`,
  `${formatMs(withoutOtherWork.p99Ms)} and ${formatMs(withoutOtherWork.longestMs)} ms`,
);
await measureErasure(at, "an account", "--account", "account-0");
await measureErasure(at, "an action", "--action", "action-0");
await measureExpiry(at);
await measureDeletionOfKeys();
server.child.kill("SIGTERM");
await server.text;

print(`\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${EVENTS} events\n`);
print("| what | figure | goal |\n| --- | --- | --- |");
for (const line of rows) print(line);
await owner.end();
await system.close();
await scene.close();
