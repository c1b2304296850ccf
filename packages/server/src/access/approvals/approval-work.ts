import type { Work } from "../../base/work.ts";
import type { Clock } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import type { ApprovalRow, Approvals } from "./approvals.ts";

/** Maximum number of approvals that are read, because a login of the database can insert any. */
const READ = { limit: 200 };

/** Approvals that wait for a decision, or that were given and not used, oldest first. Parameters are not shown. */
export async function listApprovalWork(
  approvals: Approvals,
  executor: Executor,
  clock: Clock,
): Promise<readonly Work[]> {
  const { rows } = await approvals.list(executor, clock, READ, { isOpen: true });
  return rows.flatMap((row) => workOf(row)).toReversed();
}

function workOf(row: ApprovalRow): readonly Work[] {
  // guard: an approval that a login of the database wrote is no work
  if (row.state === "changed") return [];
  return [
    {
      kind: "approval",
      id: row.approval_id,
      state: "waiting",
      done: row.approved_by.length,
      of: row.any_role ? 1 : row.needed_roles.length,
      unit: "decisions",
      started_at: row.requested_at,
      started_by: row.requested_by,
      waits_for: waitsFor(row),
    },
  ];
}

const waitsFor = ({ approval_id, operation, state, requested_by, needed_roles, any_role }: ApprovalRow): string =>
  state === "approved"
    ? `${requested_by}, who repeats ${operation} within an hour of the decision`
    : `a decision about ${operation} by ${needed_roles.join(any_role ? " or " : " and ")}: drs approval show ${approval_id}`;
