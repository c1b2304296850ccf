import { setTimeout as sleep } from "node:timers/promises";
import { Unavailable } from "../../base/ports.ts";
import { sqlState } from "../postgres/errors.ts";
import type { Transaction } from "../postgres/executor.ts";
import { SQL_STATES } from "../postgres/sql-states.ts";
import { query, sql } from "../postgres/statement.ts";

/**
 * While this session waits for the lock, new commit batches wait, too. The session therefore gives up soon and tries
 * again.
 */
const LOCK_TIMEOUT = "200ms";
const RETRY_MS = 200;
const MAX_TRIES = 150;

const LOCK_INGESTION_EXCLUSIVE = sql("select lock_ingestion_exclusive()");

/**
 * Waits until no commit batch is running, and prevents new ones until the transaction ends.
 * @throws Unavailable if a batch runs for a minute.
 */
export async function excludeIngestion(executor: Transaction): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    await executor.query(`savepoint ingestion; set local lock_timeout = '${LOCK_TIMEOUT}'`);
    try {
      await query(executor, LOCK_INGESTION_EXCLUSIVE);
      await executor.query("set local lock_timeout = 0; release ingestion");
      return;
    } catch (error) {
      if (sqlState(error) !== SQL_STATES.lockNotAvailable) throw error;
      await executor.query("rollback to ingestion; release ingestion");
      await sleep(RETRY_MS);
    }
  }
  throw new Unavailable("a commit batch does not end: look for a server that hangs, then run this again");
}
