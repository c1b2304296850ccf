import { expect, it } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import type { Caller } from "../access/identity/caller.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { type Approval, findApprovalOf } from "./approvals.ts";
import { portsOf } from "./ports.ts";

const scene = useTestSystem();

it("if two calls have found the same approval, it is used by one of them, and the other does not begin", async () => {
  const { system } = scene;
  const { pool, clock, approvals } = system;
  const caller: Caller = { person: "asker", actor: "asker (admin token 1)", via: "api", roles: ["privacy"] };
  const operation = { operation: "erase.run", parameters: {}, plan: {}, events: 1, needed: ["operator"] } as const;
  const approvalId = await approvals.request(pool, clock, { ...operation, person: "asker", reason: "request 17" });
  await approvals.decide(pool, clock, { approvalId, person: "approver", roles: ["operator"], decision: "approved" });
  const find = () => findApprovalOf(portsOf(system, system), pool, caller, operation);
  const found = [await find(), await find()];
  const begin = (approval?: Approval) => inTransaction(pool, async (transaction) => approval?.use(transaction, 1));
  const results = await Promise.allSettled(found.map(begin));
  const failed = expect.objectContaining({ code: "approval-needed" }) as unknown;
  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(results).toContainEqual({ status: "rejected", reason: failed });
  const uses = await scene.owner.query(
    "select from audit_entry where operation = 'approval.use' and approval_id = $1",
    [approvalId],
  );
  expect(uses.rowCount).toBe(1);
});
