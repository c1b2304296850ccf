import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sharedDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import type { System } from "../../runtime/system.ts";
import { type ActionRefusal, type Clock, type RegisteredAction, Unavailable } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { actionTable, listActions, type NewAction, registerAction, revokeAction } from "./action-table.ts";

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let system: System;
let account: string;
let accountCount = 0;
let now: number;
const clock: Clock = { now: () => now };

beforeAll(async () => {
  database = await sharedDatabase();
  system = await openTestSystem(await database.environment());
});

afterAll(async () => {
  await system?.close();
  await database?.close();
});

beforeEach(() => {
  now = Date.parse("2026-03-01T12:00:00.000Z");
  account = `account-${accountCount++}`;
});

const register = (action: Partial<NewAction> = {}): ReturnType<typeof registerAction> =>
  registerAction(system.pool, clock, { account, actionType: "payment", ttlMs: HOUR_MS, ...action });

const typeOf = (action: RegisteredAction | ActionRefusal | undefined): string | undefined =>
  typeof action === "object" ? action.actionType : action;

/** A registry, and the number of its queries. */
function registry() {
  let queries = 0;
  const executor: Executor = {
    query: (text, values) => {
      queries++;
      return (system.pool as Executor).query(text, values);
    },
  };
  const table = actionTable(executor, clock);
  return {
    find: (actionId: string, who = account) => table.find(who, actionId, "whatever"),
    queries: () => queries,
  };
}

describe("the registration of an action", () => {
  it("makes an id if the caller gives none", async () => {
    const first = await register();
    const second = await register();
    expect(first?.action_id).toMatch(/^act_[\da-f-]{36}$/);
    expect(second?.action_id).not.toBe(first?.action_id);
    expect(first).toEqual({
      action_id: first?.action_id,
      action_type: "payment",
      account,
      session_id: null,
      expires_at: "2026-03-01T13:00:00.000Z",
      revoked_at: null,
    });
  });

  it("with the same values changes nothing, not even the expiry", async () => {
    const first = await register({ actionId: "a", sessionId: "s" });
    now += 60_000;
    const again = await register({ actionId: "a", sessionId: "s", ttlMs: 24 * HOUR_MS });
    expect(again).toEqual(first);
    expect(await listActions(system.pool, account)).toMatchObject([first]);
  });

  const otherActions: readonly (readonly [string, Partial<NewAction>])[] = [
    ["another type", { actionType: "login" }],
    ["another session", { sessionId: "t" }],
    ["no session", {}],
  ];
  it.each(otherActions)("with %s under a registered id is rejected and changes nothing", async (_, other) => {
    const first = await register({ actionId: "a", sessionId: "s" });
    expect(await register({ actionId: "a", ...other })).toBeUndefined();
    expect(await listActions(system.pool, account)).toMatchObject([first]);
  });

  it("with a session where none was registered is rejected", async () => {
    await register({ actionId: "a" });
    expect(await register({ actionId: "a", sessionId: "s" })).toBeUndefined();
  });

  it("does not bring a revoked action back", async () => {
    await register({ actionId: "a" });
    expect(await revokeAction(system.pool, clock, account, "a")).toBe(true);
    expect(await register({ actionId: "a" })).toBeUndefined();
    expect(await registry().find("a")).toBe("expired");
  });

  it("is unique per account: two accounts may use one id, each for its own", async () => {
    const other = `${account}-other`;
    await register({ actionId: "a" });
    await registerAction(system.pool, clock, { account: other, actionId: "a", actionType: "login", ttlMs: HOUR_MS });
    const { find } = registry();
    expect(await find("a")).toMatchObject({ actionType: "payment" });
    expect(await find("a", other)).toMatchObject({ actionType: "login" });
    expect(await revokeAction(system.pool, clock, other, "a")).toBe(true);
    const fresh = registry();
    expect(await fresh.find("a"), "revoked for the other account alone").toBeDefined();
    expect(await fresh.find("a", other)).toBe("expired");
  });

  it("by many callers at once gives all of them the same action", async () => {
    const rows = await Promise.all(
      Array.from({ length: 20 }, (_, index) => register({ actionId: "a", ttlMs: HOUR_MS + index })),
    );
    expect(new Set(rows.map((row) => row?.expires_at)).size).toBe(1);
  });
});

describe("the revocation of an action", () => {
  it("reports whether there was an active action", async () => {
    await register({ actionId: "a" });
    expect(await revokeAction(system.pool, clock, account, "b")).toBe(false);
    expect(await revokeAction(system.pool, clock, `${account}-other`, "a")).toBe(false);
    expect(await revokeAction(system.pool, clock, account, "a")).toBe(true);
    expect(await revokeAction(system.pool, clock, account, "a")).toBe(false);
    expect(await listActions(system.pool, account)).toMatchObject([{ revoked_at: "2026-03-01T12:00:00.000Z" }]);
  });
});

describe("the search for an action", () => {
  it("says whether an id that the account lacks belongs to another account", async () => {
    await register({ actionId: `of-${account}` });
    const { find } = registry();
    expect(await find(`of-${account}`, `${account}-other`)).toBe("other-account");
    expect(await find("of-no-account")).toBeUndefined();
  });

  it("finds type, session and expiry, also an expiry that has passed", async () => {
    await register({ actionId: "a", sessionId: "s" });
    await register({ actionId: "b", ttlMs: -1 });
    const { find } = registry();
    expect(await find("a")).toEqual({ actionType: "payment", sessionId: "s", expiresAt: now + HOUR_MS });
    expect(await find("b")).toEqual({ actionType: "payment", expiresAt: now - 1 });
  });

  it("accepts every character that an id may have", async () => {
    const ids = ["'", '"', "a\\b", "{a,b}", "NULL", "null", " ", "é", "\u{1F600}", "%", "x".repeat(128)];
    for (const actionId of ids) await register({ actionId, actionType: `of ${actionId}`.slice(0, 64) });
    const { find } = registry();
    const found = await Promise.all(ids.map((id) => find(id)));
    expect(found.map(typeOf)).toEqual(ids.map((id) => `of ${id}`.slice(0, 64)));
  });

  it("keeps account and id apart if their joined texts are equal", async () => {
    await registerAction(system.pool, clock, { account: `${account}a`, actionId: "b", actionType: "t", ttlMs: 1 });
    const { find } = registry();
    expect(await find("b", `${account}a`)).toBeDefined();
    expect(await find("ab")).toBeUndefined();
  });

  it("reads many actions in a few queries", async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    await Promise.all(ids.map((actionId) => register({ actionId, actionType: `type-of-${actionId}` })));
    const { find, queries } = registry();
    const found = await Promise.all(ids.flatMap((id) => [find(id), find(`absent-${id}`)]));
    expect(found.map(typeOf)).toEqual(ids.flatMap((id) => [`type-of-${id}`, undefined]));
    expect(queries()).toBeLessThanOrEqual(2);
  });

  it("remembers an action that it found for five seconds, by account and id", async () => {
    await register({ actionId: "a" });
    const { find, queries } = registry();
    await find("a");
    await revokeAction(system.pool, clock, account, "a");
    now += 4_999;
    expect(await find("a")).toBeDefined();
    expect(queries()).toBe(1);
    expect(await find("a", `${account}-other`), "of another account").toBe("other-account");
    now += 1;
    expect(await find("a"), "the revocation takes effect").toBe("expired");
  });

  it("does not remember an absent action", async () => {
    const { find } = registry();
    const actionId = `absent-${account}`;
    expect(await find(actionId)).toBeUndefined();
    await register({ actionId });
    expect(await find(actionId), "registered a moment later").toMatchObject({ actionType: "payment" });
  });

  it("forgets the oldest action when it remembers too many", async () => {
    let lookedUpCount = 0;
    const everything: Executor = {
      query: async (_text, values = []) => {
        const [, ids] = values.map((value) => namesIn(value as Buffer));
        lookedUpCount += ids?.length ?? 0;
        const rows = ids?.map((id) => ({
          account,
          action_id: id,
          action_type: "t",
          session_id: null,
          expires_ms: 9e15,
        }));
        return { rows } as never;
      },
    };
    const table = actionTable(everything, clock);
    const find = (index: number) => table.find(account, String(index), "");
    await Promise.all(Array.from({ length: 50_001 }, (_, index) => find(index)));
    lookedUpCount = 0;
    await find(50_000);
    await find(1);
    expect(lookedUpCount).toBe(0);
    await find(0);
    expect(lookedUpCount).toBe(1);
  });

  it("throws Unavailable when the database can't be reached", async () => {
    const table = actionTable(
      { query: () => Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })) },
      clock,
    );
    await expect(table.find(account, "a", "s")).rejects.toBeInstanceOf(Unavailable);
  });
});

/** The items of a `text[]` in PostgreSQL's binary format. */
function namesIn(array: Buffer): string[] {
  const names: string[] = [];
  for (let at = 20; at < array.length;) {
    const size = array.readInt32BE(at);
    names.push(array.toString("utf8", at + 4, at + 4 + size));
    at += 4 + size;
  }
  return names;
}
