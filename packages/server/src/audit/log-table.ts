/** The audit log in the database: leaves, checkpoints, and entries that are in no leaf yet. */
import type { Executor, OwnerTransaction, Transaction } from "../store/postgres/executor.ts";
import { query, queryRow, sql } from "../store/postgres/statement.ts";
import { COPIES, differingColumns } from "./entries.ts";
import { FIRST_EPOCH } from "./log/epoch.ts";
import { decodeRecord } from "../store/audit-record/record.ts";
import type { LogItem, StoredEntry } from "./log/verify.ts";

/** Number of hashes that one query reads. */
const HASHES = 2_000;
/** Number of entries that one query reads, and the bytes of their records, unless the first alone has more. */
const ENTRIES = 100;
const RECORD_BYTES = 8 * 2 ** 20;

export interface CheckpointRow {
  readonly epoch: number;
  readonly size: number;
  readonly note: string;
  /** The roots of the perfect subtrees of the tree, largest first. */
  readonly roots: Buffer[];
  /** The id of a transaction: the log contains the entries of all transactions with smaller ids. */
  readonly upto: string;
}

const CHECKPOINT = { epoch: "int4", size: "int8", note: "text", roots: "bytea[]", upto: "text" } as const;

const LAST_CHECKPOINT = sql(
  "select epoch, size, note, roots, upto::text as upto from audit_checkpoint order by epoch desc, size desc limit 1",
  [],
  CHECKPOINT,
);

const FIND_CHECKPOINT = sql(
  `select epoch, size, note, roots, upto::text as upto from audit_checkpoint
    where epoch = $1 and size = $2`,
  ["int4", "int8"],
  CHECKPOINT,
);

export async function lastCheckpoint(executor: Executor): Promise<CheckpointRow | undefined> {
  return (await query(executor, LAST_CHECKPOINT)).rows[0];
}

const LAST_CHECKPOINT_OF_EPOCH = sql(
  `select epoch, size, note, roots, upto::text as upto from audit_checkpoint where epoch = $1 order by size desc limit 1`,
  ["int4"],
  CHECKPOINT,
);

export async function lastOfEpoch(executor: Executor, epoch: number): Promise<CheckpointRow | undefined> {
  return (await query(executor, LAST_CHECKPOINT_OF_EPOCH, [epoch])).rows[0];
}

export async function findCheckpoint(
  executor: Executor,
  epoch: number,
  size: number,
): Promise<CheckpointRow | undefined> {
  return (await query(executor, FIND_CHECKPOINT, [epoch, size])).rows[0];
}

const INSERT_CHECKPOINT = sql(
  "insert into audit_checkpoint (epoch, size, at, note, roots, upto) values ($1, $2, $3, $4, $5::bytea[], $6::text::xid8)",
  ["int4", "int8", "timestamptz", "text", "bytea[]", "text"],
);

export async function insertCheckpoint(
  owner: OwnerTransaction,
  { epoch, size, note, roots, upto }: CheckpointRow,
  at: Date,
): Promise<void> {
  await query(owner, INSERT_CHECKPOINT, [epoch, size, at.toISOString(), note, roots, upto]);
}

const FIND_FINISHED_TRANSACTIONS = sql("select pg_snapshot_xmin(s)::text as upto from pg_current_snapshot() s", [], {
  upto: "text",
});

/** Returns the id of a transaction. All transactions with smaller ids are finished, so their entries are visible. */
export async function finishedTransactions(transaction: Transaction): Promise<string> {
  return (await query(transaction, FIND_FINISHED_TRANSACTIONS)).rows[0]?.upto ?? "0";
}

const READ_ENTRY = sql("select record, mac from audit_entry where entry_id = $1", ["uuid"], {
  record: "bytea",
  mac: "bytea",
});

export async function readEntry(
  executor: Executor,
  entryId: string,
): Promise<{ readonly record: Buffer; readonly mac: Buffer }> {
  return queryRow(executor, READ_ENTRY, [entryId]);
}

const IS_TRANSACTION_AHEAD = sql(
  "select $1::text::xid8 > pg_snapshot_xmax(pg_current_snapshot()) as is_ahead",
  ["text"],
  {
    is_ahead: "bool",
  },
);

/** Whether a transaction id is of another cluster, because a dump was restored after the id was stored. */
export async function isOfAnotherCluster(transaction: Transaction, upto: string): Promise<boolean> {
  return (await query(transaction, IS_TRANSACTION_AHEAD, [upto])).rows[0]?.is_ahead ?? false;
}

const INSERT_LEAVES = sql(
  `insert into audit_leaf (epoch, leaf, entry_id, hash, verified)
    select $1, $2 + n - 1, entry_id, hash, verified
      from unnest($3::uuid[], $4::bytea[], $5::bool[]) with ordinality as l (entry_id, hash, verified, n)`,
  ["int4", "int8", "uuid[]", "bytea[]", "bool[]"],
);

export interface NewLeaf {
  readonly entryId: string;
  readonly hash: Buffer;
  /** Whether the entry has a valid MAC, and columns that copy its record. */
  readonly verified: boolean;
}

/** @param first the number of the first leaf; the others follow. */
export async function insertLeaves(
  owner: OwnerTransaction,
  { epoch, first }: { readonly epoch: number; readonly first: number },
  leaves: readonly NewLeaf[],
): Promise<void> {
  const values = [
    leaves.map(({ entryId }) => entryId),
    leaves.map(({ hash }) => hash),
    leaves.map(({ verified }) => verified),
  ] as const;
  await query(owner, INSERT_LEAVES, [epoch, first, ...values]);
}

const READ_UNLOGGED = sql(
  `with page as (
      select e.xid, e.lane, e.lane_number, e.entry_id, e.record, e.mac, ${COPIES} as copies from audit_entry e
        where e.xid >= $1::text::xid8 and not exists (select 1 from audit_leaf l where l.entry_id = e.entry_id)
        order by e.xid, e.lane, e.lane_number, e.entry_id limit ${ENTRIES}
    ), sized as (
      select *, row_number() over entries as n, sum(octet_length(record) + octet_length(copies)) over entries as bytes
        from page window entries as (order by xid, lane, lane_number, entry_id)
    )
    -- PostgreSQL computes what \`leafHash\` computes.
    select entry_id, record, mac, sha256('\\x00'::bytea || record || mac) as hash,
        copies,
        least(xid, pg_snapshot_xmin(pg_current_snapshot()))::text as next
      from sized where n = 1 or bytes <= ${RECORD_BYTES} order by n`,
  ["text"],
  { entry_id: "uuid", record: "bytea", mac: "bytea", hash: "bytea", copies: "text?", next: "text?" },
);

export interface UnloggedEntry {
  readonly entry_id: string;
  readonly record: Buffer;
  readonly mac: Buffer;
  /** The hash of the entry's leaf. */
  readonly hash: Buffer;
  /** The columns that copy the record, as `COPIES` gives them. */
  readonly copies: string | null;
  /**
   * The smallest transaction id of the next page: that of this entry, or that of an older transaction which was running
   * when the page was read, and whose entries must not be skipped.
   */
  readonly next: string | null;
}

/**
 * Reads a page of entries that have no leaf, in the sequence of their transactions. An entry of a lane is committed
 * before the next entry of the lane is written, so no state of the database has a gap in the lane.
 * @param from the smallest transaction id.
 */
export async function readUnlogged(transaction: Transaction, from: string): Promise<readonly UnloggedEntry[]> {
  return (await query(transaction, READ_UNLOGGED, [from])).rows;
}

const LIST_HASHES = sql(
  `select leaf, hash from audit_leaf where epoch = $1 and leaf >= $2 and leaf < $3
    order by leaf limit ${HASHES}`,
  ["int4", "int8", "int8"],
  { leaf: "int8", hash: "bytea" },
);

/** The hashes of leaves, in order. Missing leaves are left out. */
export async function* listHashes(
  executor: Executor,
  epoch: number,
  from: number,
  end: number,
): AsyncGenerator<Buffer> {
  for (let next = from; next < end;) {
    const { rows } = await query(executor, LIST_HASHES, [epoch, next, end]);
    for (const { hash } of rows) yield hash;
    if (rows.length < HASHES) return;
    next = (rows.at(-1)?.leaf ?? end) + 1;
  }
}

const FIND_LEAF = sql("select epoch, leaf from audit_leaf where entry_id = $1", ["uuid"], {
  epoch: "int4",
  leaf: "int8",
});

export async function findLeaf(
  executor: Executor,
  entryId: string,
): Promise<{ readonly epoch: number; readonly leaf: number } | undefined> {
  return (await query(executor, FIND_LEAF, [entryId])).rows[0];
}

const LIST_LEAVES = sql(
  `select e.leaf, e.hash, e.verified, e.leaf_entry as entry_id, e.record, e.mac, e.page_rows,
      case when e.record is not null then ${COPIES} end as copies
    from (select l.leaf, l.hash, l.verified, l.entry_id as leaf_entry, e.*, count(*) over () as page_rows,
        row_number() over leaves as n, sum(octet_length(e.record)) over leaves as bytes
      from (select leaf, hash, verified, entry_id from audit_leaf where epoch = $1 and leaf >= $2 order by leaf limit ${ENTRIES}) l
        left join audit_entry e on e.entry_id = l.entry_id
      window leaves as (order by l.leaf)) e
    where e.n = 1 or coalesce(e.bytes, 0) <= ${RECORD_BYTES} order by e.leaf`,
  ["int4", "int8"],
  {
    leaf: "int8",
    hash: "bytea",
    verified: "bool",
    entry_id: "uuid",
    record: "bytea?",
    mac: "bytea?",
    page_rows: "int8",
    copies: "text?",
  },
);

interface LeafRow {
  readonly leaf: number;
  /** Number of leaves from which the page was taken. */
  readonly page_rows: number;
  readonly hash: Buffer;
  readonly verified: boolean;
  readonly entry_id: string;
  readonly record: Buffer | null;
  readonly mac: Buffer | null;
  readonly copies: string | null;
}

const LIST_CHECKPOINTS = sql(
  `select size, note from audit_checkpoint where epoch = $1 and size > $2 and size <= $3 order by size`,
  ["int4", "int8", "int8"],
  { size: "int8", note: "text" },
);

// An id is no order: two requests of a lane may read the clock in one order and write their entries in the other.
const LIST_ENTRIES_WITHOUT_LEAF = sql(
  `select e.xid::text as xid, coalesce(e.lane_number, 0) as number, e.entry_id, e.record, e.mac, ${COPIES} as copies
    from (select e.*, row_number() over entries as n, sum(octet_length(e.record)) over entries as bytes
      from (select * from audit_entry e
        where not exists (select 1 from audit_leaf l where l.entry_id = e.entry_id)
          and (e.xid, coalesce(e.lane_number, 0), e.entry_id) > ($1::text::xid8, $2, $3)
        order by e.xid, coalesce(e.lane_number, 0), e.entry_id limit ${ENTRIES}) e
      window entries as (order by e.xid, coalesce(e.lane_number, 0), e.entry_id)) e
    where e.n = 1 or e.bytes <= ${RECORD_BYTES} order by e.xid, coalesce(e.lane_number, 0), e.entry_id`,
  ["text", "int8", "uuid"],
  { xid: "text", number: "int8", entry_id: "uuid", record: "bytea", mac: "bytea", copies: "text?" },
);

const LIST_EPOCHS = sql(
  `select generate_series(1, greatest((select max(epoch) from audit_leaf), (select max(epoch) from audit_checkpoint)))
    as epoch`,
  [],
  { epoch: "int4" },
);

const FIND_OLDEST_UNLOGGED = sql(
  `select e.entry_id, extract(epoch from e.written_at)::float8 * 1000 as written_at from audit_entry e
    where e.xid >= coalesce((select case when c.upto > pg_snapshot_xmax(pg_current_snapshot()) then '0' else c.upto end
        from audit_checkpoint c order by c.epoch desc, c.size desc limit 1), '0'::xid8)
      and not exists (select 1 from audit_leaf l where l.entry_id = e.entry_id)
    order by e.xid limit 1`,
  [],
  { entry_id: "uuid", written_at: "float8" },
);

export interface UnsignedEntry {
  readonly entry_id: string;
  /** When the entry was written, by the database's clock; milliseconds since the Unix epoch. */
  readonly written_at: number;
}

/** The oldest entry that no signed checkpoint covers. */
export async function findOldestUnsigned(executor: Executor): Promise<UnsignedEntry | undefined> {
  return (await query(executor, FIND_OLDEST_UNLOGGED)).rows[0];
}

const LOWEST_UUID = "00000000-0000-0000-0000-000000000000";

const FIND_CHECKPOINT_AT = sql(
  `select epoch, size, note, roots, upto::text as upto from audit_checkpoint
    where at <= $1 order by epoch desc, size desc limit 1`,
  ["timestamptz"],
  CHECKPOINT,
);

/** The latest checkpoint that was signed at or before this time, according to the database. */
export async function findCheckpointAt(executor: Executor, at: Date): Promise<CheckpointRow | undefined> {
  return (await query(executor, FIND_CHECKPOINT_AT, [at.toISOString()])).rows[0];
}

const FIND_PRUNED = sql(
  `select c.epoch, c.size, c.note, c.roots, c.upto::text as upto
    from (select * from audit_checkpoint order by epoch, size limit 1) c
    where not exists (select 1 from audit_leaf l where (l.epoch, l.leaf) < (c.epoch, c.size))`,
  [],
  CHECKPOINT,
);

/** The first checkpoint, if the database has no leaf before it; `undefined` otherwise. */
export async function findPruned(executor: Executor): Promise<CheckpointRow | undefined> {
  return (await query(executor, FIND_PRUNED)).rows[0];
}

/**
 * The log, in its order.
 * @param snapshot a transaction whose queries all see the same state. @param start the checkpoint after which the log
 * is read; without it, the whole log is read.
 */
export async function* readLog(snapshot: Transaction, start?: CheckpointRow): AsyncGenerator<LogItem> {
  const startCheckpoint = start ?? (await findPruned(snapshot));
  if (startCheckpoint) {
    const { epoch, size, roots, note } = startCheckpoint;
    yield { kind: "start", epoch, size, roots, note, pruned: !start };
  }
  for (const { epoch } of (await query(snapshot, LIST_EPOCHS)).rows) {
    if (!startCheckpoint || epoch >= startCheckpoint.epoch)
      yield* readLeaves(snapshot, epoch, epoch === startCheckpoint?.epoch ? startCheckpoint.size : 0);
  }
  yield* readNew(snapshot);
}

async function* readNew(snapshot: Transaction): AsyncGenerator<LogItem> {
  for (let after: readonly [string, number, string] = ["0", 0, LOWEST_UUID]; ;) {
    const { rows } = await query(snapshot, LIST_ENTRIES_WITHOUT_LEAF, after);
    for (const { record, mac, copies } of rows) yield { kind: "new", entry: storedEntry(record, mac, copies) };
    const last = rows.at(-1);
    if (!last) return;
    after = [last.xid, last.number, last.entry_id];
  }
}

async function* readLeaves(snapshot: Transaction, epoch: number, from: number): AsyncGenerator<LogItem> {
  const read = (next: number): Promise<readonly LeafRow[]> =>
    query(snapshot, LIST_LEAVES, [epoch, next]).then((result) => result.rows);
  let reading = read(from);
  for (let checked = from; ;) {
    const rows = await reading;
    const { leaf: last = 0, page_rows: found = 0 } = rows.at(-1) ?? {};
    const isLast = found < ENTRIES && rows.length === found;
    const end = isLast ? Number.MAX_SAFE_INTEGER : last + 1;
    const checkpoints = (await query(snapshot, LIST_CHECKPOINTS, [epoch, checked, end])).rows;
    // The query for the next page is started first, so that PostgreSQL runs it while the caller verifies this page.
    if (!isLast) reading = read(end);
    reading.catch(() => {});
    for (const { leaf, hash, verified, entry_id, record, mac, copies } of rows) {
      const entry = record && mac ? { entry: { ...storedEntry(record, mac, copies), rowId: entry_id } } : {};
      yield {
        kind: "leaf",
        ...(epoch > FIRST_EPOCH && { epoch }),
        index: leaf,
        hash,
        ...(!verified && { unverified: true }),
        ...entry,
      };
      while (checkpoints[0] && checkpoints[0].size <= leaf + 1) {
        yield { kind: "checkpoint", note: checkpoints.shift()?.note ?? "" };
      }
    }
    for (const { note } of checkpoints) yield { kind: "checkpoint", note };
    if (isLast) return;
    checked = end;
  }
}

function storedEntry(bytes: Buffer, mac: Buffer, copies: string | null): StoredEntry {
  const record = decodeRecord(bytes);
  const differing = record && copies !== null ? differingColumns(record, copies) : [];
  return { bytes, mac, ...(record && { record }), ...(differing.length > 0 && { differing }) };
}
