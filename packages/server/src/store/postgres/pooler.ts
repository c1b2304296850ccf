import { OperatorError } from "../../base/errors/operator-error.ts";
import type { BoundedClient } from "./bounded-client.ts";
import { type DatabaseOptions, monitorOptions, withClient } from "./database.ts";
import { whereOf } from "./connect-error.ts";
import { sqlState } from "./errors.ts";
import { SQL_STATES } from "./sql-states.ts";
import { query, sql } from "./statement.ts";

const CHECK_ROUNDS = 3;

const READ_BACKEND_PID = sql("select pg_backend_pid() as pid", [], { pid: "int4" });

/**
 * Requires that each connection keeps its backend. Advisory locks, prepared statements and settings belong to a
 * session: a pooler that lends the backend of one connection to another breaks them without an error.
 * @throws pooler-unsupported
 */
export async function requireSessions(login: DatabaseOptions): Promise<void> {
  const bare = monitorOptions(login);
  await withClient(bare, async (first) => {
    const reported = (first as unknown as { readonly processID: number }).processID;
    // A pooler reports a process id of its own.
    if (first.pid === reported) return;
    await withClient(bare, async (second) => {
      for (let round = 0; round < CHECK_ROUNDS; round++) await requireApart(first, second, login);
    });
  }).catch((error: unknown) => {
    if (sqlState(error) !== SQL_STATES.protocolViolation) throw error;
    throw new OperatorError("pooler-unsupported", (error as Error).message, { cause: error });
  });
}

/**
 * Requires that a connection in a transaction has another backend than the other connection.
 * @throws pooler-unsupported
 */
async function requireApart(first: BoundedClient, second: BoundedClient, login: DatabaseOptions): Promise<void> {
  const before = await pidOf(first);
  await second.query("begin");
  const other = await pidOf(second);
  const after = await pidOf(first);
  await second.query("rollback");
  if (before === after && other !== before) return;
  throw new OperatorError(
    "pooler-unsupported",
    `the ${login.bound?.dependency.title ?? "database"} is behind a pooler in transaction or statement mode, which ` +
      "breaks locks and prepared statements: name the database itself, or set pool_mode = session (Poolers in " +
      `docs/operator/databases.md)${whereOf(login)}`,
  );
}

async function pidOf(client: BoundedClient): Promise<number | undefined> {
  return (await query(client, READ_BACKEND_PID)).rows[0]?.pid;
}
