import { type DatabaseOptions, type Executor, withClient } from "./database.ts";

/** Held while secrets are destroyed or replaced: one worker at a time, over all servers and commands. */
const LOCK = 7_236_518;

const patient = (database: DatabaseOptions): DatabaseOptions => ({
  ...database,
  query_timeout: 0,
  statement_timeout: 0,
  idle_in_transaction_session_timeout: 0,
});

/** Runs work on a connection of its own while no other worker is at it; waits for that. */
export function alone<T>(database: DatabaseOptions, work: (executor: Executor) => Promise<T>): Promise<T> {
  return withClient(patient(database), async (client) => {
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    return work(client);
  });
}

/** The same, unless another worker is at it: then `undefined`. */
export function ifAlone<T>(
  database: DatabaseOptions,
  work: (executor: Executor) => Promise<T>,
): Promise<T | undefined> {
  return withClient(patient(database), async (client) => {
    const { rows } = await client.query<{ alone: boolean }>("select pg_try_advisory_lock($1) as alone", [LOCK]);
    return rows[0]?.alone ? work(client) : undefined;
  });
}
