/**
 * `npm run bench:scale`: commits batches into an empty database and, right after a checkpoint, into one with many
 * events; then reads each access pattern. `--events N` (default 5,000,000; the ledger gets twice as many rows),
 * `--seconds N` of a measurement (default 15), `--server DIR` (another checkout, measured in the same run, alternately).
 */
import { execFile } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import type pg from "pg";
import type * as Parties from "../../e2e/support/parties.ts";
import type * as CommitBatch from "../../packages/server/src/store/events/commit-batch.ts";
import type * as NewEvents from "../../packages/server/src/store/events/new-event.fixture.ts";
import type * as ListEvents from "../../packages/server/src/store/events/list-events.ts";
import type * as ReadEvents from "../../packages/server/src/store/events/read-events.ts";
import { migrate, openScene, print, type Scene } from "./scene.ts";

const { values: options } = parseArgs({
  options: {
    events: { type: "string", default: "5000000" },
    seconds: { type: "string", default: "15" },
    days: { type: "string", default: "90" },
    server: { type: "string" },
    postgres: { type: "string" },
    set: { type: "string", multiple: true, default: ["shared_buffers=2GB"] },
    keep: { type: "string" },
  },
});
const EVENTS = Number(options.events);
const SECONDS = Number(options.seconds);
const FILLED_AT_ONCE = 100_000;
const DAYS = Number(options.days);
const ACCOUNTS = Math.max(1, Math.floor(EVENTS / 50));
const ROUNDS = 3;
const BATCH = 64;
const CONNECTIONS = 2;
/** The bytes of a full event that is compressed and sealed (docs/performance.md). */
const PAYLOAD_BYTES = 1_786;
const READS = 200;
const HERE = join(import.meta.dirname, "../..");

type Modules = Awaited<ReturnType<typeof modulesOf>>;
type System = Awaited<ReturnType<Modules["openTestSystem"]>>;

/** The parts of a checkout that the bench calls. */
async function modulesOf(folder: string) {
  const store = join(folder, "packages/server/src/store/events");
  const { commitBatch } = (await import(join(store, "commit-batch.ts"))) as typeof CommitBatch;
  const { findAttributes, ...reads } = (await import(join(store, "read-events.ts"))) as typeof ReadEvents;
  // An older checkout has one file.
  const { listEvents } = (await import(join(store, "list-events.ts")).catch(() => reads)) as typeof ListEvents;
  const { newEvent, TEST_KEY } = (await import(join(store, "new-event.fixture.ts"))) as typeof NewEvents;
  const { openTestSystem } = (await import(join(folder, "e2e/support/parties.ts"))) as typeof Parties;
  // The checkout's own driver, whose classes its COPY extends.
  const driver = (await import(join(folder, "node_modules/pg/esm/index.mjs"))) as { readonly default: typeof pg };
  return { Client: driver.default.Client, commitBatch, listEvents, findAttributes, newEvent, TEST_KEY, openTestSystem };
}

const isFilled = async (owner: pg.Client): Promise<boolean> =>
  (await owner.query("select from event limit 1 offset $1", [EVENTS / 2])).rowCount === 1;

/** Makes a partition of each day until today, as ingestion has made them, in transactions that seem to be of that day. */
async function makePartitions(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ clock: string }>(
    "select pg_get_functiondef('transaction_time'::regproc) as clock",
  );
  await owner.query(
    `create or replace function transaction_time() returns timestamptz language sql stable
      as $$ select current_setting('bench.now')::timestamptz $$`,
  );
  for (let day = DAYS - 1; day >= 0; day--) {
    const at = new Date(Date.now() - day * 86_400_000).toISOString();
    await owner.query("select set_config('bench.now', $1, false)", [at]);
    await owner.query("select ensure_event_partition(1, $1)", [at]);
  }
  await owner.query(rows[0]?.clock ?? "");
}

interface Figures {
  readonly perSecond: number;
  readonly walBytes: number;
}

/** Drops the files of a stopped PostgreSQL from the system's page cache (GNU dd). */
async function dropFromPageCache(dataDir: string): Promise<void> {
  const drop = "dd of={} oflag=nocache conv=notrunc,fdatasync count=0 status=none";
  await promisify(execFile)("find", [dataDir, "-type", "f", "-size", "+64k", "-exec", ...drop.split(" "), ";"]);
}

/** The database of a checkout. */
class Subject {
  readonly name: string;
  readonly #modules: Modules;
  readonly #system: System;
  readonly #owner: pg.Client;

  private constructor(name: string, modules: Modules, system: System, owner: pg.Client) {
    this.name = name;
    this.#modules = modules;
    this.#system = system;
    this.#owner = owner;
  }

  static async open(scene: Scene, name: string, folder: string): Promise<Subject> {
    const modules = await modulesOf(folder);
    const owner = await scene.createDatabase(name, "-c search_path=drs");
    const environment = scene.environmentOf(name);
    await migrate(join(folder, "packages/server/bin/drs.js"), { ...process.env, ...environment });
    const system = await modules.openTestSystem(environment);
    await owner.query(
      "insert into account_identity (account) select 'account-' || i from generate_series(0, $1::int) i on conflict do nothing",
      [ACCOUNTS],
    );
    await owner.query("insert into account_key (key_id, account, purpose) values ($1, 'account-0', 1)", [
      modules.TEST_KEY,
    ]);
    await owner.query("update purpose set raw_retention = make_interval(days => $1) where code = 1", [DAYS]);
    if (!(await isFilled(owner))) await makePartitions(owner);
    return new Subject(name, modules, system, owner);
  }

  /** Commits batches of events of random accounts, after a checkpoint. */
  async commit(): Promise<Figures> {
    const owner = this.#owner;
    await owner.query("checkpoint");
    const before = await owner.query<{ at: string }>("select pg_current_wal_insert_lsn() as at");
    const started = performance.now();
    const counts = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => this.#commitOn(started + SECONDS * 1_000)),
    );
    const stored = counts.reduce((sum, count) => sum + count, 0);
    const seconds = (performance.now() - started) / 1_000;
    const { rows } = await owner.query<{ bytes: string }>(
      "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1) as bytes",
      [before.rows[0]?.at],
    );
    return { perSecond: stored / seconds, walBytes: Number(rows[0]?.bytes) / stored };
  }

  async #commitOn(end: number): Promise<number> {
    const { Client, newEvent, commitBatch, TEST_KEY } = this.#modules;
    const { database, pseudonymizer, audit } = this.#system;
    const client = new Client({ ...database, pipeline: true } as pg.ClientConfig);
    await client.connect();
    const lane = audit.lane();
    const payload = randomBytes(PAYLOAD_BYTES);
    const sealed = { payload, keyId: TEST_KEY, keyEpoch: { erasure: 0, loss: 0 }, generation: 0 };
    let stored = 0;
    while (performance.now() < end) {
      const events = Array.from({ length: BATCH }, () =>
        newEvent({
          account: `account-${randomInt(ACCOUNTS)}`,
          actionId: `action-${randomBytes(12).toString("hex")}`,
          idempotencyKey: `key-${randomBytes(16).toString("hex")}`,
          sealed,
        }),
      );
      const results = await commitBatch(client, events, pseudonymizer, lane);
      if (results.some((result) => result !== "stored")) throw new Error(`not stored: ${results.join(", ")}`);
      stored += BATCH;
    }
    await client.end();
    return stored;
  }

  /** Fills the partition of today by SQL, in the order of time. The ledger has as many rows again, of deleted events. */
  async fill(): Promise<void> {
    const owner = this.#owner;
    const { rows } = await owner.query<{ from: number }>(
      "select (extract(epoch from min(lower_bound)) * 1000)::float8 as from from event_partition",
    );
    const from = rows[0]?.from ?? Number.NaN;
    const stepMs = (Date.now() - from) / EVENTS;
    if (await isFilled(owner)) return;
    for (let first = 0; first < EVENTS; first += FILLED_AT_ONCE) {
      await owner.query(
        `with made as materialized (
            select n, 'account-' || floor(random() * $3::int) as account, to_timestamp(($1::float8 + n * $2::float8) / 1000) as at,
              (lpad(to_hex(($1::float8 + n * $2::float8)::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid as id
            from generate_series($4::int, $5::int) n),
          named as (insert into idempotency_key (account, key, event_id, purpose, received_at, request_mac, key_id)
            select account, 'key-' || md5(id::text) || part, id, 1, at - part * interval '60 days', decode(md5(''), 'hex'), $6
              from made, generate_series(0, 1) part)
          insert into event select account, 1, at, id, at, 1, 'key-' || md5(id::text) || 0, 'action-' || left(md5(id::text), 24),
              'type-' || n % 20, 'session-' || n, 'device_intel_collection', '1.' || n % 20 || '.0', 'android', '7.1.0',
              decode(repeat(md5(n::text), ${Math.ceil(PAYLOAD_BYTES / 16)}), 'hex'), $6 from made`,
        [from, stepMs, ACCOUNTS, first, Math.min(first + FILLED_AT_ONCE, EVENTS) - 1, this.#modules.TEST_KEY],
      );
      process.stderr.write(`\r${this.name}: ${Math.min(first + FILLED_AT_ONCE, EVENTS)} of ${EVENTS} events `);
    }
    process.stderr.write("\n");
    await owner.query("vacuum analyze");
  }

  /** Reads into PostgreSQL's memory what a server that has run for a while has there: the indexes that grow. */
  async warm(): Promise<void> {
    await this.#owner.query("create extension if not exists pg_prewarm");
    await this.#owner.query(
      `select sum(pg_prewarm(indexrelid)) from pg_index where indrelid = 'idempotency_key'::regclass
        or indrelid = (select format('%I', table_name)::regclass from event_partition order by lower_bound desc limit 1)`,
    );
  }

  /** @returns the median time in milliseconds of a page of 50 events, by access pattern, and of one event. */
  async read(): Promise<ReadonlyMap<string, number>> {
    const { listEvents, findAttributes } = this.#modules;
    const { pool } = this.#system;
    const { rows } = await this.#owner.query<{ account: string; action_id: string; event_id: string }>(
      "select account, action_id, event_id from event tablesample system (1) order by random() limit $1",
      [READS],
    );
    const patterns: Readonly<Record<string, (row: (typeof rows)[number], index: number) => Promise<unknown>>> = {
      account: ({ account }) => listEvents(pool, { account }, 50),
      "action id": ({ action_id: actionId }) => listEvents(pool, { actionId }, 50),
      "action type": (_, index) => listEvents(pool, { actionType: `type-${index % 20}` }, 50),
      "SDK version": (_, index) => listEvents(pool, { sdkVersion: `1.${index % 20}.0` }, 50),
      time: (_, index) => listEvents(pool, { to: Date.now() - index * 60_000 }, 50),
      "one event": ({ event_id: id }) => findAttributes(pool, id),
    };
    const medians = new Map<string, number>();
    for (const [name, read] of Object.entries(patterns)) {
      const times: number[] = [];
      for (const [index, row] of rows.entries()) {
        const started = performance.now();
        await read(row, index);
        times.push(performance.now() - started);
      }
      medians.set(name, median(times));
    }
    return medians;
  }

  /** @returns the bytes of the indexes of events and of the ledger, for each event. */
  async indexBytes(): Promise<number> {
    const { rows } = await this.#owner.query<{ events: string; ledger: string }>(
      `select (select sum(pg_indexes_size(inhrelid)) from pg_inherits where inhparent = 'event'::regclass) / (select count(*) from event) as events,
        pg_indexes_size('idempotency_key') / (select count(*) from idempotency_key) as ledger`,
    );
    return Number(rows[0]?.events) + Number(rows[0]?.ledger);
  }

  async close(): Promise<void> {
    // The key store has no secret of this key: with it, the system would not open again.
    await this.#owner.query("delete from account_key where key_id = $1", [this.#modules.TEST_KEY]);
    await this.#system.close();
    await this.#owner.end();
  }
}

const checkouts = { here: HERE, ...(options.server !== undefined && { other: resolve(options.server) }) };
const names = Object.keys(checkouts);
const measured = new Map<string, Map<string, number[]>>();
const record = (figure: string, name: string, value: number): void => {
  const row = measured.get(figure) ?? new Map<string, number[]>();
  measured.set(figure, row.set(name, [...(row.get(name) ?? []), value]));
};
const median = (values: readonly number[] = []): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const folder = options.keep ?? (await mkdtemp(join(tmpdir(), "drs-scale-")));

/** Runs PostgreSQL with the databases of each checkout: one without events, and one that is filled. */
async function withSubjects(use: (name: string, empty: Subject, filled: Subject) => Promise<void>): Promise<void> {
  const scene = await openScene(folder, { bin: options.postgres, settings: options.set });
  for (const [name, checkout] of Object.entries(checkouts)) {
    const empty = await Subject.open(scene, `${name}_empty`, checkout);
    const filled = await Subject.open(scene, `${name}_filled`, checkout);
    await use(name, empty, filled);
    await empty.close();
    await filled.close();
  }
  await scene.close();
}

async function commitRound(label: string, name: string, empty: Subject, filled: Subject): Promise<void> {
  const [after, before] = [await filled.commit(), await empty.commit()];
  record(`events a second, empty${label}`, name, before.perSecond);
  record(`events a second, filled${label}`, name, after.perSecond);
  record(`filled ÷ empty${label}`, name, after.perSecond / before.perSecond);
  record(`WAL bytes an event, empty${label}`, name, before.walBytes);
  record(`WAL bytes an event, filled${label}`, name, after.walBytes);
}

await withSubjects(async (name, empty, filled) => {
  await filled.fill();
  record("index bytes an event", name, await filled.indexBytes());
  // Makes each database allocate pages and compile its statements, which are no cost of later events.
  await empty.commit();
  await filled.commit();
});
for (let round = 0; round < ROUNDS; round++) {
  await withSubjects(async (name, empty, filled) => {
    await filled.warm();
    await commitRound("", name, empty, filled);
  });
}
await withSubjects(async (name, _, filled) => {
  await filled.warm();
  for (const [pattern, ms] of await filled.read()) record(`p50 by ${pattern}, ms`, name, ms);
});
await dropFromPageCache(join(folder, "data"));
await withSubjects((name, empty, filled) => commitRound(", cold", name, empty, filled));

print(
  `\n${EVENTS} events in ${DAYS} partitions, ${ACCOUNTS} accounts, ${options.set.join(", ")}; medians of ${ROUNDS} rounds\n`,
);
print(`| figure | ${names.join(" | ")} |\n| --- |${names.map(() => " --- |").join("")}`);
for (const [figure, row] of measured) {
  print(`| ${figure} | ${names.map((name) => median(row.get(name)).toFixed(2)).join(" | ")} |`);
}
if (options.keep === undefined) await rm(folder, { recursive: true, force: true });
process.exit(0);
