import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { inTransaction } from "../../store/postgres/database.ts";
import type { ApprovedOperation, Asker, Decision } from "./approvals.ts";

const scene = useTestSystem();
const HOUR_MS = 3_600_000;

let made = 0;
/** An operation for which no other test asks for an approval. */
const operation = (change: Partial<ApprovedOperation> = {}): ApprovedOperation => ({
  operation: "erase.run",
  parameters: { account: `customer-${++made}` },
  plan: { events: 2_000 },
  events: 2_000,
  needed: ["operator"],
  ...change,
});
const clockAt = (ms: number) => ({ now: () => scene.system.clock.now() + ms });
const ask = (of: ApprovedOperation, person = "asker", at = 0) =>
  scene.system.approvals.request(scene.system.pool, clockAt(at), { ...of, person, reason: "request 17" });
const decide = (approvalId: string, change: Partial<Decision> = {}, at = 0) =>
  scene.system.approvals.decide(scene.system.pool, clockAt(at), {
    approvalId,
    person: "approver",
    roles: ["operator"],
    decision: "approved",
    ...change,
  });
const ASKER: Asker = { person: "asker" };
/** Begins the operation if it may use the approval. */
async function use(approvalId: string, of: ApprovedOperation, asker: Asker = ASKER, at = 0): Promise<boolean> {
  const notUsed = new Error("the operation does not begin");
  const begun = inTransaction(scene.system.pool, async (transaction) => {
    if (!(await scene.system.approvals.use(transaction, clockAt(at), asker, { ...of, approvalId }))) throw notUsed;
    return true;
  });
  return begun.catch((error: unknown) => {
    if (error !== notUsed) throw error;
    return false;
  });
}
const stateOf = async (id: string, at = 0) =>
  (await scene.system.approvals.find(scene.system.pool, clockAt(at), id))?.state;

it("an approval is asked for, given and used once", async () => {
  const wanted = operation();
  const id = await ask(wanted);
  expect(await ask(wanted), "asked again").toBe(id);
  expect(await stateOf(id)).toBe("waiting");
  expect(await use(id, wanted)).toBe(false);
  expect(await decide(id)).toBe(true);
  expect(await stateOf(id)).toBe("approved");
  const uses = await Promise.all([0, 1, 2].map(() => use(id, wanted)));
  expect(uses.filter((isUsed) => isUsed)).toEqual([true]);
  expect(await stateOf(id)).toBe("used");
});

it("an approval is not given by a person to their own request, nor without the needed role", async () => {
  const id = await ask(operation());
  expect(await decide(id, { person: "asker" })).toBe(false);
  expect(await decide(id, { roles: ["analyst", "privacy"] })).toBe(false);
  expect(await stateOf(id)).toBe("waiting");
});

it("an approval is not given by a person to a request of a token that the approver obtained for another person", async () => {
  const { approvals, pool, clock } = scene.system;
  const request = { ...operation(), person: "asker", reason: "request 17" };
  const id = await approvals.request(pool, clock, { ...request, obtainedBy: "approver" });
  expect(await approvals.request(pool, clock, request), "of the person without the token").not.toBe(id);
  expect(await decide(id)).toBe(false);
  expect(await decide(id, { person: "second" })).toBe(true);
});

it("an approval by a person who obtained a token for the asker can't be found, used or in use with that token", async () => {
  const { approvals, pool } = scene.system;
  const token: Asker = { person: "asker", obtainedBy: "approver" };
  const wanted = operation();
  const id = await ask(wanted);
  await decide(id);
  const found = (asker: Asker) => approvals.findUsable(pool, clockAt(0), asker, wanted);
  expect([await found(token), await use(id, wanted, token)]).toEqual([undefined, false]);
  expect(await found({ ...token, obtainedBy: "second" })).toBe(id);
  expect(await use(id, wanted)).toBe(true);
  const inUse = (asker: Asker) => approvals.findInUse(pool, clockAt(0), asker, wanted);
  expect([await inUse(token), await inUse(ASKER)]).toEqual([[], [id]]);
});

it("an approval that needs two roles is not given by one person who has two roles", async () => {
  const wanted = operation({ needed: ["operator", "privacy"] });
  const id = await ask(wanted);
  expect(await decide(id, { roles: ["operator", "privacy"] })).toBe(true);
  expect(await decide(id, { roles: ["operator", "privacy"] })).toBe(false);
  expect(await use(id, wanted)).toBe(false);
  expect(await decide(id, { person: "second", roles: ["operator", "privacy"] })).toBe(true);
  expect(await use(id, wanted)).toBe(true);
});

it("an approval for which one of two roles is enough is given by one person with either role", async () => {
  for (const role of ["operator", "privacy"] as const) {
    const wanted = operation({ needed: ["operator", "privacy"], anyRole: true });
    const id = await ask(wanted);
    expect(await decide(id, { roles: ["analyst"] })).toBe(false);
    expect(await decide(id, { person: "asker", roles: [role] })).toBe(false);
    expect(await decide(id, { roles: [role] })).toBe(true);
    expect(await decide(id, { person: "second", roles: ["operator", "privacy"], decision: "denied" })).toBe(false);
    expect(await use(id, wanted)).toBe(true);
  }
});

it("changed parameters, or many more events, need a new approval", async () => {
  const wanted = operation();
  const id = await ask(wanted);
  await decide(id);
  expect(await use(id, { ...wanted, parameters: { account: "another" } })).toBe(false);
  expect(await use(id, { ...wanted, events: 2_201 })).toBe(false);
  expect(await use(id, wanted, { person: "another person" })).toBe(false);
  // Events that came in the meantime change the plan, but the approval stays valid.
  expect(await use(id, { ...wanted, plan: { events: 2_200 }, events: 2_200 })).toBe(true);
});

it("an operation uses the approval that it names, and not another usable one", async () => {
  const wanted = operation();
  const id = await ask(wanted);
  await decide(id);
  const other = await ask(wanted);
  await decide(other);
  expect(await use(other, wanted)).toBe(true);
  expect([await stateOf(id), await stateOf(other)]).toEqual(["approved", "used"]);
});

it("an approval is not asked for if the operation is too large", async () => {
  const parameters = (length: number) => ({ account: "a".repeat(length) });
  await ask(operation({ parameters: parameters(131_000) }));
  const failed = ask(operation({ parameters: parameters(131_072) }));
  await expect(failed).rejects.toMatchObject({ code: "state-conflict" });
});

it("an approval is not used by an operation that does not begin", async () => {
  const wanted = operation();
  const id = await ask(wanted);
  await decide(id);
  const failed = inTransaction(scene.system.pool, async (transaction) => {
    expect(await scene.system.approvals.use(transaction, clockAt(0), ASKER, { ...wanted, approvalId: id })).toBe(true);
    throw new Error("the operation does not begin");
  });
  await expect(failed).rejects.toThrow("does not begin");
  expect(await use(id, wanted)).toBe(true);
});

it("an approval of several uses is valid for a day after the first use, for exactly its number of events", async () => {
  const wanted = operation({ events: 25, isExact: true });
  const inUse = (at = 0) => scene.system.approvals.findInUse(scene.system.pool, clockAt(at), ASKER, wanted);
  const id = await ask(wanted);
  await decide(id);
  expect(await use(id, { ...wanted, events: 26 })).toBe(false);
  expect(await inUse()).toEqual([]);
  expect(await use(id, wanted)).toBe(true);
  expect([await inUse(), await inUse(23 * HOUR_MS)]).toEqual([[id], [id]]);
  expect(await inUse(25 * HOUR_MS)).toEqual([]);
  expect(
    await scene.system.approvals.findInUse(scene.system.pool, clockAt(0), { person: "another person" }, wanted),
  ).toEqual([]);
});

it("an approval is given within a day and used within an hour", async () => {
  const late = await ask(operation());
  expect(await decide(late, {}, 25 * HOUR_MS)).toBe(false);
  expect(await stateOf(late, 25 * HOUR_MS)).toBe("expired");
  const wanted = operation();
  const id = await ask(wanted);
  await decide(id);
  expect(await use(id, wanted, ASKER, 2 * HOUR_MS)).toBe(false);
  expect(await stateOf(id, 2 * HOUR_MS)).toBe("expired");
});

it("an approval is decided once, and a denial is final", async () => {
  const wanted = operation();
  const id = await ask(wanted);
  expect(await decide(id, { decision: "denied" })).toBe(true);
  expect(await decide(id, { person: "second" })).toBe(false);
  const both = await ask(operation({ needed: ["operator", "privacy"] }));
  expect(await decide(both, { decision: "denied" })).toBe(true);
  expect(await decide(both, { person: "second", roles: ["privacy"] }), "for the other role").toBe(false);
  expect(await use(id, wanted)).toBe(false);
  const { rows } = await scene.system.approvals.list(scene.system.pool, scene.system.clock);
  expect(rows).toContainEqual(expect.objectContaining({ approval_id: id, state: "denied", denied_by: "approver" }));
  expect(await ask(wanted), "a new request").not.toBe(id);
});

describe("what a login of the database writes", () => {
  /** Runs SQL as the login of the admin API. */
  async function asAdmin(text: string, ...values: readonly unknown[]): Promise<void> {
    await scene.owner.query("set role drs_admin");
    try {
      await scene.owner.query(text, [...values]);
    } finally {
      await scene.owner.query("reset role");
    }
  }
  const FORGE = `insert into approval_decision (approval_id, person, role, decision, decided_at, mac)
    select $1, 'approver', 'operator', 'approved', transaction_time(), mac from approval_decision limit 1`;
  const usable = (of: ApprovedOperation) =>
    scene.system.approvals.findUsable(scene.system.pool, scene.system.clock, ASKER, of);
  const changed = (of: ApprovedOperation) =>
    scene.system.approvals.findChanged(scene.system.pool, scene.system.clock, ASKER, of);

  it("never counts as a decision, is reported by id, and does not prevent a new request", async () => {
    await decide(await ask(operation()));
    const wanted = operation({ events: 25, isExact: true });
    const id = await ask(wanted);
    await asAdmin(FORGE, id);
    expect(await usable(wanted)).toBeUndefined();
    expect(await changed(wanted)).toEqual([id]);
    expect(await use(id, wanted)).toBe(false);
    expect(await scene.system.approvals.find(scene.system.pool, scene.system.clock, id)).toMatchObject({
      state: "changed",
      approved_by: [],
    });
    const again = await ask(wanted);
    expect(again).not.toBe(id);
    expect(await decide(again)).toBe(true);
    expect(await usable(wanted)).toBe(again);
    expect(await changed(wanted)).toEqual([id]);
    expect(await use(again, wanted)).toBe(true);
  });

  it("never counts as a request for another person, or with another plan", async () => {
    const wanted = operation();
    const id = await ask(wanted, "other");
    const columns = `operation, parameters, plan, max_events, digest, needed_roles, any_role, reason`;
    const forged = randomUUID();
    await asAdmin(
      `insert into approval (approval_id, ${columns}, requested_by, requested_at, expires_at, mac)
        select $1, ${columns}, 'asker', requested_at, expires_at, mac from approval where approval_id = $2`,
      forged,
      id,
    );
    expect(await stateOf(forged)).toBe("changed");
    expect(await decide(forged)).toBe(false);
    expect(await ask(wanted)).not.toBe(forged);
  });

  it.each([
    ["has a number that is larger than a double", `'{"account": 1e999}'`],
    ["is nested too deeply", "(repeat('[', 4000) || repeat(']', 4000))::jsonb"],
  ])("is listed as changed, also if it %s", async (_, parameters) => {
    const { pool, clock, approvals } = scene.system;
    const id = await ask(operation());
    const columns = `operation, plan, max_events, digest, needed_roles, reason, requested_by, requested_at, expires_at, mac`;
    const forged = randomUUID();
    await asAdmin(
      `insert into approval (approval_id, parameters, ${columns})
        select $1, ${parameters}, ${columns} from approval where approval_id = $2`,
      forged,
      id,
    );
    expect((await approvals.list(pool, clock)).rows).toContainEqual(
      expect.objectContaining({ approval_id: forged, state: "changed", parameters: null, plan: null }),
    );
  });

  it.each([
    ["requested_at", "'infinity'"],
    ["requested_at", "'-infinity'"],
    ["requested_at", "'10000-01-01Z'"],
    ["requested_at", "'0044-03-15 BC'"],
    ["requested_at", "requested_at + interval '1 microsecond'"],
    ["expires_at", "'10000-01-01Z'"],
    ["expires_at", "'0044-03-15 BC'"],
    ["used_at", "'10000-01-01Z'"],
    ["used_at", "'0044-03-15 BC'"],
  ])("has no time that a page of the list can't end with or show: %s = %s", async (column, time) => {
    const columns = "operation, parameters, plan, max_events, digest, needed_roles, reason, requested_by, mac";
    const times = Object.entries({
      requested_at: "requested_at",
      expires_at: "expires_at",
      used_at: "null",
      [column]: time,
    });
    const forge = `insert into approval (approval_id, ${times.map(([name]) => name).join(", ")}, ${columns})
      select gen_random_uuid(), ${times.map(([, value]) => `(${value})::timestamptz`).join(", ")}, ${columns}
        from approval where approval_id = $1`;
    await expect(asAdmin(forge, await ask(operation()))).rejects.toMatchObject({ code: "23514" });
  });

  it("never puts an approval into use that no person gave, or that was given long before", async () => {
    const inUse = (of: ApprovedOperation, at: number) =>
      scene.system.approvals.findInUse(scene.system.pool, clockAt(at), ASKER, of);
    const take = "update approval set used_at = transaction_time() + $2::interval where approval_id = $1";
    const undecided = operation();
    await asAdmin(take, await ask(undecided), "1 second");
    expect(await inUse(undecided, 2_000)).toEqual([]);
    const late = operation();
    const id = await ask(late);
    await decide(id);
    await asAdmin(take, id, "2 days");
    expect(await inUse(late, 49 * HOUR_MS)).toEqual([]);
  });

  // This test comes before the tests that insert many rows, because the count has a limit.
  it("is counted for drs doctor", async () => {
    const { approvals, clock, pool } = scene.system;
    const before = await approvals.countChanged(pool, clock);
    await asAdmin(FORGE, await ask(operation()));
    expect(await approvals.countChanged(pool, clock)).toBe(before + 1);
    const columns =
      "operation, parameters, plan, max_events, digest, needed_roles, reason, requested_by, expires_at, mac";
    await asAdmin(
      `insert into approval (approval_id, requested_at, ${columns})
        select gen_random_uuid(), requested_at - interval '40 days', ${columns} from approval where approval_id = $1`,
      await ask(operation()),
    );
    expect(await approvals.countChanged(pool, clock), "an old time").toBe(before + 2);
  });

  describe("300 times", () => {
    const columns = `operation, parameters, plan, max_events, digest, needed_roles, any_role, reason, requested_by, expires_at`;
    /** Inserts 300 copies of a request with earlier times, each with a forged approval. */
    const flood = (id: string, usedAt: string | null = null) =>
      asAdmin(
        `with forged as (
          insert into approval (approval_id, requested_at, used_at, ${columns}, mac)
            select gen_random_uuid(), requested_at - number * interval '1 millisecond', $2, ${columns}, mac
              from approval, generate_series(1, 300) as number where approval_id = $1
            returning approval_id)
        insert into approval_decision (approval_id, person, role, decision, decided_at, mac)
          select approval_id, 'approver', 'operator', 'approved', transaction_time(), sha256('') from forged`,
        id,
        usedAt,
      );

    it("does not hide an approval that a person gave, or that is in use", async () => {
      const wanted = operation();
      const id = await ask(wanted);
      await decide(id);
      await flood(id);
      expect(await usable(wanted)).toBe(id);
      expect(await use(id, wanted)).toBe(true);
      const used = await scene.owner.query<{ at: string }>(
        "select (used_at - interval '1 second')::text as at from approval where approval_id = $1",
        [id],
      );
      await flood(id, used.rows[0]?.at);
      expect(await scene.system.approvals.findInUse(scene.system.pool, clockAt(1_000), ASKER, wanted)).toEqual([id]);
    });

    it("does not hide a request that waits", async () => {
      const wanted = operation();
      const id = await ask(wanted);
      await asAdmin(
        `insert into approval (approval_id, requested_at, ${columns}, mac)
          select gen_random_uuid(), requested_at - number * interval '1 millisecond', ${columns}, mac
            from approval, generate_series(1, 300) as number where approval_id = $1`,
        id,
      );
      expect(await ask(wanted)).toBe(id);
    });

    it("is not read by a search, and only the latest hundred are reported by id", async () => {
      const wanted = operation();
      const id = await ask(wanted);
      await decide(id);
      await flood(id);
      let read = 0;
      const executor = {
        query: async (text: string, values?: readonly unknown[]) => {
          const result = await scene.system.pool.query<never>(text, [...(values ?? [])]);
          read += result.rows.length;
          return result;
        },
      };
      expect(await scene.system.approvals.findUsable(executor, scene.system.clock, ASKER, wanted)).toBe(id);
      expect(read).toBe(2);
      expect(await changed(wanted)).toHaveLength(99);
    });
  });
});
