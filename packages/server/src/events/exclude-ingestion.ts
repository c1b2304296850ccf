import { setTimeout as sleep } from "node:timers/promises";
import { Unavailable } from "../ports.ts";
import type { Executor } from "../postgres/database.ts";
import { sqlState } from "../postgres/errors.ts";

/** Commit batches wait behind whoever waits for the lock: better give up soon and try again than hold everybody up. */
const LOCK_WITHIN = "200ms";
const LOCK_NOT_AVAILABLE = "55P03";
const RETRY_MS = 200;
const TRIES = 150;

/**
 * Waits until no commit batch is under way and lets none begin before the transaction of the executor ends.
 * @throws Unavailable where a batch stays under way for a minute.
 */
export async function excludeIngestion(executor: Executor): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    await executor.query(`savepoint epoch; set local lock_timeout = '${LOCK_WITHIN}'`);
    try {
      await executor.query("select exclude_ingestion()");
      await executor.query("set local lock_timeout = 0; release epoch");
      return;
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      await executor.query("rollback to epoch; release epoch");
      await sleep(RETRY_MS);
    }
  }
  throw new Unavailable("a commit batch does not end: look for a server that hangs, then run this again");
}
