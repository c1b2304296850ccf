import type { Executor } from "./executor.ts";
import { SCHEMA } from "./session-settings.ts";
import { query, sql } from "./statement.ts";

/** The identity of a database, and its position in the WAL. In one database, this position never decreases. */
export interface DatabaseIdentity {
  /** Cluster, timeline, database and storage of the table that lists what was applied of the erasure journal. */
  readonly name: string;
  /** Bytes of WAL that are on disk. */
  readonly flushed: bigint;
}

const IDENTIFY = sql(
  `
  select concat_ws('/', system_identifier, left(pg_walfile_name(wal.flushed), 8), d.oid, c.relfilenode) as name,
    (wal.flushed - '0/0'::pg_lsn)::text as flushed
  from pg_control_system(), pg_current_wal_flush_lsn() wal (flushed), pg_database d,
    pg_class c join pg_namespace n on n.oid = c.relnamespace
  where d.datname = current_database() and n.nspname = '${SCHEMA}' and c.relname = 'journal_entry'`,
  [],
  { name: "text", flushed: "text" },
);

/** Reads the identity of a primary. */
export async function identifyDatabase(executor: Executor): Promise<DatabaseIdentity> {
  const { rows } = await query(executor, IDENTIFY);
  const [row] = rows;
  return { name: row?.name ?? "", flushed: BigInt(row?.flushed ?? 0) };
}

/**
 * Whether a database has everything that it had before. A promoted standby has another timeline. A restored database
 * has another timeline, cluster or storage. A snapshot of the disk has less WAL.
 */
export function isSameOrLater(before: DatabaseIdentity, now: DatabaseIdentity): boolean {
  return now.name === before.name && now.flushed >= before.flushed;
}
