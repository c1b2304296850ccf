import { type DatabaseOptions, inTransaction, openPool, READ_ONLY } from "../postgres/database.ts";
import { sqlState } from "../postgres/errors.ts";
import { asUnusable } from "../postgres/errors.ts";
import { entryExists, type ErasureJournal, lossExists, type StoredText } from "./journal.ts";

const LOCK = 7_236_522;
const UNIQUE_VIOLATION = "23505";

const SCHEMA = `
  create schema if not exists drs_journal;
  create table if not exists drs_journal.entry (
    sequence bigint primary key check (sequence > 0),
    entry text not null,
    appended_at timestamptz not null default now()
  );
  create table if not exists drs_journal.accepted_loss (
    sequence bigint primary key check (sequence > 0),
    entry text not null,
    accepted_at timestamptz not null default now()
  );
  create or replace function drs_journal.refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception 'the erasure journal is append-only' using errcode = 'restrict_violation';
  end
  $$;
  create or replace trigger append_only before update or delete or truncate on drs_journal.entry
    for each statement execute function drs_journal.refuse_change();
  create or replace trigger append_only before update or delete or truncate on drs_journal.accepted_loss
    for each statement execute function drs_journal.refuse_change()`;

/** Entries that one query reads. */
const PAGE = 1_000;

/**
 * In a PostgreSQL that is neither the events' nor the keys', where several hosts share it.
 * @param isReadOnly nothing is written, and no table is made.
 */
export async function postgresJournal(database: DatabaseOptions, isReadOnly = false): Promise<ErasureJournal> {
  const options = isReadOnly ? READ_ONLY : "-c synchronous_commit=on";
  const pool = openPool({ ...database, options }, { max: 2, onError: () => {} });
  const unavailable = (error: unknown): never => {
    throw asUnusable(error, "erasure journal's database");
  };
  const prepare = async (): Promise<void> => {
    const text = "select from pg_tables where schemaname = 'drs_journal' and tablename = 'accepted_loss'";
    const { rows } = await pool.query(text);
    if (rows.length > 0) return;
    await inTransaction(pool, async (executor) => {
      await executor.query("select pg_advisory_xact_lock($1)", [LOCK]);
      await executor.query(SCHEMA);
    });
  };
  if (!isReadOnly) {
    await prepare().catch(async (error: unknown) => {
      await pool.end();
      unavailable(error);
    });
  }
  const select = async (text: string, values: readonly unknown[]): Promise<readonly StoredText[]> => {
    const { rows } = await pool.query<{ sequence: string; entry: string }>(text, [...values]).catch(unavailable);
    return rows.map(({ sequence, entry }) => ({ sequence: Number(sequence), text: entry }));
  };
  const insert = async (table: string, sequence: number, entry: string, exists: typeof entryExists): Promise<void> => {
    const text = `insert into drs_journal.${table} (sequence, entry) values ($1, $2)`;
    await pool.query(text, [sequence, entry]).catch((error: unknown) => {
      if (sqlState(error) === UNIQUE_VIOLATION) throw exists(sequence, error);
      unavailable(error);
    });
  };
  return {
    async *read(from) {
      const text = "select sequence, entry from drs_journal.entry where sequence >= $1 order by sequence limit $2";
      for (let next = from; ;) {
        const page = await select(text, [next, PAGE]);
        yield* page;
        if (page.length < PAGE) return;
        next = (page.at(-1)?.sequence ?? next) + 1;
      }
    },
    append: (sequence, entry) => insert("entry", sequence, entry, entryExists),
    async *readLosses() {
      yield* await select("select sequence, entry from drs_journal.accepted_loss order by sequence", []);
    },
    appendLoss: (sequence, entry) => insert("accepted_loss", sequence, entry, lossExists),
    description: "PostgreSQL (DRS_ERASURE_JOURNAL_DATABASE_URL)",
    async close() {
      await pool.end();
    },
  };
}
