/** Translates errors of the driver by SQLSTATE: their messages may quote a value of a row. */
import { DatabaseError } from "../../base/driver.ts";
import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import { Unavailable } from "../../base/ports.ts";
import { ConnectError, type SetDatabase, whereOf } from "./connect-error.ts";
import { isAwayState, isTransientState, SQL_STATES, type SqlStateName } from "./sql-states.ts";

/** The reasons of errors that an operator must repair, as parts of messages. */
const REASONS: Partial<Record<SqlStateName, string>> = {
  readOnlySqlTransaction: "it is a read-only standby",
  invalidAuthorizationSpecification: "it refuses the login",
  invalidPassword: "it refuses the login",
  invalidCatalogName: "the database does not exist",
  invalidSchemaName: "a schema is missing",
  insufficientPrivilege: "its login lacks a privilege",
  undefinedColumn: "a column is missing",
  undefinedFunction: "a function is missing",
  undefinedTable: "a table is missing",
  diskFull: "its disk is full",
  tooManyConnections: "it has too many connections",
};
const REASON_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(REASONS).map(([name, reason]) => [SQL_STATES[name as SqlStateName], reason]),
);

/**
 * Messages of errors of `pg` and `pg-pool` that say that there is no connection, or no answer on it. These errors have
 * no code, so only their texts distinguish them from other errors. A test looks for each text in the installed
 * packages.
 */
export const CONNECTION_ERROR_MESSAGES: ReadonlySet<string> = new Set([
  "Connection terminated",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "timeout expired",
  "timeout exceeded when trying to connect",
  "Query read timeout",
  "Client has encountered a connection error and is not queryable",
  "Client was closed and is not queryable",
  "Cannot use a pool after calling end on the pool",
  "The server does not support SSL connections",
  "There was an error establishing an SSL connection",
]);

/** SQLSTATE of an error, if PostgreSQL gave one. */
export function sqlState(error: unknown): string | undefined {
  const thrown = driverError(error);
  return thrown instanceof DatabaseError ? thrown.code : undefined;
}

const driverError = (error: unknown): unknown => (error instanceof ConnectError ? error.cause : error);

/** The constraint that a statement violated, if it has a name. */
export function constraintOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.constraint : undefined;
}

/** Whether waiting may help: there is no connection to the database, or the database can't work now. */
export function isTransient(thrown: unknown): boolean {
  const error = driverError(thrown);
  const state = sqlState(error);
  if (state !== undefined) return isTransientState(state);
  if (error instanceof OperatorError) return hasCode(error, "dependency-silent");
  if (!(error instanceof Error) || error instanceof TypeError) return false;
  return typeof (error as NodeJS.ErrnoException).code === "string" || CONNECTION_ERROR_MESSAGES.has(error.message);
}

/** Turns a transient error into `Unavailable`; leaves others as they are. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof Unavailable) return error;
  return isTransient(error) ? new Unavailable("the database can't be reached or is full", { cause: error }) : error;
}

/**
 * Makes an error whose message a caller may read: it names the reason by SQLSTATE, and quotes nothing of the database.
 * @param name the name of the database, for people.
 * @param database options of a connection to it, for its place and its setting.
 */
export function asUnusable(error: unknown, name: string, database: SetDatabase = {}): OperatorError {
  if (error instanceof OperatorError) return error;
  const where = whereOf(database);
  const state = sqlState(error);
  if (state === undefined || isAwayState(state))
    return new Unavailable(`the ${name} can't be reached${where}`, { cause: error });
  const problem = `can't be used: ${REASON_OF.get(state) ?? "it refuses a statement"} (SQLSTATE ${state})${where}`;
  return new Unavailable(`the ${name} ${problem}`, { code: "dependency-unusable", detail: { problem }, cause: error });
}

/**
 * Translates an error of the driver that no other code has translated, for a command or the log; returns `undefined`
 * for any other error.
 */
export function translateDriverError(error: unknown): OperatorError | undefined {
  const state = sqlState(error);
  const cause = error;
  if (state === SQL_STATES.datetimeFieldOverflow) {
    return new OperatorError("wrong-usage", "the database can't hold a time that was given", { cause });
  }
  if (state !== undefined) {
    const problem = state === SQL_STATES.diskFull ? "has no space left on device" : "refused";
    const message = `the database ${problem} (SQLSTATE ${state})`;
    return isTransient(error)
      ? new Unavailable(message, { cause })
      : new OperatorError("database-refused", message, { cause });
  }
  if (!(error instanceof Error) || error instanceof OperatorError) return undefined;
  if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") {
    return new Unavailable("the database can't be reached: connection refused", { cause });
  }
  return CONNECTION_ERROR_MESSAGES.has(error.message) ? new Unavailable(error.message, { cause }) : undefined;
}
