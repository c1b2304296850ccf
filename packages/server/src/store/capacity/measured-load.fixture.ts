/** Stores events by a commit batch after the other, and measures what each adds to the database. */
import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { unseenEvent } from "../../../../../bench/src/unseen-event.ts";
import { connectAsOwner, type OwnerClient } from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import { formatLogKey, type LogKey, parseLogKey } from "../../audit/log/checkpoint.ts";
import { logKeyOf } from "../../audit/log/log.fixture.ts";
import { extendLog } from "../../audit/sequencer.ts";
import type { System } from "../../runtime/system.ts";
import { Compressor } from "../crypto/compression.ts";
import { commitBatch } from "../events/commit-batch.ts";
import { newEvent, TEST_KEY } from "../events/new-event.fixture.ts";
import { withOwner } from "../postgres/database.ts";

export interface Load {
  readonly events: number;
  /** Events of a commit batch. */
  readonly batch: number;
  /** Rows of the ledger before the load. */
  readonly ledgerRows: number;
  /** Share of the probes that an event has. */
  readonly probes: number;
}

/** Bytes of one event. */
export interface MeasuredLoad {
  readonly eventBytes: number;
  readonly payload: number;
  readonly row: number;
  readonly data: number;
  readonly eventIndexes: number;
  readonly actionIndex: number;
  readonly ledgerTable: number;
  readonly ledgerIndexes: number;
  readonly keyIndex: number;
  readonly auditTable: number;
  readonly auditIndexes: number;
  /** Of the load, right after a checkpoint. */
  readonly wal: number;
  /** Of a vacuum after the next checkpoint. */
  readonly vacuumWal: number;
  readonly checksums: boolean;
}

const ACCOUNTS = 5_000;
const SAMPLES = 500;
/** What a sealed payload has in addition to the compressed bytes. */
const SEAL_BYTES = 29;
const LOG_KEY = logKeyOf("log");

/** Mean bytes of events with a share of the probes, and sealed payloads of their sizes. */
export async function sealedSamples(probes: number): Promise<{ eventBytes: number; payloads: readonly Buffer[] }> {
  const compressor = new Compressor();
  const payloads: Buffer[] = [];
  let total = 0;
  for (let seed = 0; seed < SAMPLES; seed++) {
    const event = unseenEvent(seed, new Date());
    const kept = Object.entries(event.probes).filter((_, index) => (index * 7) % 10 < probes * 10);
    const text = Buffer.from(JSON.stringify({ ...event, probes: Object.fromEntries(kept) }));
    total += text.length;
    payloads.push(randomBytes((await compressor.compress(text)).bytes.length + SEAL_BYTES));
  }
  return { eventBytes: total / SAMPLES, payloads };
}

/** Stores a load in the new database of an environment. The owner is a superuser. */
export async function measureLoad(environment: Readonly<Record<string, string>>, load: Load): Promise<MeasuredLoad> {
  const { events, batch, ledgerRows } = load;
  const { eventBytes, payloads } = await sealedSamples(load.probes);
  const owner = await connectAsOwner(environment);
  await beAsInProduction(owner);
  const system = await openTestSystem(environment);
  for (const at of [Date.now() - events - batch * 4, Date.now()]) await system.partitions.ensure(1, at);
  await owner.query(
    "insert into account_identity (account) select 'account-' || to_char(i, 'FM00000000') from generate_series(0, $1::int) i",
    [ACCOUNTS],
  );
  await owner.query("insert into account_key (key_id, account, purpose) values ($1, 'account-00000000', 1)", [
    TEST_KEY,
  ]);
  await owner.query(
    `insert into idempotency_key (account, key, event_id, purpose, received_at, request_mac, key_id)
      select 'account-' || to_char(floor(random() * $2::int), 'FM00000000'), md5(i::text), gen_random_uuid(), 1,
          now() - i * interval '1 second', decode(md5(''), 'hex'), $3 from generate_series(1, $1::int) i`,
    [ledgerRows, ACCOUNTS, TEST_KEY],
  );
  await owner.query("vacuum idempotency_key");
  // The first events make PostgreSQL allocate the first pages of each table, which are no cost of later events.
  await store(system, payloads, batch * 4, batch);
  const before = await readSizes(owner);
  await store(system, payloads, events, batch);
  const after = await readSizes(owner);
  await owner.query("vacuum event, idempotency_key, audit_entry, audit_leaf");
  const vacuumed = await readSizes(owner);
  const { rows } = await owner.query<{ row: number; ledger: number; checksums: boolean }>(
    `select avg(pg_column_size(e.*) - octet_length(payload))::float8 as row,
      (select count(*)::int from idempotency_key) as ledger, current_setting('data_checksums') = 'on' as checksums
    from event e`,
  );
  const { row = Number.NaN, ledger = Number.NaN, checksums = false } = rows[0] ?? {};
  await owner.end();
  await system.close();
  const grown = (name: keyof Sizes, from = before, to = after): number =>
    (Number(to[name]) - Number(from[name])) / events;
  return {
    eventBytes,
    payload: payloads.reduce((sum, { length }) => sum + length, 0) / payloads.length,
    row,
    data: grown("data"),
    eventIndexes: grown("event_indexes"),
    actionIndex: grown("action_index"),
    // Of all rows: the pages of an index split in waves, so that its growth during the load varies.
    ledgerTable: Number(after.ledger_table) / ledger,
    ledgerIndexes: Number(after.ledger_indexes) / ledger,
    keyIndex: Number(after.key_index) / ledger,
    auditTable: grown("audit_table"),
    auditIndexes: grown("audit_indexes"),
    wal: grown("wal"),
    vacuumWal: grown("wal", after, vacuumed),
    checksums,
  };
}

/** Undoes the settings that make other tests fast, and lets no vacuum run by itself. */
async function beAsInProduction(owner: OwnerClient): Promise<void> {
  for (const setting of ["full_page_writes = on", "autovacuum = off"]) await owner.query(`alter system set ${setting}`);
  await owner.query("select pg_reload_conf()");
  while ((await owner.query<{ full_page_writes: string }>("show full_page_writes")).rows[0]?.full_page_writes !== "on")
    await sleep(20);
}

async function store(system: System, payloads: readonly Buffer[], events: number, batch: number): Promise<void> {
  const client = new pg.Client({ ...system.database, pipeline: true });
  await client.connect();
  const lane = system.audit.lane();
  for (let stored = 0; stored < events; stored += batch) {
    const made = Array.from({ length: batch }, (_, index) =>
      newEvent({
        // As at usual rates, few events are received in the same millisecond.
        receivedAt: Date.now() - events + stored + index,
        account: `account-${String(randomInt(ACCOUNTS)).padStart(8, "0")}`,
        actionId: `act_${randomUUID()}`,
        sessionId: randomUUID(),
        actionType: `type-${randomInt(20)}`,
        sdkVersion: `1.${randomInt(20)}.0`,
        idempotencyKey: randomBytes(16).toString("hex"),
        sealed: {
          payload: payloads[(stored + index) % payloads.length] as Buffer,
          keyId: TEST_KEY,
          keyEpoch: { erasure: 0, loss: 0 },
          generation: 0,
        },
      }),
    );
    const results = await commitBatch(client, made, system.pseudonymizer, lane);
    if (results.some((result) => result !== "stored")) throw new Error(`not stored: ${results.join(", ")}`);
  }
  await client.end();
  const { clock, audit } = system;
  const publicKey = parseLogKey(formatLogKey("drs-audit/test", LOG_KEY)) as LogKey;
  await withOwner(system.administration, (owner) =>
    extendLog(owner, { clock, audit, key: LOG_KEY, publicKey, sinks: [] }),
  );
}

type Sizes = Readonly<
  Record<
    | "data"
    | "event_indexes"
    | "action_index"
    | "ledger_table"
    | "ledger_indexes"
    | "key_index"
    | "audit_table"
    | "audit_indexes"
    | "wal",
    string
  >
>;

/** Reads sizes in bytes, and then writes a checkpoint. */
async function readSizes(owner: OwnerClient): Promise<Sizes> {
  const { rows } = await owner.query<Sizes>(
    `select sum(pg_table_size(inhrelid)) as data, sum(pg_indexes_size(inhrelid)) as event_indexes,
        sum((select pg_relation_size(indexrelid) from pg_index where indrelid = inhrelid
          and pg_get_indexdef(indexrelid) like '%(action_id)')) as action_index,
        pg_table_size('idempotency_key') as ledger_table, pg_indexes_size('idempotency_key') as ledger_indexes,
        pg_relation_size('idempotency_key_pkey') as key_index,
        pg_table_size('audit_entry') + pg_table_size('audit_leaf') as audit_table,
        pg_indexes_size('audit_entry') + pg_indexes_size('audit_leaf') as audit_indexes,
        pg_current_wal_insert_lsn() - '0/0' as wal
      from pg_inherits where inhparent = 'event'::regclass`,
  );
  await owner.query("checkpoint");
  return rows[0] as Sizes;
}
