import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectAsOwner, startEmptyDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import type { System } from "../../runtime/system.ts";
import { openEventStore } from "../events/event-store.fixture.ts";
import { migrate, readSchema } from "./migrate.ts";
import { newEvent } from "../events/new-event.fixture.ts";
import { schemaText } from "./schema-text.fixture.ts";

const SNAPSHOT = join(import.meta.dirname, "schema.snapshot");
const SNAPSHOT_HEAD = `The schema that the migrations make, as PostgreSQL's catalogs show it.
Compared with a live database by schema.test.ts; after a change of a migration, a function or a view, write it again with
  UPDATE_SCHEMA_SNAPSHOT=1 npx vitest run packages/server/src/store/postgres/schema.test.ts
and read the difference before you commit it.

`;

let database: TestDatabase;

beforeAll(async () => {
  database = await startEmptyDatabase();
});

afterAll(() => database?.close());

async function freshUrl(): Promise<string> {
  return (await database.environment())["DRS_DATABASE_URL"] ?? "";
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, options: "-c search_path=drs" });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

describe("migrations", () => {
  // The test file is the first one to migrate anything here: the roles do not exist yet.
  it("all succeed if installations of one cluster start them together, although these share its roles", async () => {
    const urls = await Promise.all(Array.from({ length: 4 }, freshUrl));
    await withClient(urls[0] ?? "", (client) => client.query("create role racing login"));
    for (let round = 0; round < 3; round++) {
      await withClient(urls[0] ?? "", async (client) => {
        const { rows } = await client.query("select 1 from pg_roles where rolname = 'drs_service'");
        if (rows.length > 0) await client.query("revoke drs_service from racing");
      });
      await Promise.all(
        urls.map((url) => migrate({ connectionString: url }, [{ login: "racing", role: "drs_service" }])),
      );
    }
  });

  it("are numbered without a gap, each once", async () => {
    const ids = (await readSchema()).migrations.map(({ id }) => id);
    expect(ids).toEqual(Array.from(ids.keys(), (index) => index + 1));
  });

  it("that several instances start on an empty database are applied once each", async () => {
    const url = await freshUrl();
    await Promise.all(Array.from({ length: 8 }, () => migrate({ connectionString: url })));
    const known = (await readSchema()).migrations.map(({ id, name }) => ({ id, name }));
    const { rows } = await withClient(url, (client) =>
      client.query("select id, name from schema_migration order by id"),
    );
    expect(rows).toEqual(known);
    const installations = await withClient(url, (client) =>
      client.query("select count(*)::int as count from installation"),
    );
    expect(installations.rows, "one installation, not one for each").toEqual([{ count: 1 }]);
  });

  it("change nothing when they run again", async () => {
    const url = await freshUrl();
    await migrate({ connectionString: url });
    const before = await withClient(url, schemaText);
    await migrate({ connectionString: url });
    expect(await withClient(url, schemaText)).toBe(before);
  });

  it("replace a function whose text is not this server's, and nothing else", async () => {
    const url = await freshUrl();
    await migrate({ connectionString: url });
    const before = await withClient(url, schemaText);
    const applied = "select name, applied_at from schema_definition order by name";
    const changed = await withClient(url, async (client) => {
      const { rows } = await client.query<{ name: string; applied_at: Date }>(applied);
      await client.query(
        "create or replace function is_account_key_erased(in_key uuid) returns boolean language sql as 'select true'",
      );
      await client.query(
        "update schema_definition set digest = 'older' where name = 'functions/is_account_key_erased.sql'",
      );
      return rows;
    });
    expect(await withClient(url, schemaText)).not.toBe(before);
    await migrate({ connectionString: url });
    expect(await withClient(url, schemaText)).toBe(before);
    const { rows } = await withClient(url, (client) => client.query<{ name: string; applied_at: Date }>(applied));
    const again = rows.filter((row, index) => row.applied_at > (changed[index]?.applied_at ?? 0));
    expect(again.map(({ name }) => name)).toEqual(["functions/is_account_key_erased.sql"]);
  });

  it("reject by name a database that a newer server has migrated, and change nothing", async () => {
    const url = await freshUrl();
    await migrate({ connectionString: url });
    await withClient(url, (client) =>
      client.query("insert into schema_migration (id, name, digest) values (9001, 'later.sql', '')"),
    );
    const refused = migrate({ connectionString: url });
    await expect(refused).rejects.toMatchObject({ code: "schema-newer" });
    await expect(refused).rejects.toThrow(/newer server \(migration 9001/);
  });

  it.each([
    ["with another text", "update schema_migration set digest = 'other'"],
    ["before digests were stored", "alter table schema_migration drop column digest"],
  ])("reject by name a database that the baseline %s has created, and change nothing", async (_, change) => {
    const url = await freshUrl();
    await migrate({ connectionString: url });
    await withClient(url, (client) => client.query(change));
    const before = await withClient(url, schemaText);
    const refused = migrate({ connectionString: url });
    await expect(refused).rejects.toMatchObject({ code: "schema-changed" });
    await expect(refused).rejects.toThrow(/0001_baseline\.sql.* npm start -- --fresh/);
    expect(await withClient(url, schemaText)).toBe(before);
  });

  it("that fail leave nothing behind, and the next start continues", async () => {
    const url = await freshUrl();
    await withClient(url, async (client) => {
      await client.query("create schema drs");
      await client.query("create table drs.action (of_another text)");
    });
    await expect(migrate({ connectionString: url })).rejects.toThrow(/"action" already exists/);
    await withClient(url, async (client) => {
      expect((await client.query("select * from schema_migration")).rows).toEqual([]);
      expect((await client.query("select to_regclass('drs.event') as event")).rows).toEqual([{ event: null }]);
      await client.query("drop table drs.action");
    });
    await migrate({ connectionString: url });
  });

  it("reject a PostgreSQL that is too old, by its version", async () => {
    const url = await freshUrl();
    // A function of ours that is looked up before PostgreSQL's own.
    const claimsToBe = async (version: string): Promise<void> => {
      const schema = `claims_${version}`;
      const body = `create function ${schema}.current_setting(text) returns text language sql as $$ select '${version}' $$`;
      await withClient(url, (client) => client.query(`create schema ${schema}; ${body}`));
      await migrate({ connectionString: url, options: `-c search_path=${schema},pg_catalog` });
    };
    await expect(claimsToBe("140019")).rejects.toThrow("the database is PostgreSQL 14; version 15 or later is needed");
    await expect(claimsToBe("90624")).rejects.toMatchObject({ code: "database-unsupported" });
    const { rows } = await withClient(url, (client) => client.query("select to_regnamespace('drs') as schema"));
    expect(rows, "and nothing was made there").toEqual([{ schema: null }]);
    // The version is recent enough, and the next check finds the schema.
    await expect(claimsToBe("150000")).rejects.toMatchObject({ code: "pooler-unsupported" });
  });

  it("end with an error that says what to do, if the login may not create the schema", async () => {
    const url = await freshUrl();
    await withClient(url, (client) => client.query("create role stranger login"));
    const refused = migrate({ connectionString: url.replace("postgres@", "stranger@") });
    await expect(refused).rejects.toThrow(/DRS_MIGRATION_DATABASE_URL/);
  });
});

describe("the schema of the database", () => {
  let system: System;
  let owner: pg.Client;

  beforeAll(async () => {
    const environment = await database.environment();
    system = await openTestSystem(environment);
    owner = await connectAsOwner(environment);
    await system.partitions.ensure(1, Date.now());
    const store = await openEventStore(system);
    await store.append(newEvent());
    await store.close();
  });

  afterAll(async () => {
    await owner?.end();
    await system?.close();
  });

  it("is the committed one", async ({ skip }) => {
    const { rows } = await owner.query<{ version: number }>(
      "select current_setting('server_version_num')::int as version",
    );
    skip((rows[0]?.version ?? 0) < 180_000, "the snapshot is written by PostgreSQL 18; others print views differently");
    const live = `${SNAPSHOT_HEAD}${await schemaText(owner)}`;
    if (process.env["UPDATE_SCHEMA_SNAPSHOT"] === "1") await writeFile(SNAPSHOT, live);
    expect(live, "see the head of schema.snapshot").toBe(await readFile(SNAPSHOT, "utf8"));
  });

  it("has functions that compile", async () => {
    const { definitions } = await readSchema();
    await owner.query("begin");
    try {
      for (const { name, sql } of definitions) await expect(owner.query(sql), name).resolves.toBeDefined();
    } finally {
      await owner.query("rollback");
    }
  });

  it("has a snapshot that shows a column, a constraint, an index, a trigger, a function and a grant", async () => {
    const before = await schemaText(owner);
    const changes = [
      "alter table drift add column note text",
      "alter table audit_entry alter column actor drop not null",
      "alter table purpose add constraint named check (title <> '')",
      "create index extra on action (expires_at)",
      "drop trigger event_is_immutable on event",
      "alter table event disable trigger event_is_immutable",
      "alter function ensure_event_partition(integer, timestamptz) security invoker",
      "grant delete on event to drs_service",
      "grant update (payload) on event to drs_service",
      "grant execute on function ensure_event_partition(integer, timestamptz) to public",
      "grant create on schema drs to drs_service",
      "alter role drs_service login",
      "alter table event alter column payload set storage extended",
    ];
    for (const change of changes) {
      await owner.query("begin");
      try {
        await owner.query(change);
        expect(await schemaText(owner), change).not.toBe(before);
      } finally {
        await owner.query("rollback");
      }
    }
    expect(await schemaText(owner)).toBe(before);
  });

  it("has PostgreSQL's clock, which the planner sees and nothing sets", async () => {
    const outputOf = async (expression: string): Promise<unknown> =>
      (await owner.query(`explain (verbose, costs off) select ${expression}`)).rows[1];
    expect(await outputOf("transaction_time()")).toEqual({ "QUERY PLAN": "  Output: now()" });
    expect(await outputOf("wall_clock_time()")).toEqual({
      "QUERY PLAN": "  Output: (now() + (clock_timestamp() - now()))",
    });
    const { rows } = await owner.query<{ name: string }>(
      "select nspname as name from pg_namespace where nspname !~ '^pg_|^information_schema$' order by nspname",
    );
    expect(rows, "no schema of a test's clock").toEqual([{ name: "drs" }, { name: "public" }]);
  });

  describe("stored rows can't be changed", () => {
    const TABLES = ["event", "idempotency_key", "audit_entry"];

    /** The name of the partition that holds the event. */
    async function partition(): Promise<string> {
      const { rows } = await owner.query<{ name: string }>(
        "select tableoid::regclass::text as name from event limit 1",
      );
      return rows[0]?.name ?? "";
    }

    it.each(TABLES)("by the serving role: %s takes no update, delete or truncate", async (table) => {
      const { rows } = await system.pool.query<{ count: number }>(`select count(*) as count from ${table}`);
      expect(rows[0]?.count).toBeGreaterThan(0);
      const column = table === "audit_entry" ? "actor" : "account";
      for (const text of [`update ${table} set ${column} = 'x'`, `delete from ${table}`, `truncate ${table}`]) {
        await expect(system.pool.query(text), text).rejects.toMatchObject({ code: "42501" });
      }
    });

    it("by the serving role, past the table, in a partition", async () => {
      const name = await partition();
      for (const text of [
        `select * from ${name}`,
        `update ${name} set account = 'x'`,
        `delete from ${name}`,
        `insert into ${name} select * from event`,
        `alter table ${name} disable trigger all`,
        `drop table ${name}`,
      ]) {
        await expect(system.pool.query(text), text).rejects.toMatchObject({ code: "42501" });
      }
    });

    it.each(TABLES)("by the owner: %s takes no update", async (table) => {
      const column = table === "audit_entry" ? "actor" : "account";
      await expect(owner.query(`update ${table} set ${column} = 'x'`)).rejects.toThrow(/is immutable/);
    });

    it("by the owner, in a partition", async () => {
      await expect(owner.query(`update ${await partition()} set payload = ''`)).rejects.toThrow(/is immutable/);
    });
  });

  describe("the serving role", () => {
    it("is the role of every serving connection, also if its login has more rights", async () => {
      const { rows } = await system.pool.query("select current_user, session_user");
      expect(rows).toEqual([{ current_user: "drs_service", session_user: "postgres" }]);
    });

    it("owns nothing and can make nothing", async () => {
      const owns =
        "select count(*) as count from pg_shdepend where refobjid = 'drs_service'::regrole and deptype = 'o'";
      expect((await system.pool.query(owns)).rows).toEqual([{ count: 0 }]);
      for (const text of [
        "create table drs.mine (a text)",
        "create table public.mine (a text)",
        "create schema mine",
        "create function drs.mine() returns int language sql as 'select 1'",
        "create or replace function drs.transaction_time() returns timestamptz language sql as 'select now()'",
        "alter function drs.transaction_time() rename to mine",
        "create role mine",
        "create database mine",
        "alter table event add column mine text",
        "create index mine on event (account)",
        "drop trigger event_is_immutable on event",
        "update purpose set title = 'x'",
        "insert into purpose (code, id, title) values (2, 'x', 'x')",
        "insert into event_partition (purpose, lower_bound, upper_bound, table_name) values (1, now(), now(), 'x')",
        "update installation set installation_id = gen_random_uuid()",
        "update session_token set account = 'x'",
        "update session_token set expires_at = now() + interval '1 year'",
        "update action set action_type = 'x'",
        "delete from session_token",
        "delete from schema_migration",
        "update drift set path = 'x'",
      ]) {
        await expect(system.pool.query(text), text).rejects.toMatchObject({ code: "42501" });
      }
    });

    it("can't make the partition function act on tables of its own", async () => {
      const client = await system.pool.connect();
      try {
        await client.query("begin");
        // Temporary tables come first in a search path that does not say otherwise.
        const made = await client
          .query(
            `create temp table event_partition (like drs.event_partition);
             create function pg_temp.whoami() returns trigger language plpgsql as
               $$ begin raise exception 'ran as %', current_user using errcode = 'ZZ999'; end $$;
             create trigger whoami before insert on event_partition for each row execute function pg_temp.whoami();
             grant all on event_partition to public`,
          )
          .then(
            () => true,
            () => false,
          );
        expect(made, "the test needs a temporary table").toBe(true);
        const { rows } = await client.query<{ table_name: string }>(
          "select table_name from drs.ensure_event_partition(1, now() + interval '15 days')",
        );
        expect(rows).toHaveLength(1);
        expect((await client.query("select count(*) as count from pg_temp.event_partition")).rows).toEqual([
          { count: 0 },
        ]);
      } finally {
        await client.query("rollback");
        client.release();
      }
    });
  });
});
