import { Unavailable } from "../ports.ts";
import { type DatabaseOptions, type Executor, withoutStatementTimeout, withClient } from "./database.ts";
import { sqlState } from "./errors.ts";

/** Held while secrets are destroyed or replaced: one worker at a time, over all servers and commands. */
const LOCK = 7_236_518;

const LOCK_WITHIN = "60s";
const LOCK_NOT_AVAILABLE = "55P03";

/** Work may take long; a worker that is stopped in the middle of a transaction keeps others waiting for a minute. */
const working = (database: DatabaseOptions): DatabaseOptions => ({
  ...withoutStatementTimeout(database),
  idle_in_transaction_session_timeout: 60_000,
});

/**
 * Runs work on a connection of its own while no other worker is at it; waits for that.
 * @throws Unavailable where another is at it for more than a minute.
 */
export function withMaintenanceLock<T>(
  database: DatabaseOptions,
  work: (executor: Executor) => Promise<T>,
): Promise<T> {
  return withClient(working(database), async (client) => {
    await client.query(`set lock_timeout = '${LOCK_WITHIN}'`);
    // guard(drop): rotations wait for each other
    // fails: e2e/keys.test.ts › a rotation waits for another
    await client.query("select pg_advisory_lock($1)", [LOCK]).catch((cause: unknown) => {
      if (sqlState(cause) !== LOCK_NOT_AVAILABLE) throw cause;
      const advice = `see who holds advisory lock ${LOCK} in pg_locks: a server that hangs, a pass that takes long`;
      throw new Unavailable(`another worker destroys or replaces secrets, for more than a minute: ${advice}`, {
        cause,
      });
    });
    await client.query("reset lock_timeout");
    return work(client);
  });
}

/** The same, unless another worker is at it: then `undefined`. */
export function tryWithMaintenanceLock<T>(
  database: DatabaseOptions,
  work: (executor: Executor) => Promise<T>,
): Promise<T | undefined> {
  return withClient(working(database), async (client) => {
    const { rows } = await client.query<{ alone: boolean }>("select pg_try_advisory_lock($1) as alone", [LOCK]);
    // guard(true): one pass at a time
    // fails: e2e/retention.test.ts › is one at a time
    return rows[0]?.alone ? work(client) : undefined;
  });
}

/** Whether anybody waits for whoever is at it: then long work that can go on later ends here. */
export async function isMaintenanceLockAwaited(executor: Executor): Promise<boolean> {
  const text = `select from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and locktype = 'advisory' and classid = 0 and objid = ${LOCK} and not granted limit 1`;
  return (await executor.query(text)).rowCount !== 0;
}
