/** The log of the audit in the database: leaves, checkpoints, and entries that are in no leaf. */
import type { Executor, Transaction } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";
import { differingColumns } from "./entries.ts";
import { decodeRecord } from "./log/record.ts";
import type { LogItem, StoredEntry } from "./log/verify.ts";

/** Number of rows that one query reads. */
const PAGE = 5_000;

export interface CheckpointRow {
  readonly size: number;
  readonly note: string;
  /** The roots of the perfect subtrees. */
  readonly roots: Buffer[];
  readonly upto: string;
}

const CHECKPOINT = { size: "int8", note: "text", roots: "bytea[]", upto: "text" } as const;

const LAST_CHECKPOINT = sql(
  "select size, note, roots, upto::text as upto from audit_checkpoint order by size desc limit 1",
  [],
  CHECKPOINT,
);

const FIND_CHECKPOINT = sql(
  "select size, note, roots, upto::text as upto from audit_checkpoint where size = $1",
  ["int8"],
  CHECKPOINT,
);

export async function lastCheckpoint(executor: Executor): Promise<CheckpointRow | undefined> {
  return (await query(executor, LAST_CHECKPOINT)).rows[0];
}

export async function findCheckpoint(executor: Executor, size: number): Promise<CheckpointRow | undefined> {
  return (await query(executor, FIND_CHECKPOINT, [size])).rows[0];
}

const INSERT_CHECKPOINT = sql(
  "insert into audit_checkpoint (size, at, note, roots, upto) values ($1, $2, $3, $4::bytea[], $5::text::xid8)",
  ["int8", "timestamptz", "text", "bytea[]", "text"],
);

export async function insertCheckpoint(
  transaction: Transaction,
  { size, note, roots, upto }: CheckpointRow,
  at: Date,
): Promise<void> {
  await query(transaction, INSERT_CHECKPOINT, [size, at.toISOString(), note, roots, upto]);
}

const FINISHED = sql("select pg_snapshot_xmin(s)::text as upto from pg_current_snapshot() s", [], { upto: "text" });

/** All transactions before the returned one are finished: what they wrote is visible. */
export async function finishedTransactions(transaction: Transaction): Promise<string> {
  return (await query(transaction, FINISHED)).rows[0]?.upto ?? "0";
}

const LIST_UNLOGGED = sql(
  `select e.entry_id, e.record, e.mac from audit_entry e
    where e.xid >= $1::text::xid8 and not exists (select from audit_leaf l where l.entry_id = e.entry_id)
    order by e.xid, e.lane, e.lane_number, e.entry_id limit ${PAGE}`,
  ["text"],
  { entry_id: "uuid", record: "bytea", mac: "bytea" },
);

export interface UnloggedEntry {
  readonly entry_id: string;
  readonly record: Buffer;
  readonly mac: Buffer;
}

/**
 * Entries in no leaf, in the order of their transactions. An entry of a lane is committed before the next one is
 * written, so that every state of the database has the lane without a gap.
 * @param from the first transaction. @returns a page.
 */
export async function listUnlogged(transaction: Transaction, from: string): Promise<readonly UnloggedEntry[]> {
  return (await query(transaction, LIST_UNLOGGED, [from])).rows;
}

const IS_AHEAD = sql("select $1::text::xid8 > pg_snapshot_xmax(pg_current_snapshot()) as is_ahead", ["text"], {
  is_ahead: "bool",
});

/** Whether a transaction number is of another cluster: a dump was restored since. */
export async function isOfAnotherCluster(transaction: Transaction, upto: string): Promise<boolean> {
  return (await query(transaction, IS_AHEAD, [upto])).rows[0]?.is_ahead ?? false;
}

const INSERT_LEAVES = sql(
  `insert into audit_leaf (leaf, entry_id, hash)
    select $1 + u.n - 1, u.entry_id, u.hash
    from unnest($2::uuid[], $3::bytea[]) with ordinality as u (entry_id, hash, n)`,
  ["int8", "uuid[]", "bytea[]"],
);

export async function insertLeaves(
  transaction: Transaction,
  first: number,
  entries: readonly UnloggedEntry[],
  hashes: readonly Buffer[],
): Promise<void> {
  await query(transaction, INSERT_LEAVES, [first, entries.map(({ entry_id }) => entry_id), [...hashes]]);
}

const LIST_HASHES = sql(
  `select leaf, hash from audit_leaf where leaf >= $1 and leaf < $2 order by leaf limit ${PAGE}`,
  ["int8", "int8"],
  { leaf: "int8", hash: "bytea" },
);

/** The hashes of leaves, in order; one that is missing is left out. */
export async function* listHashes(executor: Executor, from: number, end: number): AsyncGenerator<Buffer> {
  for (let next = from; next < end;) {
    const { rows } = await query(executor, LIST_HASHES, [next, end]);
    for (const { hash } of rows) yield hash;
    if (rows.length < PAGE) return;
    next = (rows.at(-1)?.leaf ?? end) + 1;
  }
}

const FIND_LEAF = sql("select leaf from audit_leaf where entry_id = $1", ["uuid"], { leaf: "int8" });

export async function findLeaf(executor: Executor, entryId: string): Promise<number | undefined> {
  return (await query(executor, FIND_LEAF, [entryId])).rows[0]?.leaf;
}

const COPIES = "to_jsonb(e) - 'record' - 'mac' - 'xid' - 'login'";

const LIST_LEAVES = sql(
  `select l.leaf, l.hash, e.record, e.mac, ${COPIES} as copies
    from audit_leaf l left join audit_entry e on e.entry_id = l.entry_id
    where l.leaf >= $1 order by l.leaf limit ${PAGE}`,
  ["int8"],
  { leaf: "int8", hash: "bytea", record: "bytea?", mac: "bytea?", copies: "jsonb?" },
);

const LIST_CHECKPOINTS = sql(
  `select size, note from audit_checkpoint where size > $1 and size <= $2 order by size`,
  ["int8", "int8"],
  { size: "int8", note: "text" },
);

const LIST_NEW = sql(
  `select e.entry_id, e.record, e.mac, ${COPIES} as copies from audit_entry e
    where not exists (select from audit_leaf l where l.entry_id = e.entry_id) and e.entry_id > $1
    order by e.entry_id limit ${PAGE}`,
  ["uuid"],
  { entry_id: "uuid", record: "bytea", mac: "bytea", copies: "jsonb?" },
);

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** The whole log, in its order. @param snapshot a transaction that sees one state. */
export async function* readLog(snapshot: Transaction): AsyncGenerator<LogItem> {
  yield* readLeaves(snapshot);
  for (let after = FIRST_ID; ;) {
    const { rows } = await query(snapshot, LIST_NEW, [after]);
    for (const { record, mac, copies } of rows) yield { kind: "new", entry: storedEntry(record, mac, copies) };
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.entry_id ?? after;
  }
}

async function* readLeaves(snapshot: Transaction): AsyncGenerator<LogItem> {
  for (let [next, checked] = [0, 0]; ;) {
    const { rows } = await query(snapshot, LIST_LEAVES, [next]);
    const isLast = rows.length < PAGE;
    const end = isLast ? Number.MAX_SAFE_INTEGER : (rows.at(-1)?.leaf ?? 0) + 1;
    const checkpoints = (await query(snapshot, LIST_CHECKPOINTS, [checked, end])).rows;
    for (const { leaf, hash, record, mac, copies } of rows) {
      const entry = record && mac ? { entry: storedEntry(record, mac, copies) } : {};
      yield { kind: "leaf", index: leaf, hash, ...entry };
      while (checkpoints[0] && checkpoints[0].size <= leaf + 1) {
        yield { kind: "checkpoint", note: checkpoints.shift()?.note ?? "" };
      }
    }
    for (const { note } of checkpoints) yield { kind: "checkpoint", note };
    if (isLast) return;
    [next, checked] = [end, end];
  }
}

function storedEntry(bytes: Buffer, mac: Buffer, copies: unknown): StoredEntry {
  const record = decodeRecord(bytes);
  const differing = record ? differingColumns(record, copies as Readonly<Record<string, unknown>>) : [];
  return { bytes, mac, ...(differing.length > 0 && { differing }) };
}
