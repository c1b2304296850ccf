import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmptyDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { servingOptions } from "./database.ts";
import { migrate } from "./migrate.ts";

let database: TestDatabase;
let superuser: pg.Client;

beforeAll(async () => {
  database = await startEmptyDatabase();
  superuser = new pg.Client({ connectionString: database.url("postgres") });
  await superuser.connect();
});

afterAll(async () => {
  await superuser.end();
  await database.close();
});

const urlOf = (login: string, name: string): string => database.url(name).replace("//postgres@", `//${login}@`);

async function servesAs(login: string, name: string): Promise<string | undefined> {
  const client = new pg.Client(servingOptions({ connectionString: urlOf(login, name) }, { role: "drs_service" }));
  await client.connect();
  const { rows } = await client.query<{ role: string }>("select current_user as role");
  await client.end();
  return rows[0]?.role;
}

test("one login that may create roles migrates and serves", async () => {
  await superuser.query("create role able login createrole");
  await superuser.query("create database of_able owner able");
  await migrate({ connectionString: urlOf("able", "of_able") }, [{ login: "able", role: "drs_service" }]);
  expect(await servesAs("able", "of_able")).toBe("drs_service");
});

test("a login that may not create roles uses the role that was created by hand", async () => {
  await superuser.query("create role plain login");
  await superuser.query("create database of_plain owner plain");
  await superuser.query("grant drs_service to plain");
  await migrate({ connectionString: urlOf("plain", "of_plain") }, [{ login: "plain", role: "drs_service" }]);
  expect(await servesAs("plain", "of_plain")).toBe("drs_service");
});
