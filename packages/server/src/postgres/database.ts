import pg from "pg";
import type { Dependency } from "../dependencies/dependencies.ts";
import type { OnError } from "../ports.ts";
import { AbandonedBackends, BoundedClient, type BoundedOptions } from "./bounded-client.ts";
import { isTransient } from "./errors.ts";

export type DatabaseOptions = BoundedOptions;

/** What a query runs on: a pool for single statements, a client inside a transaction. */
export interface Executor {
  query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<pg.QueryResult<Row>>;
}

/** Tables and functions live in a schema of their own, so that a shared database stays tidy. */
export const SCHEMA = "drs";

/** The role whose privileges every serving connection has, whatever its login may do. */
export const SERVING_ROLE = "drs_service";

const INT8 = 20;
const TIMESTAMPTZ = 1184;

/** `bigint` as a number: what we count stays below 2^53. Timestamps stay text, to the microsecond. */
const types = new pg.TypeOverrides();
types.setTypeParser(INT8, Number);
types.setTypeParser(TIMESTAMPTZ, String);

/** What is said here outweighs what was set for a database or a role. */
const SESSION = [
  `search_path=${SCHEMA}`,
  "timezone=UTC",
  "synchronous_commit=on",
  "intervalstyle=iso_8601",
  // guard(drop): sessions see what was committed before
  // fails: e2e/retention.test.ts › whatever a database says
  "default_transaction_isolation=read\\ committed",
]
  .map((setting) => `-c ${setting}`)
  .join(" ");

/** A start-up option of sessions that only read. */
export const READ_ONLY = "-c default_transaction_read_only=on";

/** A command that is stopped in the middle of a change (Ctrl-Z, a laptop that sleeps) keeps others waiting no longer. */
const LONGEST_IDLE_MS = 15_000;

/** Every call on a connection of these options has the deadline of the dependency. */
export function boundTo(dependency: Dependency, database: DatabaseOptions): DatabaseOptions {
  const bound = { dependency, abandoned: new AbandonedBackends(), isAway: isTransient };
  // Longer than the deadline, which names the dependency.
  return { ...database, bound, connectionTimeoutMillis: dependency.timeoutMs + 500 };
}

/** The same for statements that may take long: they go on for as long as their backend works. */
export function withoutStatementTimeout({ bound, ...database }: DatabaseOptions): DatabaseOptions {
  return { ...database, statement_timeout: 0, ...(bound && { bound: { ...bound, isPatient: true } }) };
}

/** The database gives up before the server does: only a backend that does not react is abandoned. */
const DATABASE_SHARE = 0.8;

/** Statements end in the database as well, a little before the deadline. */
export function withStatementTimeout(database: DatabaseOptions): DatabaseOptions {
  const { timeoutMs } = database.bound?.dependency ?? {};
  if (timeoutMs === undefined) return database;
  return {
    ...database,
    statement_timeout: Math.ceil(timeoutMs * DATABASE_SHARE),
    idle_in_transaction_session_timeout: 2 * timeoutMs,
  };
}

/** Options of a connection that changes what is kept, and for how long: as the owner, at a command's request. */
export function administrationOptions(owner: DatabaseOptions): DatabaseOptions {
  return {
    ...withoutStatementTimeout(owner),
    types,
    application_name: "drs administration",
    options: SESSION,
    idle_in_transaction_session_timeout: LONGEST_IDLE_MS,
  };
}

/**
 * Options of a serving connection: least privilege, UTC, and never an answer before the disk has it.
 * @param isReadOnly every transaction of it only reads.
 */
export function servingOptions(database: DatabaseOptions, isReadOnly = false): DatabaseOptions {
  return {
    ...database,
    types,
    application_name: "drs",
    options: `-c role=${SERVING_ROLE} ${SESSION}${isReadOnly ? ` ${READ_ONLY}` : ""}`,
    keepAlive: true,
  };
}

/** Options of a connection of the login itself, that observes the others. */
export function monitorOptions({ bound, ...database }: DatabaseOptions): DatabaseOptions {
  const { options: _, ...login } = database;
  return { ...login, application_name: "drs monitor", ...(bound && { bound: { ...bound, isProbe: true } }) };
}

export interface PoolSettings {
  readonly max: number;
  /** Called when an idle connection breaks. */
  readonly onError: OnError;
}

export function openPool(database: DatabaseOptions, { max, onError }: PoolSettings): pg.Pool {
  const Client = BoundedClient as unknown as new () => pg.ClientBase;
  const pool = new pg.Pool({ ...database, Client, max, idleTimeoutMillis: 30_000 });
  // A pool that ends does not wait for its connections: whatever still happens to them is no error.
  pool.on("error", (error) => {
    if (!pool.ending) onError(error, "keep database connection");
  });
  return pool;
}

/** Runs `work` on a connection of its own. */
export async function withClient<T>(
  database: DatabaseOptions,
  work: (client: BoundedClient) => Promise<T>,
): Promise<T> {
  const client = new BoundedClient(database);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Runs `work` in a transaction of its own, which is taken back where it is only tried. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (executor: Executor) => Promise<T>,
  end: "commit" | "rollback" = "commit",
): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query(end);
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The same on a connection that is at hand. */
export async function inOneTransaction<T>(executor: Executor, work: () => Promise<T>): Promise<T> {
  await executor.query("begin");
  try {
    const result = await work();
    await executor.query("commit");
    return result;
  } catch (error) {
    await executor.query("rollback").catch(() => {});
    throw error;
  }
}

/** Runs reads on a connection of their own: all of them see the database as it is at the first one. */
export function inSnapshot<T>(database: DatabaseOptions, work: (executor: Executor) => Promise<T>): Promise<T> {
  return withClient(database, (client) =>
    inOneTransaction(client, async () => {
      await client.query("set transaction isolation level repeatable read read only");
      return work(client);
    }),
  );
}
