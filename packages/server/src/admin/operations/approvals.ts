import type { Answer, Role } from "@device-risk-signals/admin-api";
import {
  type ApprovalRow,
  type ApprovedOperation,
  decideApproval,
  findApproval,
  findUsableApproval,
  listApprovals as queryApprovals,
  requestApproval,
  useApproval,
} from "../../approvals/approvals.ts";
import { writeAudit } from "../../audit/audit.ts";
import { OperatorError } from "../../errors/operator-error.ts";
import { agentOf, type Caller } from "../../identity/caller.ts";
import { inTransaction } from "../../postgres/database.ts";
import type { Transaction } from "../../postgres/executor.ts";
import { nextOf, pageOf } from "./list-page.ts";
import type { Operation, OperationCall } from "./operation.ts";
import type { AdminPorts } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { requireRecentSignIn } from "./recent-sign-in.ts";

type Shown = Answer<"readApproval">;
const shown = (row: ApprovalRow): Shown => ({ ...row, needed_roles: row.needed_roles as Role[] });

export const listApprovals: Operation<"listApprovals"> = async ({ ports, input }) => {
  const page = pageOf(input);
  const rows = await queryApprovals(ports.pool, ports.clock, page);
  const next = nextOf(rows, page, ({ requested_at, approval_id }) => [requested_at, approval_id]);
  return { answer: { approvals: rows.map(shown), next }, audit: { detail: { count: rows.length } } };
};

export const readApproval: Operation<"readApproval"> = async ({ ports, input }) => {
  const row = await requireApprovalRow(ports, input.approval_id);
  return { answer: shown(row), audit: { detail: { approval_id: row.approval_id } } };
};

export const approve: Operation<"approve"> = (call) => decide(call, "approved");
export const deny: Operation<"deny"> = (call) => decide(call, "denied");

async function decide(
  { ports, caller, input }: OperationCall<"approve" | "deny">,
  decision: "approved" | "denied",
): Promise<{ readonly answer: Shown }> {
  const { pool, clock } = ports;
  const { approval_id: approvalId } = input;
  // guard(drop): a token is no person
  // fails: packages/server/src/admin/routes.test.ts › decides about no approval
  if (caller.session === undefined) {
    throw new AdminError("permission-missing", { detail: "Only a person who signed in decides, not an admin token." });
  }
  requireRecentSignIn(caller, clock);
  await requireApprovalRow(ports, approvalId);
  const { audit } = await ports.keys();
  await inTransaction(pool, async (transaction) => {
    const { person, roles } = caller;
    if (!(await decideApproval(transaction, clock, { approvalId, person, roles, decision }))) {
      throw new OperatorError(
        "state-conflict",
        "The approval does not wait for this person: it is the person's own request, needs another role, or is decided or expired.",
      );
    }
    const operation = decision === "approved" ? "approval.approve" : "approval.deny";
    const detail = { approval_id: approvalId };
    await writeAudit(transaction, audit, { ...agentOf(caller), operation, outcome: "done", approvalId, detail });
  });
  return { answer: shown(await requireApprovalRow(ports, approvalId)) };
}

async function requireApprovalRow({ pool, clock }: AdminPorts, id: string): Promise<ApprovalRow> {
  const row = await findApproval(pool, clock, id);
  if (row) return row;
  throw new OperatorError("not-found", `There is no approval ${id}.`);
}

/** The approval that an operation needs, before and when it begins. */
export interface Approval {
  /** For the audit entry. */
  readonly id: string;
  /** Uses it up. @param transaction the one in which the operation begins. @throws approval-needed */
  readonly use: (transaction: Transaction) => Promise<void>;
}

/**
 * Requires the approval of an operation. Commands on the database need none: their login decides.
 * @returns `undefined` where none is needed.
 * @throws approval-needed that names the approval to wait for.
 */
export async function requireApproval(
  { pool, clock, config, keys }: AdminPorts,
  caller: Caller,
  operation: ApprovedOperation,
  reason: string,
): Promise<Approval | undefined> {
  if (config.service.approvals === "off" || caller.via === "direct") return undefined;
  const { person } = caller;
  const found = await findUsableApproval(pool, clock, person, operation);
  if (found !== undefined) {
    const use = async (transaction: Transaction): Promise<void> => {
      // guard(false): an approval is used by one operation
      // fails: e2e/commands/remote-governance.test.ts › raced
      if ((await useApproval(transaction, clock, person, operation)) === undefined) throw usedMeanwhile(found);
    };
    return { id: found, use };
  }
  const { audit } = await keys();
  const id = await inTransaction(pool, async (transaction) => {
    const approvalId = await requestApproval(transaction, clock, { ...operation, person, reason });
    const detail = { of: operation.operation, plan: operation.plan };
    const entry = { ...agentOf(caller), operation: "approval.request", outcome: "done", reason, approvalId, detail };
    await writeAudit(transaction, audit, entry);
    return approvalId;
  });
  throw new OperatorError(
    "approval-needed",
    `Approval ${id} by ${operation.needed.join(" and ")} is needed: repeat the command when drs approval show says "approved".`,
  );
}

const usedMeanwhile = (id: string): OperatorError =>
  new OperatorError(
    "approval-needed",
    `Another call has used approval ${id}: repeat the command to ask for a new one.`,
  );
