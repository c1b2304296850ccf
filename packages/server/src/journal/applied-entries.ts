import type { Executor } from "../postgres/database.ts";
import { EMPTY_JOURNAL, type EntryReference } from "./journal.ts";

/** The latest entry that the database has applied. */
export async function findLatestApplied(executor: Executor): Promise<EntryReference> {
  const { rows } = await executor.query<EntryReference>(
    "select sequence, encode(entry_digest, 'hex') as digest from journal_entry order by sequence desc limit 1",
  );
  return rows[0] ?? EMPTY_JOURNAL;
}

/** An entry, where the database has applied it. */
export async function findApplied(executor: Executor, sequence: number): Promise<EntryReference | undefined> {
  const { rows } = await executor.query<EntryReference>(
    "select sequence, encode(entry_digest, 'hex') as digest from journal_entry where sequence = $1",
    [sequence],
  );
  return rows[0];
}

/** Records, in the transaction that applies an entry, that the database has applied it. */
export async function recordApplied(
  executor: Executor,
  { sequence, digest }: EntryReference,
  kind: string,
): Promise<void> {
  await executor.query("insert into journal_entry (sequence, kind, entry_digest) values ($1, $2, decode($3, 'hex'))", [
    sequence,
    kind,
    digest,
  ]);
}

/** That an operator stated that the journal has lost an entry for good. */
export interface AcceptedLossRecord {
  readonly sequence: number;
  /** RFC 3339; by default the time of the transaction. */
  readonly at?: string;
  readonly actor: string;
  readonly reason: string;
}

/** Does nothing where the database has not applied the entry. */
export async function recordAcceptedLoss(
  executor: Executor,
  { sequence, at, actor, reason }: AcceptedLossRecord,
): Promise<void> {
  await executor.query(
    `update journal_entry set loss_accepted_at = coalesce($2, now()), loss_accepted_by = $3, loss_reason = $4
      where sequence = $1`,
    [sequence, at ?? null, actor, reason],
  );
}

/** Entries whose loss an operator accepted, ascending. */
export async function acceptedLosses(executor: Executor): Promise<readonly number[]> {
  const { rows } = await executor.query<{ sequence: number }>(
    "select sequence from journal_entry where loss_accepted_at is not null order by sequence",
  );
  return rows.map(({ sequence }) => sequence);
}
