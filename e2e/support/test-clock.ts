/**
 * The clock of a test database and of all servers and commands on it: the time of the machine plus the time that the
 * test has added. SQL reads the added time from a table, which only the tests' template and its clones have. Processes
 * read the added time from a file.
 */
import { readFileSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { Clock } from "../../packages/server/src/base/ports.ts";

type Environment = Readonly<Record<string, string>>;

/** The environment variable with the path of the file. Without it, a process uses the clock of the machine. */
export const CLOCK_FILE = "TEST_CLOCK_FILE";

/**
 * SQL that replaces the clock function of the template's schema. The table is in a separate schema, which no migration
 * touches.
 */
export const SQL_CLOCK = `
  create schema test_clock;
  create table test_clock.added (milliseconds float8 not null);
  insert into test_clock.added values (0);
  grant usage on schema test_clock to public;
  grant select on test_clock.added to public;
  create or replace function drs.transaction_time() returns timestamptz
  language plpgsql stable parallel safe as $$
  begin
    return now() + (select make_interval(secs => milliseconds / 1000) from test_clock.added);
  end
  $$`;

/** Makes the clock of a new test database. @returns the environment variable that names the clock */
export async function makeClock(folder: string, database: string): Promise<Environment> {
  const path = join(folder, `clock-${database}`);
  await writeFile(path, encoded(0));
  return { [CLOCK_FILE]: path };
}

/** Options of Node that shift the clock of a process with this environment. */
export const clockOptions = (environment: Environment): readonly string[] =>
  environment[CLOCK_FILE] === undefined ? [] : ["--import", join(import.meta.dirname, "shift-date.js")];

/** The clock for code that runs in the process of the test. */
export function clockOf(environment: Environment): Clock {
  const path = environment[CLOCK_FILE];
  return path === undefined ? Date : { now: () => Date.now() + addedIn(path) };
}

/** Advances the clock of the database and of all processes with its environment. Timers are not affected. */
export async function advanceClock(environment: Environment, milliseconds: number): Promise<void> {
  const path = environment[CLOCK_FILE];
  if (path === undefined) throw new Error("only a clone of the template has a clock that moves");
  const added = addedIn(path) + milliseconds;
  const client = new pg.Client({ connectionString: environment["DRS_DATABASE_URL"] });
  await client.connect();
  await client.query("update test_clock.added set milliseconds = $1", [added]);
  await client.end();
  // One write overwrites the file in place, so a process that reads it at this moment gets the whole old or the whole
  // new time.
  const file = await open(path, "r+");
  await file.write(encoded(added), 0, 8, 0);
  await file.close();
}

const addedIn = (path: string): number => readFileSync(path).readDoubleLE();

function encoded(milliseconds: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(milliseconds);
  return bytes;
}
