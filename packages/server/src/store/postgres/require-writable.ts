import { Unavailable } from "../../base/ports.ts";
import type { Executor } from "./executor.ts";
import { queryRow, sql } from "./statement.ts";

/** A connection of a command that only reads has made itself read-only, which says nothing about the database. */
const IS_READ_ONLY = sql(
  `select pg_is_in_recovery() or setting = 'on' and source <> 'client' as read_only
    from pg_settings where name = 'default_transaction_read_only'`,
  [],
  { read_only: "bool" },
);

/** @throws dependency-unusable if the database is a standby or was made read-only. */
export async function requireWritable(executor: Executor): Promise<void> {
  if (!(await queryRow(executor, IS_READ_ONLY)).read_only) return;
  const problem = "is read-only";
  throw new Unavailable(`the database ${problem}`, { code: "dependency-unusable", detail: { problem } });
}
