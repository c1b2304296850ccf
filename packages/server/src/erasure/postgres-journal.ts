import { Unavailable } from "../ports.ts";
import { inTransaction, openPool, sqlState } from "../store/database.ts";
import { type ErasureJournal, taken } from "./journal.ts";

const LOCK = 7_236_522;
const UNIQUE_VIOLATION = "23505";

const SCHEMA = `
  create schema if not exists drs_journal;
  create table if not exists drs_journal.entry (
    sequence bigint primary key check (sequence > 0),
    entry text not null,
    appended_at timestamptz not null default now()
  );
  create or replace function drs_journal.refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception 'the erasure journal is append-only' using errcode = 'restrict_violation';
  end
  $$;
  create or replace trigger append_only before update or delete or truncate on drs_journal.entry
    for each statement execute function drs_journal.refuse_change()`;

/** In a PostgreSQL that is neither the events' nor the keys', where several hosts share it. */
export async function postgresJournal(url: string): Promise<ErasureJournal> {
  const durable = { options: "-c synchronous_commit=on", connectionTimeoutMillis: 5_000 };
  const pool = openPool({ connectionString: url, ...durable }, { max: 2, onFault: () => {} });
  const unavailable = (fault: unknown): never => {
    throw new Unavailable("the erasure journal's database can't be reached", { cause: fault });
  };
  const { rows } = await pool
    .query("select from pg_tables where schemaname = 'drs_journal' and tablename = 'entry'")
    .catch(unavailable);
  if (rows.length === 0) {
    await inTransaction(pool, async (executor) => {
      await executor.query("select pg_advisory_xact_lock($1)", [LOCK]);
      await executor.query(SCHEMA);
    }).catch(unavailable);
  }
  return {
    async read(sequence) {
      const text = "select entry from drs_journal.entry where sequence = $1";
      const found = await pool.query<{ entry: string }>(text, [sequence]).catch(unavailable);
      return found.rows[0]?.entry;
    },
    async append(sequence, entry) {
      const text = "insert into drs_journal.entry (sequence, entry) values ($1, $2)";
      await pool.query(text, [sequence, entry]).catch((fault: unknown) => {
        if (sqlState(fault) === UNIQUE_VIOLATION) throw taken(sequence, fault);
        unavailable(fault);
      });
    },
    description: "PostgreSQL (DRS_ERASURE_JOURNAL_DATABASE_URL)",
    async close() {
      await pool.end();
    },
  };
}
