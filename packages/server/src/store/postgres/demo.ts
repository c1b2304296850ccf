/** The mark of a demo, and the clock of its database while `drs demo` fills it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../../base/errors/operator-error.ts";
import type { Executor, OwnerTransaction } from "./executor.ts";
import { query, sql } from "./statement.ts";

/** What `drs status` and `drs doctor` say of a demo. */
export const DEMO_NOTE = "sample data of drs demo, of simulated phones; npm start -- --fresh deletes it";

const READ_DEMO = sql("select filled_at is not null as is_filled from demo", [], { is_filled: "bool" });
const BEGIN_DEMO = sql("insert into demo default values", []);
const END_DEMO = sql("update demo set filled_at = transaction_time()", []);

/** Whether the installation is a demo. */
export const isDemo = async (executor: Executor): Promise<boolean> =>
  (await query(executor, READ_DEMO)).rows.length > 0;

/** @throws demo-interrupted if a demo was not filled to its end. */
export async function requireFilledDemo(executor: Executor): Promise<void> {
  const [demo] = (await query(executor, READ_DEMO)).rows;
  if (!demo || demo.is_filled) return;
  throw new OperatorError(
    "demo-interrupted",
    "drs demo is under way, or was interrupted. If it does not run, start it over: drs demo --fresh. " +
      "To delete it: npm start -- --fresh",
  );
}

/** Marks the installation as a demo, which from now on only the caller can open. */
export async function beginDemo(owner: OwnerTransaction): Promise<void> {
  await query(owner, BEGIN_DEMO);
}

/**
 * Replaces the clock of this database by one that is behind. The schema has no such clock: its file is applied again at
 * the end of the demo.
 */
export async function setClockBack(owner: OwnerTransaction, milliseconds: number): Promise<void> {
  const seconds = (milliseconds / 1_000).toFixed(3);
  await owner.query(`create or replace function transaction_time() returns timestamptz
    language sql stable parallel safe return now() - interval '${seconds} seconds'`);
}

/** Gives the database the clock of the schema again, and opens the installation for other processes. */
export async function endDemo(owner: OwnerTransaction): Promise<void> {
  await owner.query(await readFile(join(import.meta.dirname, "functions/transaction_time.sql"), "utf8"));
  await query(owner, END_DEMO);
}
