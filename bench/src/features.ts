/**
 * `npm run bench:features`: measures a worker that computes 25 starter features of full events, and compares it with
 * two peers that share the programs, the source of the events and PostgreSQL. Both peers have an id cursor. The first
 * inserts each value with a statement, and the second inserts the values of 500 events with one statement. `--events N`
 * (default 20000), `--rounds N` (default 3), `--seconds N` (default 8), `--erased N` events of an erased account
 * (default 10000), `--only PARTS`: some of backfill, delay, erasure, ingestion and neighbour (ingestion next to a
 * backfill).
 */
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import type { Bundle, Result } from "@device-risk-signals/features";
import { readEvent } from "@device-risk-signals/features/readings";
import { type FeatureRunner, openRunner } from "@device-risk-signals/features/runner";
import { openSystem } from "../../packages/server/src/app/system.ts";
import { readConfig } from "../../packages/server/src/config/config.ts";
import { PostgresEventStore } from "../../packages/server/src/events/event-store.ts";
import { backfillNext } from "../../packages/server/src/features/backfill.ts";
import { startBackfill } from "../../packages/server/src/features/backfill-runs.ts";
import { findBundles } from "../../packages/server/src/features/decisions.ts";
import { LayerRunners } from "../../packages/server/src/features/layer-runners.ts";
import { createParserOf } from "../../packages/server/src/features/read-inputs.ts";
import { parseEvent } from "../../packages/server/src/features/parse-event.ts";
import { uuidv7 } from "../../packages/server/src/identifiers/uuidv7.ts";
import { readPolicyVersion } from "../../packages/server/src/policy/policy-table.ts";
import { inTransaction } from "../../packages/server/src/postgres/database.ts";
import { fullEvent } from "./full-event.ts";
import type { LoadResult } from "./load.ts";
import { load, migrate, openScene, print, printed, READY } from "./scene.ts";
import { cpuOf } from "./usage.ts";

const DRS_PATH = join(import.meta.dirname, "../../packages/server/bin/drs.js");
const STARTER = join(import.meta.dirname, "../../packages/features/src/starter");
const FEATURES = 25;
const CONNECTIONS = 16;
/** Number of events that the batched peer stores with one statement. */
const BATCH_EVENTS = 500;
/** Number of events for the first peer, which is slow because it needs a statement for each value. */
const FIRST_PEER_EVENTS = 100;
const WRITERS = 4;
const EVENTS_OF_WRITER = 100;

const { values: options } = parseArgs({
  options: {
    events: { type: "string", default: "20000" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "8" },
    erased: { type: "string", default: "10000" },
    only: { type: "string", default: "backfill,delay,erasure,ingestion,neighbour" },
  },
});
const [EVENTS, ROUNDS, SECONDS] = [Number(options.events), Number(options.rounds), Number(options.seconds)];

const ERASED = Number(options.erased);
const isWanted = (part: string): boolean => options.only.split(",").includes(part);

const rows: string[] = [];
const row = (what: string, figure: string, goal = ""): void => {
  rows.push(`| ${what} | ${figure} | ${goal} |`);
  print(rows.at(-1) ?? "");
};
const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

const scene = await openScene();
const owner = await scene.createDatabase("bench", "-c search_path=drs -c timezone=UTC");
const environment = {
  ...scene.environmentOf("bench"),
  DRS_ERASURE_JOURNAL: join(scene.folder, "journal"),
  // The timeout is long, because a shared machine may be slow.
  DRS_DEPENDENCY_TIMEOUT: "60s",
};
const env = { ...process.env, ...environment };

async function drs<Answer>(...args: readonly string[]): Promise<Answer> {
  const { stdout } = await promisify(execFile)(process.execPath, [DRS_PATH, ...args, "--json"], { env });
  return JSON.parse(stdout) as Answer;
}

await migrate(DRS_PATH, env);
const policy = join(scene.folder, "policy.yaml");
const texts = { title: "t", legal_basis: "l", owner: "o", raw_retention: "P90D", derived_retention: "P1Y" };
const purposes = ["default", "payments"].map((id) => ({ ...texts, id }));
await writeFile(policy, JSON.stringify({ purposes, actions: { payment: "payments" }, unmapped: "default" }));
await promisify(execFile)(process.execPath, [DRS_PATH, "purpose", "apply", policy, "--yes"], { env });
const { rows: codes } = await owner.query<{ code: number }>("select code from purpose where id = 'payments'");
const PURPOSE = codes[0]?.code ?? 0;

const config = readConfig(environment, scene.folder);
if (!config.ok) throw new Error(config.problems.join("\n"));
const ports = { clock: Date, asServer: false, environment: process.env, onError: (): void => {} };
const system = await openSystem(config.config, ports);

await owner.query(`create table public.plain_event (id bigint generated always as identity primary key, event_id uuid,
  platform text, payload jsonb); grant insert, select on public.plain_event to public`);

/** Stores full events of the last day as ingestion does, and also in the peers' table. */
async function fill(count: number, accountOf: (event: number) => string): Promise<void> {
  const { database, pool, partitions, pseudonymizer, accountKeys, sealer, audit } = system;
  const store = new PostgresEventStore({
    database,
    executor: pool,
    partitions,
    pseudonymizer,
    newLane: () => audit.lane(),
    canStore: () => true,
    onStale: () => accountKeys.refresh(),
    onConnectionLost: () => accountKeys.clear(),
    generation: () => accountKeys.generation,
    onError: () => {},
    onBatch: () => {},
  });
  const policyVersion = await readPolicyVersion(pool);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const receivedAt = Date.now() - 3_600_000 - n;
      const exact = Buffer.from(JSON.stringify(fullEvent(n, new Date(receivedAt))));
      const eventId = uuidv7(receivedAt);
      const attributes = {
        account: accountOf(n),
        purpose: PURPOSE,
        idempotencyKey: randomUUID(),
        schemaVersion: 1,
      };
      const action = { actionId: `action-${n}`, actionType: "payment", sessionId: "session" };
      const versions = {
        eventType: "device_intel_collection",
        sdkVersion: "1.2.3",
        platform: "android",
        appVersion: "7.1.0",
      };
      const event = { ...attributes, ...action, ...versions, eventId, receivedAt };
      const sealed = await sealer.seal(event, exact);
      const collectedAt = { epochMs: receivedAt, micros: 0 };
      const requestMac = sealer.requestMac(eventId, exact);
      const outcome = await store.append({ ...event, policyVersion, collectedAt, requestMac, sealed });
      if (outcome !== "stored") throw new Error("an event was not stored");
      await pool.query("insert into public.plain_event (event_id, platform, payload) values ($1, 'android', $2)", [
        eventId,
        exact.toString(),
      ]);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  await store.close();
}

interface PlainEvent {
  readonly id: string;
  readonly event_id: string;
  readonly payload: unknown;
}

const READ_NEXT_EVENTS = "select id, event_id, payload from public.plain_event where id > $1 order by id limit $2";

async function computed(runner: FeatureRunner, events: readonly PlainEvent[]): Promise<readonly (readonly Result[])[]> {
  const parsed = events.map(({ payload }) => parseEvent("android", Buffer.from(JSON.stringify(payload))));
  return (await runner.run(parsed.map((event) => readEvent(event ?? { platform: "android", probes: {} })))).events;
}

const valueOf = (result: Result): string | null => (result.state === "observed" ? JSON.stringify(result.value) : null);

const VALUE_TABLE = `create table public.feature_value (event_id uuid, feature text, state text, value jsonb,
  extracted_at timestamptz default now(), primary key (event_id, feature))`;

/** CPU time in microseconds of this process, the process of the programs and PostgreSQL. */
const cpu = (): number => cpuOf(process.pid) + cpuOf(scene.postmaster);

/** The first peer: it has an id cursor, and needs a statement for each value. @returns events per second. */
async function firstPeer(runner: FeatureRunner, names: readonly string[]): Promise<number> {
  await owner.query(`drop table if exists public.feature_value; ${VALUE_TABLE}`);
  const started = performance.now();
  let [cursor, events] = ["0", 0];
  while (events < FIRST_PEER_EVENTS) {
    const { rows: page } = await owner.query<PlainEvent>(READ_NEXT_EVENTS, [cursor, 100]);
    const results = await computed(runner, page);
    for (const [index, { event_id }] of page.entries()) {
      for (const [place, result] of (results[index] ?? []).entries()) {
        await owner.query(
          "insert into public.feature_value (event_id, feature, state, value) values ($1, $2, $3, $4)",
          [event_id, names[place], result.state, valueOf(result)],
        );
      }
    }
    cursor = page.at(-1)?.id ?? cursor;
    events += page.length;
  }
  return events / ((performance.now() - started) / 1_000);
}

/**
 * The second peer: it stores the values of 500 events with one statement. @returns events per second, and bytes per
 * event.
 */
async function secondPeer(runner: FeatureRunner, names: readonly string[]): Promise<readonly [number, number]> {
  await owner.query(`drop table if exists public.feature_value; ${VALUE_TABLE}`);
  const started = performance.now();
  for (let cursor = "0"; ;) {
    const { rows: page } = await owner.query<PlainEvent>(READ_NEXT_EVENTS, [cursor, BATCH_EVENTS]);
    if (page.length === 0) break;
    const values = (await computed(runner, page)).flatMap((results, index) =>
      results.map((result, place) => [page[index]?.event_id, names[place], result.state, valueOf(result)] as const),
    );
    await owner.query(
      `insert into public.feature_value (event_id, feature, state, value)
        select * from unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[])`,
      [0, 1, 2, 3].map((column) => values.map((value) => value[column])),
    );
    cursor = page.at(-1)?.id ?? cursor;
  }
  const seconds = (performance.now() - started) / 1_000;
  const { rows: size } = await owner.query<{ bytes: string }>(
    "select pg_total_relation_size('public.feature_value') as bytes",
  );
  return [EVENTS / seconds, Number(size[0]?.bytes) / EVENTS];
}

/**
 * Counts the committed events that an id cursor such as that of the peers never reads. An event with a lower id may be
 * committed later than an event with a higher id, when the cursor is already past the lower id.
 */
async function eventsLostByCursor(): Promise<number> {
  await owner.query(`create table public.committed_event (id bigint generated always as identity primary key);
    grant insert on public.committed_event to public`);
  const writer = async (): Promise<void> => {
    for (let event = 0; event < EVENTS_OF_WRITER; event++) {
      await inTransaction(system.pool, async (transaction) => {
        await transaction.query("insert into public.committed_event default values");
        await sleep(Math.random() * 10);
      });
    }
  };
  let isWriting = true;
  const writing = Promise.all(Array.from({ length: WRITERS }, writer)).finally(() => (isWriting = false));
  let [cursor, read] = ["0", 0];
  for (let isLast = false; !isLast;) {
    isLast = !isWriting;
    const { rows: page } = await owner.query<{ id: string }>(
      "select id from public.committed_event where id > $1 order by id",
      [cursor],
    );
    cursor = page.at(-1)?.id ?? cursor;
    read += page.length;
    await sleep(1);
  }
  await writing;
  return WRITERS * EVENTS_OF_WRITER - read;
}

async function beginBackfill(): Promise<void> {
  const purpose = { code: PURPOSE, id: "payments" };
  const order = { runId: randomUUID(), purpose, actor: "bench", reason: "measured by the bench" };
  await inTransaction(system.pool, (transaction) => startBackfill(transaction, order));
}

/** Runs the backfills. As in a worker, keys leave the memory after a second. */
async function runBackfills(runners: LayerRunners): Promise<void> {
  const forget = setInterval(() => {
    system.sealer.evictKeys(Date.now());
    system.featureSealer.forgetKeys();
  }, 1_000);
  const onError = (error: unknown): void => print(String(error));
  const ports = { ...system, runners, parserOf: createParserOf(onError), onError };
  while (await backfillNext(ports));
  clearInterval(forget);
}

/** @returns events per second. */
async function endpointEventsPerSecond(runners: LayerRunners): Promise<number> {
  await owner.query("truncate feature_row; truncate feature_tally; analyze event");
  system.sealer.evictKeys(Date.now());
  system.featureSealer.forgetKeys();
  await beginBackfill();
  const started = performance.now();
  await runBackfills(runners);
  const seconds = (performance.now() - started) / 1_000;
  const { rows: found } = await owner.query<{ rows: number }>("select count(*)::int as rows from feature_row");
  if (found[0]?.rows !== EVENTS) throw new Error(`${found[0]?.rows} rows of ${EVENTS} events`);
  return EVENTS / seconds;
}

const REASON = ["--reason", "measured by the bench"];
const PURPOSE_OPTIONS = ["--purpose", "payments", ...REASON];
const adopt = (names: readonly string[]): Promise<unknown> =>
  drs("feature", "adopt", ...names, ...PURPOSE_OPTIONS, "--accept-refusals", "--break-glass");
const retire = (names: readonly string[]): Promise<unknown> => drs("feature", "retire", ...names, ...PURPOSE_OPTIONS);

await fill(EVENTS, (event) => `account-${event % 1_000}`);
print(`filled ${EVENTS} events`);
await drs("feature", "propose", STARTER, ...REASON, "--break-glass");
const { rows: versions } = await owner.query<{ name: string }>(
  "select id || '@' || version as name from feature_version order by id limit $1",
  [FEATURES],
);
const names = versions.map(({ name }) => name);
await adopt(names);
const bundles: readonly Bundle[] = await findBundles(system.pool, names);

async function measureBackfill(): Promise<void> {
  const runner = await openRunner(bundles, { budgetMs: 50 });
  const runners = new LayerRunners({ budgetMs: 50 });
  const speeds: { ours: number; first: number; second: number; bytes: number; cpu: number; cpuOfSecond: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = await firstPeer(runner, names);
    const before = cpu();
    const [second, bytes] = await secondPeer(runner, names);
    const between = cpu();
    const own = await endpointEventsPerSecond(runners);
    const [cpuOfSecond, ownCpu] = [(between - before) / EVENTS, (cpu() - between) / EVENTS];
    speeds.push({ ours: own, first, second, bytes, cpu: ownCpu, cpuOfSecond });
    print(JSON.stringify(speeds.at(-1)));
  }
  await runner.close();
  await runners.close();
  const speed = (of: (one: (typeof speeds)[number]) => number): number => median(speeds.map(of));
  row(
    `events that the id cursor of the peers misses, of ${WRITERS * EVENTS_OF_WRITER}`,
    String(await eventsLostByCursor()),
  );
  row(
    `backfill of ${EVENTS} events, ${FEATURES} features, one worker, events/s`,
    speed((one) => one.ours).toFixed(0),
    "≥ 3,000",
  );
  row("÷ a statement for each value", speed((one) => one.ours / one.first).toFixed(1), "≥ 5");
  row("÷ a row for each value, batched", speed((one) => one.ours / one.second).toFixed(1), "≥ 2");
  row("CPU of an event, µs: all processes", speed((one) => one.cpu).toFixed(0));
  row("CPU of an event, µs, with a row for each value, batched", speed((one) => one.cpuOfSecond).toFixed(0));

  const { rows: sizes } = await owner.query<{ bytes: string }>(
    "select sum(pg_total_relation_size(inhrelid)) as bytes from pg_inherits where inhparent = 'feature_row'::regclass",
  );
  row("bytes of an event, indexes included", (Number(sizes[0]?.bytes) / EVENTS).toFixed(0), "≤ 650");
  row("bytes of an event with a row for each value", speed((one) => one.bytes).toFixed(0));
}

/** Erases accounts with and without features in turn. */
async function measureErasure(): Promise<void> {
  const runners = new LayerRunners({ budgetMs: 50 });
  const ratios: number[] = [];
  const eraseSeconds = async (account: string): Promise<number> => {
    const started = performance.now();
    await drs("erase", "run", "--account", account, ...REASON, "--yes", "--break-glass");
    return (performance.now() - started) / 1_000;
  };
  for (let round = 0; round < ROUNDS; round++) {
    const [bare, full] = [`bare-${round}`, `full-${round}`];
    await fill(2 * ERASED, (event) => (event % 2 === 0 ? bare : full));
    await owner.query("delete from extraction_due");
    await beginBackfill();
    await runBackfills(runners);
    await owner.query("delete from feature_row where account = $1", [bare]);
    await owner.query("vacuum analyze");
    const seconds = [await eraseSeconds(bare), await eraseSeconds(full)] as const;
    print(JSON.stringify({ erasureSeconds: seconds }));
    ratios.push(seconds[1] / seconds[0]);
  }
  await runners.close();
  row(`erasure of an account of ${ERASED} events, with features ÷ without`, median(ratios).toFixed(2), "≤ 1.5");
}

if (isWanted("backfill")) await measureBackfill();
if (isWanted("erasure")) await measureErasure();

const { token } = await drs<{ token: string }>("token", "issue", "--account", "bench", "--ttl", "24h");
await drs("action", "register", "--account", "bench", "--type", "payment", "--id", "act_1", "--ttl", "24h");

/** Runs a server while `work` uses it. */
async function serving<T>(features: boolean, work: (ingest: Ingest, pid: number) => Promise<T>): Promise<T> {
  const server = spawn(process.execPath, [DRS_PATH, "serve"], {
    env: { ...env, DRS_FEATURE_WORKER: String(features) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const url = await printed(server, READY);
  const ingest: Ingest = (rate, seconds) =>
    load({ url, token, actionId: "act_1", connections: CONNECTIONS, seconds, rate });
  const result = await work(ingest, server.pid ?? 0);
  server.kill("SIGTERM");
  await new Promise((resolve) => server.once("exit", resolve));
  return result;
}
type Ingest = (rate: number, seconds: number) => Promise<LoadResult>;

async function measureDelay(): Promise<void> {
  await owner.query("delete from extraction_due");
  const late = await serving(true, async (ingest) => {
    const { stored, seconds } = await ingest(0, SECONDS);
    while ((await owner.query("select from extraction_due limit 1")).rowCount)
      await new Promise((done) => setTimeout(done, 200));
    const from = new Date().toISOString();
    await ingest(stored / seconds / 2, SECONDS);
    while ((await owner.query("select from extraction_due limit 1")).rowCount)
      await new Promise((done) => setTimeout(done, 200));
    const { rows: percentiles } = await owner.query<{ ms: number[] }>(
      `select percentile_cont(array[0.5, 0.99]) within group (order by extract(epoch from extracted_at - received_at) * 1000) as ms
      from feature_row where received_at >= $1`,
      [from],
    );
    return percentiles[0]?.ms ?? [];
  });
  row("half load: received → values stored, p50, ms", (late[0] ?? 0).toFixed(0), "≤ 250");
  row("half load: received → values stored, p99, ms", (late[1] ?? 0).toFixed(0), "≤ 1,000");
}

/** Measures ingestion with and without layers. The worker is a separate process, which does not run here. */
const measureIngestion = (): Promise<void> =>
  serving(false, async (ingest, pid) => {
    const kinds = {
      none: [],
      one: [names],
      five: [0, 1, 2, 3, 4].map((group) => names.slice(group * 5, group * 5 + 5)),
    };
    const figures: Record<string, { rate: number; cpu: number }[]> = { none: [], one: [], five: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const [kind, groups] of Object.entries(kinds)) {
        for (const group of groups) await adopt(group);
        const before = cpuOf(pid);
        const { stored, seconds } = await ingest(0, SECONDS);
        figures[kind]?.push({ rate: stored / seconds, cpu: (cpuOf(pid) - before) / stored });
        for (const group of groups) await retire(group);
      }
    }
    const ratio = (kind: string, of: "rate" | "cpu"): string =>
      median((figures[kind] ?? []).map((one, round) => one[of] / (figures["none"]?.[round]?.[of] ?? 1))).toFixed(2);
    for (const kind of ["one", "five"]) {
      row(`ingestion with ${kind} layer(s) ÷ none, events/s`, ratio(kind, "rate"), "≥ 0.95");
      row(`ingestion with ${kind} layer(s) ÷ none, CPU`, ratio(kind, "cpu"), "≤ 1.05");
    }
  });

/** Measures ingestion at half load while a worker computes what is due, with and without a backfill. */
async function measureNeighbour(): Promise<void> {
  await adopt(names);
  const worker = spawn(process.execPath, [DRS_PATH, "feature", "work"], { env, stdio: ["ignore", "pipe", "pipe"] });
  await new Promise((resolve) => worker.stderr.once("data", resolve));
  await serving(false, async (ingest) => {
    const { stored, seconds } = await ingest(0, SECONDS);
    const rate = stored / seconds / 2;
    const running = "select from feature_run where state = 'running'";
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const without = await ingest(rate, SECONDS);
      await owner.query("truncate feature_row; truncate feature_tally");
      await beginBackfill();
      const withBackfill = await ingest(rate, SECONDS);
      if ((await owner.query(running)).rowCount === 0) print("the backfill ended early: use more --events");
      print(JSON.stringify({ p99Ms: [without.p99Ms, withBackfill.p99Ms] }));
      ratios.push(withBackfill.p99Ms / without.p99Ms);
      while ((await owner.query(running)).rowCount) await sleep(200);
    }
    row("half load: p99 of ingestion next to a backfill ÷ without", median(ratios).toFixed(2), "≤ 1.5");
  });
  worker.kill("SIGTERM");
  await new Promise((resolve) => worker.once("exit", resolve));
  await retire(names);
}

if (isWanted("delay")) await measureDelay();
await retire(names);
if (isWanted("ingestion")) await measureIngestion();
if (isWanted("neighbour")) await measureNeighbour();

print(
  `\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${EVENTS} events, medians of ${ROUNDS} rounds\n`,
);
print("| figure | ours | goal |\n| --- | --- | --- |");
for (const line of rows) print(line);
await system.close();
await owner.end();
await scene.close();
