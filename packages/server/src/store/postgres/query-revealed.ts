import type { QueryResult } from "pg";
import { sqlState } from "./errors.ts";
import type { Executor } from "./executor.ts";
import { SQL_STATES } from "./sql-states.ts";
import { type ParametersOf, query, sql, type Statement } from "./statement.ts";

const FLUSH = sql("select pg_logical_emit_message(true, 'drs', '')::text as place", [], { place: "text" });

/**
 * Runs a statement that calls `committed_entry`. Before PostgreSQL 17 this function only waits until the log is flushed.
 * On an idle database it may wait in vain for records that came after the entry, such as the pruning of a catalog that
 * the call itself reads, after a restore. A commit flushes them.
 */
export async function queryRevealed<Values extends readonly unknown[], Row>(
  executor: Executor,
  statement: Statement<Values, Row>,
  ...values: ParametersOf<Values>
): Promise<QueryResult<Row & object>> {
  return query(executor, statement, ...values).catch(async (error: unknown) => {
    if (sqlState(error) !== SQL_STATES.queryCanceled) throw error;
    await query(executor, FLUSH);
    return query(executor, statement, ...values);
  });
}
