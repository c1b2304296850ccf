import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { Unavailable } from "../../base/ports.ts";
import { describeKeyStore } from "./key-store.contract.ts";
import { postgresKeyStore } from "./postgres-key-store.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await sharedDatabase();
});

afterAll(() => database?.close());

/** The URL of a fresh database. */
async function freshUrl(): Promise<string> {
  return (await database.environment())["DRS_DATABASE_URL"] ?? "";
}

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const ID = "a".repeat(64);

describeKeyStore("PostgreSQL", async () => {
  const url = await freshUrl();
  return {
    open: () => postgresKeyStore({ connectionString: url }),
    readAllBytes: async () => {
      const rows = await query<{ wrapped: Buffer }>(url, "select wrapped from drs_keys.secret");
      return Buffer.concat(rows.map(({ wrapped }) => wrapped));
    },
    remove: async () => {},
  };
});

describe("the key store in PostgreSQL", () => {
  it("has a secret on the disk before the secret is used, under any setting of the database", async () => {
    const url = await freshUrl();
    await (await postgresKeyStore({ connectionString: url })).close();
    const name = new URL(url).pathname.slice(1);
    await query(url, `alter database ${name} set synchronous_commit = off`);
    const column = "add column how text default current_setting('synchronous_commit')";
    await query(url, `alter table drs_keys.secret ${column}`);
    const store = await postgresKeyStore({ connectionString: url });
    await store.create(ID, Buffer.from("wrapped"));
    await store.close();
    expect(await query(url, "select how from drs_keys.secret")).toEqual([{ how: "on" }]);
  });

  it("commits once for secrets that are created at the same time", async () => {
    const url = await freshUrl();
    const store = await postgresKeyStore({ connectionString: url });
    const ids = Array.from({ length: 64 }, (_, index) => index.toString(16).padStart(64, "0"));
    await Promise.all(ids.map((id) => store.create(id, Buffer.from("wrapped"))));
    await store.close();
    const transactions =
      "select count(*)::int as secrets, count(distinct xmin::text)::int as commits from drs_keys.secret";
    expect(await query(url, transactions)).toEqual([{ secrets: 64, commits: 1 }]);
  });

  it("uses an existing schema if its login may not create one", async () => {
    const url = await freshUrl();
    await (await postgresKeyStore({ connectionString: url })).close();
    await query(
      url,
      `create role lesser login; grant usage on schema drs_keys to lesser; grant select, insert on drs_keys.secret to lesser`,
    );
    const store = await postgresKeyStore({ connectionString: url.replace("postgres@", "lesser@") });
    expect(await store.create(ID, Buffer.from("wrapped"))).toEqual(Buffer.from("wrapped"));
    await store.close();
  });

  it("throws Unavailable when the database fails, and recovers", async () => {
    const url = await freshUrl();
    const store = await postgresKeyStore({ connectionString: url });
    await query(url, "alter table drs_keys.secret rename to away");
    await expect(store.read(ID)).rejects.toBeInstanceOf(Unavailable);
    await expect(store.create(ID, Buffer.from("wrapped"))).rejects.toBeInstanceOf(Unavailable);
    await query(url, "alter table drs_keys.away rename to secret");
    // Ends every connection to the database.
    await query(
      url,
      `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await expect.poll(() => store.create(ID, Buffer.from("wrapped")).catch(() => undefined)).toBeDefined();
    await store.close();
  });

  it("throws Unavailable if the database is missing", async () => {
    await expect(postgresKeyStore({ connectionString: database.url("no_such_database") })).rejects.toBeInstanceOf(
      Unavailable,
    );
  });

  it("reports an error of the database by its kind", async () => {
    const url = await freshUrl();
    await (await postgresKeyStore({ connectionString: url })).close();
    const read = async (login: string): Promise<void> => {
      const store = await postgresKeyStore({ connectionString: url.replace("postgres@", `${login}@`) });
      try {
        await store.read(ID);
      } finally {
        await store.close();
      }
    };
    await query(url, "create role intruder login");
    await expect(read("intruder")).rejects.toMatchObject({
      message: "the key database can't be used: its login lacks a privilege (SQLSTATE 42501)",
      detail: { problem: "can't be used: its login lacks a privilege (SQLSTATE 42501)" },
    });
    await query(url, "drop role intruder");
    await query(url, "alter table drs_keys.secret rename to away");
    await expect(read("postgres")).rejects.toThrow(
      "the key database can't be used: a table is missing (SQLSTATE 42P01)",
    );
    await expect(postgresKeyStore({ connectionString: database.url("no_such_database") })).rejects.toThrow(
      "the key database can't be used: the database does not exist (SQLSTATE 3D000)",
    );
  });
});
