/** Tests of what an analyst reads by SQL with the grants of docs/analyst.md. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import type { System } from "../../runtime/system.ts";

const DOCUMENT = join(import.meta.dirname, "../../../../../docs/analyst.md");

let database: TestDatabase;
let system: System;
let owner: OwnerClient;
let analyst: pg.Client;
/** Roles belong to the whole cluster, which other test files use, too. */
const role = `analyst_${randomUUID().replaceAll("-", "")}`;
let events: { readable: PastEvent; expired: PastEvent; erased: PastEvent; held: PastEvent };
const notices: (string | undefined)[] = [];

beforeAll(async () => {
  database = await sharedDatabase();
  const environment = await database.environment();
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  await owner.query("insert into purpose (code, id, title, raw_retention) values (2, 'short', 'Short', '1 hour')");
  const past = new Past(system);
  events = {
    readable: await past.store(3, { account: "readable" }),
    expired: await past.store(3, { account: "expired", purpose: 2 }),
    erased: await past.store(3, { account: "erased" }),
    held: await past.store(3, { account: "held", purpose: 2 }),
  };
  await past.close();
  await owner.query(
    `insert into journal_entry (sequence, kind, entry_digest) values (1, 'account', '');
     insert into erasure (sequence, erasure_id, kind, began_at, actor, reason, keys)
      values (1, gen_random_uuid(), 'account', now(), 'test', 'request', '{}');
     update account_key set erased_by = 1 where account = 'erased';
     insert into legal_hold (hold_id, account, reason, approver, review_on, placed_at, placed_by)
      values (gen_random_uuid(), 'held', 'dispute', 'J. Doe', '2999-01-31', now(), 'test')`,
  );
  const grants = /```sql\n(create role analyst[^`]*)```/.exec(await readFile(DOCUMENT, "utf8"))?.[1];
  await owner.query((grants ?? "").replaceAll("analyst", role));
  analyst = new pg.Client((environment["DRS_DATABASE_URL"] ?? "").replace("postgres@", `${role}@`));
  analyst.on("notice", ({ message }) => notices.push(message));
  await analyst.connect();
});

afterAll(async () => {
  await analyst?.end();
  await owner?.query(`drop owned by ${role}; drop role ${role}`);
  await owner?.end();
  await system?.close();
  await database?.close();
});

it("the view readable_event has events that are not erased, and that are within their period or under a hold", async () => {
  const { rows } = await analyst.query("select event_id, account from drs.readable_event order by account desc");
  expect(rows).toEqual([events.readable, events.held].map(({ eventId, account }) => ({ event_id: eventId, account })));
});

it("the view readable_event shows no other row to a function that the analyst has written", async () => {
  await analyst.query(
    `create function pg_temp.tell(account text) returns boolean language plpgsql cost 0.0001
      as $$ begin raise notice '%', account; return true; end $$`,
  );
  await analyst.query("select from drs.readable_event where pg_temp.tell(account)");
  expect(notices.toSorted()).toEqual(["held", "readable"]);
});

const OTHERS = ["event", "held_event", "kept_event", "live_event", "unrestricted_event", "restriction"];

it.each([...OTHERS, "idempotency_key", "account_key"])(
  "an analyst can't read %s in place of the view readable_event",
  async (table) => {
    await expect(analyst.query(`select from drs.${table}`)).rejects.toMatchObject({ code: "42501" });
  },
);
