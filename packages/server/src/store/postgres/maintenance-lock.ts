import { Unavailable } from "../../base/ports.ts";
import { type DatabaseOptions, withoutStatementTimeout, withClient } from "./database.ts";
import { sqlState } from "./errors.ts";
import type { Connection, Executor } from "./executor.ts";
import { lockSession, tryLockSession } from "./advisory-locks.ts";
import { LOCKS } from "./locks.ts";
import { SQL_STATES } from "./sql-states.ts";
import { query, sql } from "./statement.ts";

const LOCK_TIMEOUT = "60s";

/**
 * Options for work that may take long. A process that hangs inside a transaction keeps others waiting for at most a
 * minute.
 */
const forLongWork = (database: DatabaseOptions): DatabaseOptions => ({
  ...withoutStatementTimeout(database),
  idle_in_transaction_session_timeout: 60_000,
});

/**
 * Runs `work` on a connection of its own, as soon as no other process has the maintenance lock.
 * @throws Unavailable if another process keeps the lock for more than a minute.
 */
export function withMaintenanceLock<T>(
  database: DatabaseOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return withClient(forLongWork(database), async (client) => {
    await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
    // guard(drop): rotations wait for each other
    await lockSession(client, LOCKS.maintenance).catch((cause: unknown) => {
      if (sqlState(cause) !== SQL_STATES.lockNotAvailable) throw cause;
      const advice = `see who holds advisory lock ${LOCKS.maintenance} in pg_locks: a server that hangs, a pass that takes long`;
      throw new Unavailable(`another process has had the maintenance lock for more than a minute: ${advice}`, {
        cause,
      });
    });
    await client.query("reset lock_timeout");
    return work(client);
  });
}

/** Runs `work` under the maintenance lock, unless another process has the lock: then returns `undefined`. */
export function tryWithMaintenanceLock<T>(
  database: DatabaseOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T | undefined> {
  return withClient(forLongWork(database), async (client) => {
    const isLocked = await tryLockSession(client, LOCKS.maintenance);
    // guard(true): one retention pass at a time runs
    return isLocked ? work(client) : undefined;
  });
}

const LOCKS_OF_MAINTENANCE = `from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and locktype = 'advisory' and classid = 0 and objid = ${LOCKS.maintenance}`;
const IS_MAINTENANCE_LOCK_AWAITED = sql(`select 1 ${LOCKS_OF_MAINTENANCE} and not granted limit 1`);
const IS_MAINTENANCE_LOCK_TAKEN = sql(`select 1 ${LOCKS_OF_MAINTENANCE} and granted limit 1`);

/** Whether a session has the lock: a retention pass, an erasure or a rotation runs. */
export async function isMaintenanceLockTaken(executor: Executor): Promise<boolean> {
  return (await query(executor, IS_MAINTENANCE_LOCK_TAKEN)).rowCount !== 0;
}

/**
 * Whether another session waits for the lock. If so, the session that holds the lock ends long work that it can
 * continue later.
 */
export async function isMaintenanceLockAwaited(executor: Executor): Promise<boolean> {
  return (await query(executor, IS_MAINTENANCE_LOCK_AWAITED)).rowCount !== 0;
}
