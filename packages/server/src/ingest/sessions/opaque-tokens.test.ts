import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sharedDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import type { System } from "../../runtime/system.ts";
import { type Clock, Unavailable } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { isOpaqueToken, issueToken, listTokens, opaqueTokenVerifier, revokeToken } from "./opaque-tokens.ts";

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let system: System;
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
});

const verify = (token: string): ReturnType<ReturnType<typeof opaqueTokenVerifier>["verify"]> =>
  opaqueTokenVerifier(system.pool, clock).verify(token);

/** The pool, with its queries counted. */
function counted(): { executor: Executor; queries: () => number } {
  let queries = 0;
  const executor: Executor = {
    query: (text, values) => {
      queries++;
      return (system.pool as Executor).query(text, values);
    },
  };
  return { executor, queries: () => queries };
}

describe("the issue of a token", () => {
  it("returns a token that no row holds, in any spelling", async () => {
    const { token, token_id, account, expires_at } = await issueToken(system.pool, clock, "issued", HOUR_MS);
    expect(isOpaqueToken(token)).toBe(true);
    expect({ account, expires_at }).toEqual({ account: "issued", expires_at: "2026-03-01T13:00:00.000Z" });

    const { rows } = await system.pool.query<{ token_id: string; token_hash: Buffer; row: string }>(
      "select t.token_id, t.token_hash, t::text as row from session_token t where account = 'issued'",
    );
    expect(rows.map((row) => row.token_id)).toEqual([token_id]);
    const secret = Buffer.from(token.slice(4), "base64url");
    for (const spelling of [token, token.slice(4), secret.toString("hex"), Buffer.from(token).toString("hex")]) {
      expect(rows[0]?.row).not.toContain(spelling);
    }
    expect(rows[0]?.token_hash).toEqual(createHash("sha256").update(token).digest());
  });

  it("never issues a token twice", async () => {
    const issued = await Promise.all(Array.from({ length: 50 }, () => issueToken(system.pool, clock, "many", HOUR_MS)));
    expect(new Set(issued.map(({ token }) => token)).size).toBe(50);
  });
});

describe("the verification of a token", () => {
  it("returns the account and the expiry of a valid token", async () => {
    const { token } = await issueToken(system.pool, clock, "good", HOUR_MS);
    expect(await verify(token)).toEqual({ account: "good", expiresAt: now + HOUR_MS });
  });

  it("accepts a token until its expiry, and no millisecond longer", async () => {
    const { token } = await issueToken(system.pool, clock, "expiring", HOUR_MS);
    now += HOUR_MS - 1;
    expect(await verify(token)).toMatchObject({ account: "expiring" });
    now += 1;
    expect(await verify(token)).toBeUndefined();
  });

  it("rejects a revoked token, and accepts another token of its account", async () => {
    const revoked = await issueToken(system.pool, clock, "revoking", HOUR_MS);
    const active = await issueToken(system.pool, clock, "revoking", HOUR_MS);
    expect(await revokeToken(system.pool, clock, revoked.token_id)).toBe("revoking");
    expect(await verify(revoked.token)).toBeUndefined();
    expect(await verify(active.token)).toMatchObject({ account: "revoking" });
    expect(await revokeToken(system.pool, clock, revoked.token_id), "a second time").toBeUndefined();
  });

  it("rejects a text that is no opaque token without a query", async () => {
    const { executor, queries } = counted();
    const verifier = opaqueTokenVerifier(executor, clock);
    const { token } = await issueToken(system.pool, clock, "form", HOUR_MS);
    for (const other of ["", "drs_", token.slice(0, -1), `${token}A`, token.replace("drs_", "DRS_"), `${token}\n`]) {
      expect(await verifier.verify(other)).toBeUndefined();
    }
    expect(queries()).toBe(0);
  });

  it("rejects an unknown token of the right form, and one that differs in its last characters", async () => {
    const { token } = await issueToken(system.pool, clock, "known", HOUR_MS);
    expect(await verify(`drs_${"A".repeat(43)}`)).toBeUndefined();
    expect(await verify(token.slice(0, -2) + (token.endsWith("AA") ? "BB" : "AA"))).toBeUndefined();
  });

  it("looks up many tokens in a few queries, one query at a time, and returns the account of each", async () => {
    const accounts = Array.from({ length: 120 }, (_, index) => `crowd-${index}`);
    const tokens = await Promise.all(
      accounts.map(async (account) => (await issueToken(system.pool, clock, account, HOUR_MS)).token),
    );
    const bad = Array.from({ length: 120 }, (_, index) => `drs_${String(index).padStart(43, "z")}`);
    const { executor, queries } = counted();
    const verifier = opaqueTokenVerifier(executor, clock);
    // Tokens of both kinds in a mixed order, each good one twice.
    const asked = tokens.flatMap((token, index) => [token, bad[index] ?? "", token]);
    const sessions = await Promise.all(asked.map((token) => verifier.verify(token)));
    expect(sessions.map((session) => session?.account)).toEqual(
      accounts.flatMap((account) => [account, undefined, account]),
    );
    expect(queries()).toBeLessThanOrEqual(2);
  });

  it("throws Unavailable when the database can't be reached", async () => {
    const verifier = opaqueTokenVerifier(
      { query: () => Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })) },
      clock,
    );
    await expect(verifier.verify(`drs_${"A".repeat(43)}`)).rejects.toBeInstanceOf(Unavailable);
  });
});

it("the list of tokens has the rows of one account or of all accounts, newest first, without the tokens themselves", async () => {
  const first = await issueToken(system.pool, clock, "listed", HOUR_MS);
  now += 1_000;
  const second = await issueToken(system.pool, clock, "listed", HOUR_MS);
  await revokeToken(system.pool, clock, first.token_id);
  expect(await listTokens(system.pool, "listed")).toEqual([
    {
      token_id: second.token_id,
      account: "listed",
      issued_at: "2026-03-01T12:00:01.000Z",
      expires_at: "2026-03-01T13:00:01.000Z",
      revoked_at: null,
    },
    {
      token_id: first.token_id,
      account: "listed",
      issued_at: "2026-03-01T12:00:00.000Z",
      expires_at: "2026-03-01T13:00:00.000Z",
      revoked_at: "2026-03-01T12:00:01.000Z",
    },
  ]);
  const all = await listTokens(system.pool, undefined);
  expect(all.length).toBeGreaterThan(100);
});
