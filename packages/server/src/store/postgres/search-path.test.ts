/** Tests that a login gains nothing by functions of its own, which its search path has before those of PostgreSQL. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { openEventStore } from "../events/event-store.fixture.ts";
import { newEvent } from "../events/new-event.fixture.ts";

const scene = useTestSystem();
const login = `with_schema_${randomBytes(4).toString("hex")}`;
const event = newEvent();
let client: pg.Client;

beforeAll(async () => {
  const store = await openEventStore(scene.system);
  expect(await store.append(event)).toBe("stored");
  await store.close();
  for (const text of [
    `create role ${login} login`,
    `grant drs_admin to ${login}`,
    `grant select on drs.readable_event to ${login}`,
    `create schema own authorization ${login}`,
    // The template's clock takes the place of the schema's.
    "drop schema test_clock cascade",
    await readFile(join(import.meta.dirname, "functions/transaction_time.sql"), "utf8"),
  ]) {
    await scene.owner.query(text);
  }
  const { rows } = await scene.owner.query<{ xid: string }>("select pg_current_xact_id()::text as xid");
  const connectionString = (scene.environment["DRS_DATABASE_URL"] ?? "").replace("postgres@", `${login}@`);
  client = new pg.Client({ connectionString });
  await client.connect();
  for (const text of [
    "create function own.now() returns timestamptz language sql as $$ select '2000-01-01Z'::timestamptz $$",
    "create function own.clock_timestamp() returns timestamptz language sql as $$ select '2000-01-01Z'::timestamptz $$",
    `create function own.pg_current_xact_id() returns xid8 language sql as $$ select '${rows[0]?.xid}'::xid8 $$`,
    "create function own.gen_random_uuid() returns uuid language sql as $$ select '00000000-0000-0000-0000-000000000000'::uuid $$",
    "create function own.same(text, text) returns boolean language sql as $$ select true $$",
    "create operator own.= (leftarg = text, rightarg = text, function = own.same)",
    "set search_path = own, pg_catalog, drs",
  ]) {
    await client.query(text);
  }
});

afterAll(async () => {
  await client?.end();
  await scene.owner.query(`drop owned by ${login}; drop role ${login}`);
});

test("an entry that is rolled back reveals no event", async () => {
  const entry = "11111111-1111-4111-8111-111111111111";
  await client.query("begin");
  const { rows } = await client.query(
    `insert into audit_entry (entry_id, at, actor, via, operation, outcome, occurrences, event_id, record, mac)
      values ($1, pg_catalog.now(), 'ann', 'api', 'event.read_raw', 'done', 1, $2, '', sha256(''))
      returning written_at = pg_catalog.now() and xid = pg_catalog.pg_current_xact_id() as filled`,
    [entry, event.eventId],
  );
  expect(rows).toEqual([{ filled: true }]);
  const values = [entry, event.account, event.purpose, new Date(event.receivedAt).toISOString(), event.eventId];
  await expect(client.query("select payload from reveal_event($1, $2, $3, $4, $5)", values)).rejects.toThrow(
    /no committed audit entry/,
  );
  await client.query("rollback");
});

test("a view shows no expired event", async () => {
  const read = "select from readable_event";
  expect((await client.query(read)).rowCount).toBe(1);
  await scene.owner.query("update purpose set raw_retention = interval '1 microsecond' where code = 1");
  expect((await client.query(read)).rowCount).toBe(0);
});

test("a login chooses no time, id or number that the database fills in", async () => {
  const { rows } = await client.query(
    `insert into account_identity (account) values ('own')
      returning created_at > '2020-01-01' and account_id <> '00000000-0000-0000-0000-000000000000' as filled`,
  );
  expect(rows).toEqual([{ filled: true }]);
});

const NO_RIGHTS = "gives the caller nothing that it may not read or lock itself";
/** Functions that run with the search path of the caller, each with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  apply_restrictions: "only the owner calls it",
  fill_in_entry: "its names have their schemas",
  is_account_key_erased: NO_RIGHTS,
  is_held: NO_RIGHTS,
  is_restricted: "only functions of the owner call it",
  lock_holds: NO_RIGHTS,
  lock_ingestion_exclusive: NO_RIGHTS,
  lock_ingestion_shared: NO_RIGHTS,
  lock_journal: NO_RIGHTS,
  partition_unit: NO_RIGHTS,
  refuse_change: "always fails",
  require_read_committed: "protects only the caller",
};

test("each function has a search path or a parsed body", async () => {
  const { rows } = await scene.owner.query<{ name: string }>(
    `select proname as name from pg_proc where pronamespace = 'drs'::regnamespace and prosqlbody is null
      and not exists (select 1 from unnest(proconfig) setting where setting like 'search_path=%') order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(EXCEPTIONS));
});
