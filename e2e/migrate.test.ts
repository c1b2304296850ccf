/**
 * Tests of what changes the schema: `drs migrate`, or a person who runs the SQL that `drs migrate --sql` prints. A
 * server with `--no-migrate` and other commands change nothing.
 */
import { readdir } from "node:fs/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { runWithBreakGlass, objects } from "./support/command.ts";
import { connectAsOwner, startEmptyDatabase, type TestDatabase } from "./support/database.ts";
import { type Home, makeEmptyHome } from "./support/embedded.ts";
import { runDrs } from "./support/server.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await startEmptyDatabase();
});

afterAll(() => database?.close());

test("--check names what is missing and exits with code 4; after drs migrate nothing is missing, and a second run changes nothing", async () => {
  const environment = await database.environment();
  const before = await runWithBreakGlass(environment, "migrate", "--check", "--json");
  expect(before.code).toBe(4);
  expect(before.stderr).toMatch(/lacks 0001_baseline.sql, .*: run drs migrate/);
  const [missing] = objects<{ missing: string[] }>(before.stdout);
  expect(missing?.missing).toEqual(expect.arrayContaining(["0001_baseline.sql", "views.sql", "functions/is_held.sql"]));

  const [applied] = objects<{ applied: string[] }>((await runWithBreakGlass(environment, "migrate", "--json")).stdout);
  expect(applied?.applied).toEqual(missing?.missing);
  const upToDate = { code: 0, stdout: "The schema is up to date.\n", stderr: "" };
  expect(await runWithBreakGlass(environment, "migrate", "--check")).toEqual(upToDate);
  expect(await runWithBreakGlass(environment, "migrate")).toEqual(upToDate);
  expect(await runWithBreakGlass(environment, "migrate", "--sql")).toEqual({ code: 0, stdout: "", stderr: "" });
  expect((await runWithBreakGlass(environment, "doctor")).code).toBe(0);
});

test("--sql prints what a person may run instead, for a new database and for one change", async () => {
  const environment = await database.environment();
  const sql = async (): Promise<string> => (await runWithBreakGlass(environment, "migrate", "--sql")).stdout;
  const client = new pg.Client({ connectionString: environment["DRS_DATABASE_URL"] });
  await client.connect();
  await client.query(await sql());
  await client.end();
  expect((await runWithBreakGlass(environment, "migrate", "--check")).code).toBe(0);
  expect((await runWithBreakGlass(environment, "token", "issue", "--account", "a")).code).toBe(0);

  const owner = await connectAsOwner(environment);
  await owner.query("update schema_definition set digest = '' where name = 'views.sql'");
  const change = await sql();
  expect(change).toContain("create or replace view");
  expect(change).not.toContain("create table event");
  await owner.query(change);
  await owner.end();
  expect((await runWithBreakGlass(environment, "migrate", "--check")).code).toBe(0);
});

test("serve --no-migrate leaves a missing schema as it is", async () => {
  const environment = await database.environment();
  const { code, stderr } = await runDrs(environment, ["serve", "--no-migrate"]);
  expect([code, stderr]).toEqual([4, "the schema of the database is missing or outdated: run drs migrate\n"]);
});

describe("the embedded database", () => {
  let home: Home;

  afterEach(() => home.remove());

  test("is not created by a command that runs first, but by drs migrate", async () => {
    home = await makeEmptyHome();
    const { environment, dataDir, path } = home;
    for (const args of [["token", "list"], ["token", "issue", "--account", "a"], ["doctor"], ["migrate", "--check"]]) {
      const { code, stdout, stderr } = await runWithBreakGlass(environment, ...args);
      expect({ code, stdout, stderr }).toEqual({
        code: 4,
        // The doctor also tries what needs no database.
        stdout: args[0] === "doctor" ? expect.stringMatching(/^FAIL {2}migrations: there is no database/m) : "",
        stderr: `there is no database in ${dataDir} yet: run drs migrate, start drs serve, or set DRS_DATABASE_URL for an external one\n`,
      });
    }
    expect(await readdir(path)).toEqual([]);
    expect((await runWithBreakGlass(environment, "migrate")).code).toBe(0);
    expect((await runWithBreakGlass(environment, "doctor")).code).toBe(0);
  });
});
