/** Tests of many or large approvals that a login of the database inserts. */
import { createSecretKey } from "node:crypto";
import { ROLE_NAMES } from "@device-risk-signals/admin-api";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { RowSigner } from "../../store/crypto/row-signer.ts";
import { ApprovalSigner } from "./approval-signer.ts";
import { Approvals } from "./approvals.ts";

const scene = useTestSystem();
let approvalId: string;

beforeAll(async () => {
  const { approvals, pool, clock } = scene.system;
  const operation = { operation: "erase.run", parameters: {}, plan: {}, events: 2_000, needed: ["operator"] } as const;
  approvalId = await approvals.request(pool, clock, { ...operation, person: "asker", reason: "request 17" });
});

/** Runs SQL as the login of the admin API. The first parameter is the id of an approval. */
async function asAdmin(text: string): Promise<void> {
  await scene.owner.query("set role drs_admin");
  try {
    await scene.owner.query(text, [approvalId]);
  } finally {
    await scene.owner.query("reset role");
  }
}

const VALUES = {
  operation: "operation",
  parameters: "parameters",
  plan: "plan",
  digest: "digest",
  needed_roles: "needed_roles",
  reason: "reason",
  requested_by: "requested_by",
  obtained_by: "obtained_by",
};
/** Inserts copies of the approval that was asked for. @param changed SQL of changed columns. */
const forge = (changed: Partial<typeof VALUES>, count = 1): Promise<void> =>
  asAdmin(
    `insert into approval (approval_id, ${Object.keys(VALUES).join(", ")}, max_events, requested_at, expires_at, mac)
      select gen_random_uuid(), ${Object.values({ ...VALUES, ...changed }).join(", ")}, max_events, requested_at, expires_at, mac
        from approval, generate_series(1, ${count}) where approval_id = $1`,
  );
const decide = (role: string, person: string): Promise<void> =>
  asAdmin(
    `insert into approval_decision (approval_id, role, person, decision, decided_at, mac)
      values ($1, ${role}, ${person}, 'approved', transaction_time(), sha256(''))`,
  );

describe("what a login of the database writes as approvals", () => {
  it.each([
    { parameters: "to_jsonb(repeat('x', 200000))" },
    { plan: "to_jsonb(repeat('x', 200000))" },
    { reason: "repeat('x', 1001)" },
    { operation: "repeat('x', 65)" },
    { digest: "decode(repeat('00', 33), 'hex')" },
    { requested_by: "repeat('x', 129)" },
    { obtained_by: "repeat('x', 129)" },
    { needed_roles: "array_fill('operator'::text, '{6}')" },
    { needed_roles: "array[repeat('x', 200000)]" },
  ])("is not larger than what the admin API writes: %o", async (changed) => {
    await expect(forge(changed)).rejects.toMatchObject({ code: "23514" });
  });

  it("does not make an answer larger by many decisions, or by long names in them", async () => {
    await expect(decide("'another'", "'ann'")).rejects.toMatchObject({ code: "23514" });
    await expect(decide("'operator'", "repeat('x', 129)")).rejects.toMatchObject({ code: "23514" });
  });

  it("ends a page of the list early if the page takes too long, and the next page has the rest", async () => {
    await forge({}, 250);
    const { pool, clock, approvals } = scene.system;
    const complete = await approvals.list(pool, clock);
    expect([complete.rows.length, complete.isLast]).toEqual([251, true]);
    const slow = new Approvals(new ApprovalSigner(new RowSigner(createSecretKey(Buffer.alloc(32)))), 0);
    const ids: string[] = [];
    for (let after: { at: string; ids: string[] } | undefined; ;) {
      const { rows, isLast } = await slow.list(pool, clock, { limit: 1_000, ...(after && { after }) });
      expect(rows.length).toBeLessThanOrEqual(100);
      ids.push(...rows.map(({ approval_id }) => approval_id));
      const last = rows.at(-1);
      if (!last || isLast) break;
      after = { at: last.requested_at, ids: [last.approval_id] };
    }
    expect(ids).toEqual(complete.rows.map(({ approval_id }) => approval_id));
  });

  it("is counted for drs doctor up to about a thousand", async () => {
    const { pool, clock, approvals } = scene.system;
    const before = await approvals.countChanged(pool, clock);
    await forge({}, 120);
    expect(await approvals.countChanged(pool, clock)).toBe(before + 120);
    await forge({}, 2_000);
    const counted = await approvals.countChanged(pool, clock);
    expect(counted).toBeGreaterThanOrEqual(1_000);
    expect(counted).toBeLessThanOrEqual(1_100);
  });
});

it("the roles that the tables of approvals accept are those of the admin API", async () => {
  const { rows } = await scene.owner.query<{ definition: string }>(
    `select replace(pg_get_constraintdef(oid), '::text', '') as definition from pg_constraint
      where contype = 'c' and conrelid in ('approval'::regclass, 'approval_decision'::regclass)`,
  );
  const accepted = rows.flatMap(({ definition }) => {
    const [list] = /operator[a-z,' ]*/.exec(definition) ?? [];
    return list === undefined ? [] : [list.match(/[a-z]+/g)];
  });
  expect(accepted).toEqual([ROLE_NAMES, ROLE_NAMES]);
});
