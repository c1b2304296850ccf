/** Tests that the audit log records which person read which events through the command line. */
import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { System } from "../packages/server/src/runtime/system.ts";
import { runWithBreakGlass, objects, type Printed } from "./support/command.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { Past, type PastEvent } from "./support/past-event.ts";
import type { Credentials } from "./support/server.ts";

interface Entry {
  readonly actor: string;
  readonly operation: string;
  readonly outcome: string;
  readonly account: string | null;
  readonly event_id: string | null;
  readonly reason: string | null;
  readonly detail: Record<string, unknown> | null;
}

let database: TestDatabase;
let environment: Record<string, string>;
let system: System;
let past: Past;
let who: Credentials;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  system = await openTestSystem(environment);
  past = new Past(system);
  who = await makeCredentials(system, "reader-1");
});

afterAll(async () => {
  await past?.close();
  await system?.close();
  await database?.close();
});

/** An account with enough events for several pages of a listing. */
const PAGED = "reader-of-pages";

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);

/** The audit entries that were written during the work, newest first. */
async function entriesOf(work: () => Promise<unknown>): Promise<Entry[]> {
  const before = objects<Entry>((await drs("audit", "list", "--limit", "0", "--json")).stdout);
  await work();
  const after = objects<Entry>((await drs("audit", "list", "--limit", "0", "--json")).stdout);
  return after.slice(0, after.length - before.length);
}

describe("reads of promoted attributes are audited", () => {
  let stored: PastEvent;

  beforeAll(async () => {
    stored = await past.store(0, { account: who.account });
    await past.store(0, { account: who.account });
  });

  test("event list writes one entry with its filter and count", async () => {
    const args = ["--account", who.account, "--action-type", who.actionType, "--limit", "10"];
    const entries = await entriesOf(() => drs("event", "list", ...args));
    expect(entries).toMatchObject([
      {
        operation: "event.list",
        outcome: "done",
        account: system.audit.subjectOf(who.account).toString("hex"),
        actor: expect.stringMatching(/^cli:/) as string,
        via: "direct",
      },
    ]);
    expect(entries[0]?.detail).toEqual({ filter: { action_type: who.actionType }, limit: 10, count: 2 });
    const nothing = await entriesOf(() => drs("event", "list", "--action", "no-such", "--json"));
    expect(nothing).toMatchObject([{ account: null, detail: { filter: { action_id: "no-such" }, count: 0 } }]);
  });

  test("a listing writes one entry for each page, and the entries count all rows that it prints", async () => {
    const account = PAGED;
    await Promise.all(Array.from({ length: 1_005 }, () => past.store(0, { account })));
    for (const [limit, counts] of [
      ["0", [5, 1_000]],
      ["1002", [2, 1_000]],
      ["1000", [1_000]],
    ] as const) {
      let stdout = "";
      const entries = await entriesOf(async () => {
        ({ stdout } = await drs("event", "list", "--account", account, "--limit", limit, "--json"));
      });
      expect(entries).toMatchObject(counts.map((count) => ({ operation: "event.list", detail: { count } })));
      const listed = counts.reduce<number>((sum, count) => sum + count, 0);
      expect(new Set(objects(stdout).map(({ event_id }) => event_id)).size, limit).toBe(listed);
    }
  });

  test("a listing prints as many rows as its entries say, even if events are deleted between its pages", async () => {
    const owner = await connectAsOwner(environment);
    await owner.query(`create function delete_oldest() returns trigger language plpgsql security definer as $$ begin
        delete from drs.event where event_id in (
          select event_id from drs.event where account = 'reader-of-pages' order by received_at, event_id limit 3);
        return null; end $$;
      create trigger reader_is_late after insert on audit_entry for each row
        when (new.operation = 'event.list') execute function delete_oldest()`);
    let stdout = "";
    const entries = await entriesOf(async () => {
      ({ stdout } = await drs("event", "list", "--account", PAGED, "--limit", "0", "--json"));
    });
    await owner.query("drop function delete_oldest cascade");
    await owner.end();
    expect(entries).toMatchObject([{ detail: { count: 2 } }, { detail: { count: 1_000 } }]);
    expect(objects(stdout)).toHaveLength(1_002);
  });

  test("event get writes one entry, whether or not the event exists", async () => {
    const found = await entriesOf(() => drs("event", "get", stored.eventId, "--json"));
    expect(found).toMatchObject([
      {
        operation: "event.read",
        outcome: "done",
        account: system.audit.subjectOf(who.account).toString("hex"),
        event_id: stored.eventId,
      },
    ]);
    const absent = randomUUID();
    const missed = await entriesOf(() => drs("event", "get", absent));
    expect(missed).toMatchObject([{ operation: "event.read", outcome: "not-found", event_id: absent }]);
  });

  test("in a database that is read-only by default, event list and event get fail and print no event", async () => {
    const owner = await connectAsOwner(environment);
    const { rows } = await owner.query<{ name: string }>("select current_database() as name");
    const set = (value: string): Promise<unknown> =>
      owner.query(`alter database ${rows[0]?.name} set default_transaction_read_only = ${value}`);
    await set("on");
    try {
      for (const args of [["list"], ["list", "--json"], ["get", stored.eventId], ["get", randomUUID()]]) {
        const { code, stdout, stderr } = await drs("event", ...args);
        expect({ code, stdout }, args.join(" ")).toEqual({ code: 1, stdout: "" });
        expect(stderr).toContain("sets default_transaction_read_only to 'on'");
      }
    } finally {
      await owner.query("set default_transaction_read_only = off");
      await set("off");
      await owner.end();
    }
  });
});

describe("the actor of an audited read", () => {
  test("is the user of the operating system; SUDO_USER is recorded as an unverified claim", async () => {
    environment["SUDO_USER"] = "mallory";
    try {
      const [entry] = await entriesOf(() => drs("event", "get", randomUUID()));
      const { uid, username } = userInfo();
      expect(entry?.actor).toMatch(new RegExp(`^cli:${username} \\(uid ${uid}, .*host ${hostname()}, tty \\S+; `));
      expect(entry?.actor).toMatch(/; claims SUDO_USER="mallory"\)$/);
    } finally {
      delete environment["SUDO_USER"];
    }
  });

  test("gives a reason, which is recorded without blanks at its start and end", async () => {
    const event = await past.store(0, { account: who.account });
    const [entry] = await entriesOf(() => drs("event", "get", event.eventId, "--raw", "--reason", "  dispute 4711\t"));
    expect(entry).toMatchObject({
      operation: "event.read_raw",
      reason: "dispute 4711",
      category: "debugging",
      case_id: expect.any(String) as string,
    });
  });
});
