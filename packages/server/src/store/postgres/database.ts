import type pg from "pg";
import { Pool, TypeOverrides } from "../../base/driver.ts";
import type { Dependency } from "../../base/dependencies/dependencies.ts";
import type { OnError } from "../../base/ports.ts";
import { AbandonedBackends, BoundedClient, type BoundedClientOptions } from "./bounded-client.ts";
import type { Connection, Executor, OwnerConnection, OwnerTransaction, Transaction } from "./executor.ts";
import { isTransient } from "./errors.ts";
import { requireSettings, sessionOptions, type WantedSession } from "./session-settings.ts";

export type DatabaseOptions = BoundedClientOptions;

/** Options of connections of the owner. */
export interface OwnerDatabase extends DatabaseOptions {
  readonly [OWNER]: true;
}

declare const OWNER: unique symbol;

const INT8 = 20;
const TIMESTAMPTZ = 1184;

/** `bigint` as a number: every count stays below 2^53. Timestamps stay text, to the microsecond. */
const typeParsers = new TypeOverrides();
typeParsers.setTypeParser(INT8, Number);
typeParsers.setTypeParser(TIMESTAMPTZ, String);

/** The time that a stopped command (Ctrl-Z, a laptop that sleeps) may block others in the middle of a change. */
const MAX_IDLE_MS = 15_000;

/**
 * Adds the deadline of the dependency to options: every call on a connection that has these options has this deadline.
 * @param isAway whether an error of a call says that the dependency is away.
 */
export function withDeadlineOf(
  dependency: Dependency,
  database: DatabaseOptions,
  isAway: (error: unknown) => boolean = isTransient,
): DatabaseOptions {
  const bound = { dependency, abandoned: new AbandonedBackends(), isAway };
  // The driver's limit for connecting is longer than the deadline, whose error names the dependency.
  return { ...database, bound, connectionTimeoutMillis: dependency.timeoutMs + 500 };
}

/** Options for statements that may take long: they run for as long as their backend works. */
export function withoutStatementTimeout({ bound, ...database }: DatabaseOptions): DatabaseOptions {
  return { ...database, statement_timeout: 0, ...(bound && { bound: { ...bound, isPatient: true } }) };
}

/**
 * The share of the deadline after which the database ends a statement. So the server abandons only a backend that does
 * not react.
 */
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

/** Options of an owner's connection for orders and commands that change what is kept, and for how long. */
export function administrationOptions(owner: DatabaseOptions): OwnerDatabase {
  const options: DatabaseOptions = {
    ...withoutStatementTimeout(owner),
    types: typeParsers,
    application_name: "drs administration",
    options: sessionOptions(),
    idle_in_transaction_session_timeout: MAX_IDLE_MS,
  };
  return options as OwnerDatabase;
}

/**
 * Options of a serving connection: the privileges of a role, UTC, and `synchronous_commit=on`, so that a commit is
 * answered only when it is on disk.
 */
export function servingOptions(
  database: DatabaseOptions,
  session: WantedSession & Required<Pick<WantedSession, "role">>,
): DatabaseOptions {
  return {
    ...database,
    types: typeParsers,
    application_name: "drs",
    options: sessionOptions(session),
    keepAlive: true,
  };
}

/** Options of a monitor's connection, which has the login's own role and observes the other connections. */
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
  const pool = new Pool({ ...database, Client, max, idleTimeoutMillis: 30_000 });
  // A pool that ends does not wait for its connections, so their later errors are ignored.
  pool.on("error", (error) => {
    if (!pool.ending) onError(error, "keep database connection");
  });
  return pool;
}

/** Runs `work` on a connection of its own. */
export async function withClient<T>(
  database: DatabaseOptions,
  work: (client: BoundedClient & Connection) => Promise<T>,
): Promise<T> {
  const client = new BoundedClient(database) as BoundedClient & Connection;
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Runs `work` on a connection of the owner. @throws database-unsupported, pooler-unsupported */
export const withOwner = <T>(owner: OwnerDatabase, work: (connection: OwnerConnection) => Promise<T>): Promise<T> =>
  withClient(owner, async (client) => {
    await requireSettings(client);
    return work(client as Connection as OwnerConnection);
  });

/**
 * Decides by the result of a transaction's work whether the transaction commits or rolls back. A transaction whose work
 * was only tried is rolled back.
 */
export type EndOf<T> = (result: T) => "commit" | "rollback";

const commits = (): "commit" => "commit";

/** Runs `work` in a transaction on a connection of the pool. */
export async function inTransaction<T>(pool: pg.Pool, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    return await runTransaction(client as pg.PoolClient & Transaction, work, commits, () => (broken = true));
  } finally {
    client.release(broken);
  }
}

/** Runs `work` in a transaction on an open connection. */
export function inTransactionOn<T>(
  connection: OwnerConnection,
  work: (transaction: OwnerTransaction) => Promise<T>,
  endOf?: EndOf<T>,
): Promise<T>;
export function inTransactionOn<T>(
  connection: Connection,
  work: (transaction: Transaction) => Promise<T>,
  endOf?: EndOf<T>,
): Promise<T>;
export function inTransactionOn<T>(
  connection: Connection,
  work: (transaction: OwnerTransaction) => Promise<T>,
  endOf: EndOf<T> = commits,
): Promise<T> {
  return runTransaction(connection as Executor as OwnerTransaction, work, endOf);
}

/** Runs `work` in a transaction of the owner, on a connection of its own. */
export const inOwnerTransaction = <T>(
  owner: OwnerDatabase,
  work: (transaction: OwnerTransaction) => Promise<T>,
  endOf?: EndOf<T>,
): Promise<T> => withOwner(owner, (connection) => inTransactionOn(connection, work, endOf));

/** @param onBroken called if the connection can't be used again. */
async function runTransaction<T, Kind extends Transaction>(
  transaction: Kind,
  work: (transaction: Kind) => Promise<T>,
  endOf: EndOf<T>,
  onBroken: () => void = () => {},
): Promise<T> {
  try {
    await transaction.query("begin");
    const result = await work(transaction);
    await transaction.query(endOf(result));
    return result;
  } catch (error) {
    await transaction.query("rollback").catch(onBroken);
    throw error;
  }
}

/** Runs reads on a connection of their own: all of them see the database as it is at the first read. */
export function inSnapshot<T>(database: DatabaseOptions, work: (snapshot: Transaction) => Promise<T>): Promise<T> {
  return withClient(database, (client) =>
    inTransactionOn(client, async (snapshot) => {
      await snapshot.query("set transaction isolation level repeatable read read only");
      return work(snapshot);
    }),
  );
}

/** Yields what `read` reads in one snapshot, which ends with the iteration. */
export const streamSnapshot = <T>(
  database: DatabaseOptions,
  read: (snapshot: Transaction) => AsyncIterable<T>,
): AsyncGenerator<T> => streamOn((work) => inSnapshot(database, work), read);

/** Yields what `read` yields on a connection of the owner, which ends with the iteration. */
export const streamOwner = <T>(
  owner: OwnerDatabase,
  read: (connection: OwnerConnection) => AsyncIterable<T>,
): AsyncGenerator<T> => streamOn((work) => withOwner(owner, work), read);

/** @param open runs `work`, and closes what it opened when `work` ends. */
async function* streamOn<Opened, T>(
  open: (work: (opened: Opened) => Promise<void>) => Promise<void>,
  read: (opened: Opened) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const opened = Promise.withResolvers<Opened>();
  const isRead = Promise.withResolvers<void>();
  const done = open((one) => {
    opened.resolve(one);
    return isRead.promise;
  });
  done.catch(opened.reject);
  try {
    yield* read(await opened.promise);
  } finally {
    isRead.resolve();
    await done;
  }
}
