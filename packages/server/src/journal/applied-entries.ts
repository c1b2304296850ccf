import type { Executor } from "../postgres/database.ts";
import { EMPTY_JOURNAL, type JournalHead } from "./journal.ts";

/** The latest entry that the database has applied. */
export async function headOf(executor: Executor): Promise<JournalHead> {
  const { rows } = await executor.query<JournalHead>(
    "select sequence, encode(entry_digest, 'hex') as digest from journal_entry order by sequence desc limit 1",
  );
  return rows[0] ?? EMPTY_JOURNAL;
}

/** An entry, where the database has applied it. */
export async function appliedAt(executor: Executor, sequence: number): Promise<JournalHead | undefined> {
  const { rows } = await executor.query<JournalHead>(
    "select sequence, encode(entry_digest, 'hex') as digest from journal_entry where sequence = $1",
    [sequence],
  );
  return rows[0];
}

/** Records, in the transaction that applies an entry, that the database has applied it. */
export async function recordApplied(
  executor: Executor,
  { sequence, digest }: JournalHead,
  kind: string,
): Promise<void> {
  await executor.query("insert into journal_entry (sequence, kind, entry_digest) values ($1, $2, decode($3, 'hex'))", [
    sequence,
    kind,
    digest,
  ]);
}

/** Entries whose loss an operator accepted, ascending. */
export async function acceptedLosses(executor: Executor): Promise<readonly number[]> {
  const { rows } = await executor.query<{ sequence: number }>(
    "select sequence from journal_entry where loss_accepted_at is not null order by sequence",
  );
  return rows.map(({ sequence }) => sequence);
}

export async function installationId(executor: Executor): Promise<string> {
  const { rows } = await executor.query<{ id: string }>("select installation_id as id from installation");
  if (!rows[0]) throw new Error("the database has no installation");
  return rows[0].id;
}
