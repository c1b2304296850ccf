import type { Executor, Transaction } from "../../store/postgres/executor.ts";
import { EMPTY_JOURNAL, type EntryReference } from "./journal.ts";
import { query, sql } from "../../store/postgres/statement.ts";

const FIND_LATEST_APPLIED = sql(
  "select sequence, encode(entry_digest, 'hex') as digest from journal_entry order by sequence desc limit 1",
  [],
  { sequence: "int8", digest: "text" },
);

/** Finds the latest entry that the database has applied or recorded as lost. */
export async function findLatestApplied(executor: Executor): Promise<EntryReference> {
  const { rows } = await query(executor, FIND_LATEST_APPLIED);
  return rows[0] ?? EMPTY_JOURNAL;
}

const FIND_APPLIED = sql(
  "select sequence, encode(entry_digest, 'hex') as digest from journal_entry where sequence = $1",
  ["int8"],
  { sequence: "int8", digest: "text" },
);

/** Finds an entry that the database has applied or recorded as lost. */
export async function findApplied(executor: Executor, sequence: number): Promise<EntryReference | undefined> {
  const { rows } = await query(executor, FIND_APPLIED, [sequence]);
  return rows[0];
}

const RECORD_APPLIED = sql(
  `with found as (
      update journal_entry set kind = $2, entry_digest = decode($3, 'hex'), applied_at = transaction_time()
        where sequence = $1 and kind = 'loss' returning sequence)
    insert into journal_entry (sequence, kind, entry_digest)
      select $1, $2, decode($3, 'hex') where not exists (select 1 from found)`,
  ["int8", "text", "text"],
);

/**
 * Records an entry as applied or, with the kind `loss`, as lost. An applied entry is recorded in the transaction that
 * applies it. The entry is the next one, or one that the database had recorded as lost; the record of its accepted loss
 * remains.
 * @param kind the kind of the entry, or `loss`.
 */
export async function recordApplied(
  executor: Transaction,
  { sequence, digest }: EntryReference,
  kind: string,
): Promise<void> {
  await query(executor, RECORD_APPLIED, [sequence, kind, digest]);
}

/** An operator's statement that the journal has permanently lost an entry. */
export interface AcceptedLossRecord {
  readonly sequence: number;
  /**
   * The time at which the operator made the statement, in RFC 3339. A restored database that reads the statement later
   * records the same time.
   */
  readonly at: string;
  readonly actor: string;
  readonly reason: string;
}

const RECORD_ACCEPTED_LOSS = sql(
  `update journal_entry set loss_accepted_at = $2, loss_accepted_by = $3, loss_reason = $4
      where sequence = $1`,
  ["int8", "timestamptz", "text", "text"],
);

/** Does nothing if the database has neither applied the entry nor recorded it as lost. */
export async function recordAcceptedLoss(
  executor: Executor,
  { sequence, at, actor, reason }: AcceptedLossRecord,
): Promise<void> {
  await query(executor, RECORD_ACCEPTED_LOSS, [sequence, at, actor, reason]);
}

const ACCEPTED_LOSSES = sql(
  "select sequence from journal_entry where loss_accepted_at is not null order by sequence",
  [],
  { sequence: "int8" },
);

/** Sequences of the entries whose loss an operator accepted, ascending. */
export async function listAcceptedEntryLosses(executor: Executor): Promise<readonly number[]> {
  const { rows } = await query(executor, ACCEPTED_LOSSES);
  return rows.map(({ sequence }) => sequence);
}

const UNAPPLIED_LOSSES = sql("select sequence from journal_entry where kind = 'loss' order by sequence", [], {
  sequence: "int8",
});

/** Sequences of the entries that the database has never applied, because the journal had lost them. */
export async function listUnappliedLosses(executor: Executor): Promise<ReadonlySet<number>> {
  const { rows } = await query(executor, UNAPPLIED_LOSSES);
  return new Set(rows.map(({ sequence }) => sequence));
}
