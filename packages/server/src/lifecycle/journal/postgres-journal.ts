import type { QueryResult } from "pg";
import { dayOf } from "../../audit/checkpoint-sink.ts";
import { type DatabaseOptions, inTransaction, openPool } from "../../store/postgres/database.ts";
import { asUnusable, sqlState } from "../../store/postgres/errors.ts";
import { narrowed, query, type RowOf, sql } from "../../store/postgres/statement.ts";
import { requireSettings, sessionOptions } from "../../store/postgres/session-settings.ts";
import { lockTransaction } from "../../store/postgres/advisory-locks.ts";
import { LOCKS } from "../../store/postgres/locks.ts";
import { requireWritable } from "../../store/postgres/require-writable.ts";
import { SQL_STATES } from "../../store/postgres/sql-states.ts";
import { createEntryExistsError, type ErasureJournal, createLossExistsError, type StoredText } from "./journal.ts";

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
  create table if not exists drs_journal.audit_checkpoint (
    day date primary key,
    note text not null
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

/** Maximum number of entries that one query reads. */
const PAGE_SIZE = 1_000;

const IS_PREPARED = sql("select 1 from pg_tables where schemaname = 'drs_journal' and tablename = 'audit_checkpoint'");
const LAST_CHECKPOINT = sql("select note from drs_journal.audit_checkpoint order by day desc limit 1", [], {
  note: "text",
});
const WRITE_CHECKPOINT = sql(
  `insert into drs_journal.audit_checkpoint (day, note) values ($1, $2)
    on conflict (day) do update set note = excluded.note`,
  ["date", "text"],
);
/** The connections of the journal do not parse numbers, so `sequence` is a text. */
const STORED_TEXT_TYPES = { sequence: narrowed<string>("int8"), entry: "text" } as const;
const LIST_ENTRIES = sql(
  "select sequence, entry from drs_journal.entry where sequence >= $1 order by sequence limit $2",
  ["int8", "int8"],
  STORED_TEXT_TYPES,
);
const LIST_LOSSES = sql(
  "select sequence, entry from drs_journal.accepted_loss order by sequence",
  [],
  STORED_TEXT_TYPES,
);
const INSERT_ENTRY = sql("insert into drs_journal.entry (sequence, entry) values ($1, $2)", ["int8", "text"]);
const INSERT_LOSS = sql("insert into drs_journal.accepted_loss (sequence, entry) values ($1, $2)", ["int8", "text"]);

/**
 * A journal in a PostgreSQL database, which several hosts can share. It must be separate from the database of the
 * events and from that of the key store.
 * @param isReadOnly if true, the journal writes nothing and creates no table.
 */
export async function postgresJournal(database: DatabaseOptions, isReadOnly = false): Promise<ErasureJournal> {
  const options = sessionOptions({ isReadOnly });
  const pool = openPool({ ...database, options }, { max: 2, onError: () => {} });
  const unavailable = (error: unknown): never => {
    throw asUnusable(error, "erasure journal's database", database);
  };
  const prepare = async (): Promise<void> => {
    await requireSettings(pool);
    if ((await query(pool, IS_PREPARED)).rowCount === 1) return;
    await inTransaction(pool, async (executor) => {
      await lockTransaction(executor, LOCKS.journalSchema);
      await executor.query(SCHEMA);
    });
  };
  if (!isReadOnly) {
    await prepare().catch(async (error: unknown) => {
      await pool.end();
      unavailable(error);
    });
  }
  const storedTexts = ({ rows }: QueryResult<RowOf<typeof STORED_TEXT_TYPES>>): readonly StoredText[] =>
    rows.map(({ sequence, entry }) => ({ sequence: Number(sequence), text: entry }));
  const insert = async (
    statement: typeof INSERT_ENTRY,
    sequence: number,
    entry: string,
    exists: typeof createEntryExistsError,
  ): Promise<void> => {
    await query(pool, statement, [sequence, entry]).catch((error: unknown) => {
      if (sqlState(error) === SQL_STATES.uniqueViolation) throw exists(sequence, error);
      unavailable(error);
    });
  };
  return {
    async *read(from) {
      for (let next = from; ;) {
        const page = storedTexts(await query(pool, LIST_ENTRIES, [next, PAGE_SIZE]).catch(unavailable));
        yield* page;
        if (page.length < PAGE_SIZE) return;
        next = (page.at(-1)?.sequence ?? next) + 1;
      }
    },
    append: (sequence, entry) => insert(INSERT_ENTRY, sequence, entry, createEntryExistsError),
    async *readLosses() {
      yield* storedTexts(await query(pool, LIST_LOSSES).catch(unavailable));
    },
    appendLoss: (sequence, entry) => insert(INSERT_LOSS, sequence, entry, createLossExistsError),
    readCheckpoint: async () => (await query(pool, LAST_CHECKPOINT).catch(unavailable)).rows[0]?.note,
    async writeCheckpoint(note, at) {
      await query(pool, WRITE_CHECKPOINT, [dayOf(at), note]).catch(unavailable);
    },
    requireWritable: () => requireWritable(pool).catch(unavailable),
    description: "PostgreSQL (DRS_ERASURE_JOURNAL_DATABASE_URL)",
    async close() {
      await pool.end();
    },
  };
}
