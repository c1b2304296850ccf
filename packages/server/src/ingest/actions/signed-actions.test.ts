import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActionRegistry } from "../../base/ports.ts";
import { type SignedAction, signActionId, signedActions } from "./signed-actions.ts";

const SECRET = "a signing secret of at least 32 bytes, shared with the host";
const NOW = Date.parse("2026-03-01T12:00:00.000Z");

const ACTION: SignedAction = {
  account: "customer-1",
  actionType: "payment",
  sessionId: "session-1",
  expiresAt: NOW + 60_000,
  nonce: "n-1_",
};

/** The registry that gets ids of another form, and records them. */
function tableOf(): { table: ActionRegistry; asked: string[] } {
  const asked: string[] = [];
  const table: ActionRegistry = {
    find: async (account, actionId, sessionId) => {
      asked.push(`${account} ${actionId} ${sessionId}`);
      return { actionType: "of the table", expiresAt: NOW + 1 };
    },
  };
  return { table, asked };
}

function registryOf(secret = SECRET, now = NOW): ActionRegistry {
  return signedActions(secret, { find: async () => Promise.reject(new Error("asked the table")) }, { now: () => now });
}

const find = (id: string, account = ACTION.account, sessionId = "session-1", registry = registryOf()) =>
  registry.find(account, id, sessionId);

describe("a signed action id", () => {
  it("proves type, session and expiry", async () => {
    expect(await find(signActionId(SECRET, ACTION))).toEqual({
      actionType: "payment",
      sessionId: "session-1",
      expiresAt: NOW + 60_000,
    });
  });

  it("is valid in every session if it was signed without one", async () => {
    const { sessionId: _, ...free } = ACTION;
    expect(await find(signActionId(SECRET, free), "customer-1", "any")).toEqual({
      actionType: "payment",
      expiresAt: NOW + 60_000,
    });
  });

  it("is found with a session that differs from the caller's, without naming the session of its issue", async () => {
    const found = await find(signActionId(SECRET, ACTION), "customer-1", "session-2");
    expect(found).toMatchObject({ actionType: "payment" });
    expect(found).not.toMatchObject({ sessionId: "session-2" });
    expect(JSON.stringify(found)).not.toContain("session-1");
  });

  it("differs from the id with another nonce, and reveals neither account nor session", () => {
    const id = signActionId(SECRET, ACTION);
    expect(signActionId(SECRET, { ...ACTION, nonce: "n-2" })).not.toBe(id);
    for (const part of id.split(".")) {
      const text = Buffer.from(part, "base64url").toString("latin1");
      expect(part + text).not.toMatch(/customer|session/);
    }
  });

  it("is valid until its expiry, and not after it", async () => {
    const id = signActionId(SECRET, { ...ACTION, expiresAt: NOW + 60_999 });
    expect(await find(id)).toMatchObject({ expiresAt: NOW + 60_000 });
    expect(await find(id, "customer-1", "session-1", registryOf(SECRET, NOW + 59_999))).toBeDefined();
    expect(await find(id, "customer-1", "session-1", registryOf(SECRET, NOW + 60_000))).toBe("expired");
  });

  it("is rejected for another account", async () => {
    const id = signActionId(SECRET, ACTION);
    for (const other of ["customer-2", "customer-", "customer-11", "", "CUSTOMER-1"]) {
      expect(await find(id, other)).toBeUndefined();
    }
  });

  it("is rejected under another secret", async () => {
    const id = signActionId(SECRET, ACTION);
    expect(await find(id, "customer-1", "session-1", registryOf(`${SECRET} `))).toBeUndefined();
  });

  const parts = ["version", "type", "expiry", "session", "nonce", "tag"];
  it.each(parts.map((name, index) => [name, index] as const))("is rejected with its %s changed", async (_, index) => {
    const all = signActionId(SECRET, ACTION).split(".");
    const part = all[index] ?? "";
    for (let at = 0; at < part.length; at++) {
      const other = part[at] === "a" ? "b" : "a";
      const changed = all.with(index, part.slice(0, at) + other + part.slice(at + 1)).join(".");
      const { table, asked } = tableOf();
      const found = await signedActions(SECRET, table, { now: () => NOW }).find("customer-1", changed, "session-1");
      if (index === 0) expect(asked, "an id of another form is the table's").toHaveLength(1);
      else expect(found, changed).toBeUndefined();
    }
  });

  it("is rejected with a part removed, doubled, or exchanged for that of another id", async () => {
    const parts = signActionId(SECRET, ACTION).split(".");
    const otherParts = signActionId(SECRET, {
      account: "customer-1",
      actionType: "login",
      sessionId: "session-2",
      expiresAt: NOW + 600_000,
      nonce: "other",
    }).split(".");
    for (let index = 1; index < parts.length; index++) {
      expect(await find(parts.with(index, "").join("."))).toBeUndefined();
      expect(await find(parts.toSpliced(index, 1).join("."))).toBeUndefined();
      expect(await find(parts.toSpliced(index, 0, parts[index] ?? "").join("."))).toBeUndefined();
      expect(await find(parts.with(index, otherParts[index] ?? "").join("."))).toBeUndefined();
    }
    expect(await find(`${parts.join(".")}=`)).toBeUndefined();
    expect(await find(`${parts.join(".")}\n`)).toBeUndefined();
    expect(await find("v1.")).toBeUndefined();
  });
});

describe("signing throws a TypeError", () => {
  const invalidActions: readonly (readonly [string, Partial<SignedAction>])[] = [
    ["a type that makes the id one character too long", { actionType: "x".repeat(43), nonce: "x".repeat(22) }],
    ["a type far too long", { actionType: "x".repeat(64) }],
    ["a type too long in bytes, not in characters", { actionType: "\u{1F600}".repeat(15) }],
    ["an empty type", { actionType: "" }],
    ["an empty nonce", { nonce: "" }],
    ["a nonce too long", { nonce: "x".repeat(23) }],
    ["a nonce with a dot", { nonce: "a.b" }],
    ["a nonce beyond the alphabet", { nonce: "a b" }],
    ["an expiry before 1970", { expiresAt: -1_000 }],
    ["no expiry", { expiresAt: Number.NaN }],
    ["an endless expiry", { expiresAt: Number.POSITIVE_INFINITY }],
  ];
  it.each(invalidActions)("for %s", (_, change) => {
    expect(() => signActionId(SECRET, { ...ACTION, ...change })).toThrow(TypeError);
  });

  it("but not for a type of 42 characters with the longest nonce", async () => {
    const id = signActionId(SECRET, { ...ACTION, actionType: "x".repeat(42), nonce: "x".repeat(22) });
    expect(id.length).toBeLessThanOrEqual(128);
    expect(await find(id)).toMatchObject({ actionType: "x".repeat(42) });
  });
});

describe("an action id of another form", () => {
  it("is looked up in the table, unchanged", async () => {
    const { table, asked } = tableOf();
    const registry = signedActions(SECRET, table, { now: () => NOW });
    for (const id of ["act_1", "v1", "v2.a.b", "V1.x", " v1.x", ""]) {
      expect(await registry.find("a", id, "s")).toMatchObject({ actionType: "of the table" });
    }
    expect(asked).toEqual(["a act_1 s", "a v1 s", "a v2.a.b s", "a V1.x s", "a  v1.x s", "a  s"]);
  });

  it("is not looked up if it is a forged signed id", async () => {
    const { table, asked } = tableOf();
    const registry = signedActions(SECRET, table, { now: () => NOW });
    expect(await registry.find("a", "v1.cGF5bWVudA.zzzzzz..n.AAAAAAAAAAAAAAAAAAAAAAAA", "s")).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

describe("any action that is signed", () => {
  const action = fc.record({
    account: fc.string({ unit: "grapheme", minLength: 1, maxLength: 256 }),
    actionType: fc.string({ unit: "grapheme", minLength: 1, maxLength: 64 }),
    sessionId: fc.string({ unit: "grapheme", minLength: 1, maxLength: 128 }),
    expiresAt: fc.integer({ min: NOW + 1_000, max: NOW + 100 * 365 * 86_400_000 }),
    nonce: fc.string({
      unit: fc.constantFrom(..."ABCXYZabcxyz0189-_"),
      minLength: 1,
      maxLength: 22,
    }),
  });

  it("gets an id of at most 128 characters that is read as the same action, or signing throws a TypeError", async () => {
    let signedCount = 0;
    await fc.assert(
      fc.asyncProperty(action, async (given) => {
        let id: string;
        try {
          id = signActionId(SECRET, given);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          expect(Buffer.byteLength(given.actionType)).toBeGreaterThan(42);
          return;
        }
        signedCount++;
        expect(id.length).toBeLessThanOrEqual(128);
        expect(id).toMatch(/^[\w.-]+$/);
        expect(await find(id, given.account, given.sessionId)).toEqual({
          actionType: given.actionType,
          sessionId: given.sessionId,
          expiresAt: Math.floor(given.expiresAt / 1000) * 1000,
        });
      }),
      { numRuns: 300 },
    );
    expect(signedCount).toBeGreaterThan(100);
  });

  it("is rejected with any one character changed", async () => {
    const alphabet = "ABCXYZabcxyz0189-_.";
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.constantFrom(...alphabet), async (place, character) => {
        const id = signActionId(SECRET, ACTION);
        const at = 3 + (place % (id.length - 3));
        fc.pre(id[at] !== character);
        expect(await find(id.slice(0, at) + character + id.slice(at + 1))).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});
