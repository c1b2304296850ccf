import type { Answer, Role, RouteId } from "@device-risk-signals/admin-api";
import type { ApprovalRow, ApprovedOperation, Asker } from "../access/approvals/approvals.ts";
import { personsOfActor } from "../audit/actor-persons.ts";
import { writeAudit } from "../audit/audit.ts";
import { countRemovedEvents, type Openers, REMOVAL_OPERATION } from "../audit/opened-events.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { findHoldersOfObtainedTokens } from "../access/identity/admin-tokens.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import type { Clock } from "../base/ports.ts";
import { type Lock, lockTransactionNamed } from "../store/postgres/advisory-locks.ts";
import { inTransaction } from "../store/postgres/database.ts";
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import { reasonOf } from "./input.ts";
import { cursorOf, pageOf } from "./list-page.ts";
import type { Operation, OperationCall } from "./operation.ts";
import type { Ports } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { requireRecentSignIn } from "./recent-sign-in.ts";

/** What an operation uses that may need an approval. */
export type ApprovalPorts = "clock" | "config" | "keys.approvals" | "keys.audit" | "pool";

type ReadingPorts = "clock" | "keys.approvals" | "pool";

type Shown = Answer<"readApproval">;
const shown = (row: ApprovalRow, caller: Caller): Shown => ({
  ...row,
  needed_roles: row.needed_roles as Role[],
  reason: seesReason(row, caller) ? row.reason : null,
});

function seesReason(row: ApprovalRow, { via, person, roles }: Caller): boolean {
  const isAsker = row.requested_by === person || row.obtained_by === person;
  // guard(true): a reason, which may name people, is not shown to roles that do not need it
  return via === "direct" || isAsker || roles.some((role) => role === "auditor" || row.needed_roles.includes(role));
}

export const listApprovals: Operation<"listApprovals", ReadingPorts> = async ({ ports, caller, scope, input }) => {
  const page = pageOf(input);
  const { approvals } = await ports.keys();
  const person = scope === "own" ? caller.person : undefined;
  const { rows, isLast } = await approvals.list(ports.pool, ports.clock, page, { person });
  const last = rows.at(-1);
  const next = isLast || !last ? null : cursorOf([last.requested_at, last.approval_id]);
  return {
    answer: { approvals: rows.map((row) => shown(row, caller)), next },
    audit: { detail: { count: rows.length } },
  };
};

export const readApproval: Operation<"readApproval", ReadingPorts> = async (call) => {
  const row = await requireVisibleRow(call);
  return { answer: shown(row, call.caller), audit: { detail: { approval_id: row.approval_id } } };
};

async function requireVisibleRow({
  ports,
  caller,
  scope,
  input: { approval_id: id },
}: OperationCall<"readApproval" | "withdrawApproval", ReadingPorts>): Promise<ApprovalRow> {
  const row = await requireApprovalRow(ports, id);
  // guard(false): a role that reads its own approvals finds no other
  if (scope === "own" && row.requested_by !== caller.person) throw noApproval(id);
  return row;
}

type DecisionPorts = ReadingPorts | "keys.audit";

export const approve: Operation<"approve", "config" | DecisionPorts> = (call) => decide(call, "approved");
export const deny: Operation<"deny", "config" | DecisionPorts> = (call) => decide(call, "denied");

export const withdrawApproval: Operation<"withdrawApproval", DecisionPorts> = async (call) => {
  const { ports, caller } = call;
  const { approval_id: approvalId } = await requireVisibleRow(call);
  const { audit, approvals } = await ports.keys();
  await inTransaction(ports.pool, async (transaction) => {
    if (!(await approvals.withdraw(transaction, ports.clock, approvalId, caller.person))) throw notWithdrawn();
    const entry = { operation: "approval.withdraw", outcome: "done", approvalId, detail: { approval_id: approvalId } };
    await writeAudit(transaction, audit, { ...agentOf(caller), ...entry });
  });
  return { answer: shown(await requireApprovalRow(ports, approvalId), caller) };
};

const notWithdrawn = (): OperatorError =>
  new OperatorError(
    "state-conflict",
    "The approval can't be withdrawn: another person asked for it, or it is decided or expired. See drs approval show.",
  );

async function decide(
  { ports, caller, input }: OperationCall<"approve" | "deny", "config" | DecisionPorts>,
  decision: "approved" | "denied",
): Promise<{ readonly answer: Shown }> {
  const { pool, clock } = ports;
  const { approval_id: approvalId } = input;
  const reason = input.reason === undefined ? undefined : reasonOf(input.reason, ports.config);
  const { audit, approvals } = await ports.keys();
  const operation = decision === "approved" ? "approval.approve" : "approval.deny";
  const detail = { approval_id: approvalId };
  const entry = { ...agentOf(caller), operation, approvalId, detail, ...(reason !== undefined && { reason }) };
  await requirePerson(caller, clock).catch(async (error: unknown) => {
    await writeAudit(pool, audit, { ...entry, outcome: "denied" });
    if (error instanceof AdminError) error.isAudited = true;
    throw error;
  });
  const { state } = await requireApprovalRow(ports, approvalId);
  const wasCounted = await inTransaction(pool, async (transaction) => {
    const { person, roles } = caller;
    const isCounted = await approvals.decide(transaction, clock, { approvalId, person, roles, decision });
    await writeAudit(transaction, audit, { ...entry, outcome: isCounted ? "done" : "denied" });
    return isCounted;
  });
  if (!wasCounted && state === "changed") throw new OperatorError("approval-changed", notSigned(approvalId).trim());
  if (!wasCounted) {
    throw new OperatorError(
      "state-conflict",
      "The approval does not wait for this person: it is the person's own request, needs another role, or is decided or expired.",
    );
  }
  return { answer: shown(await requireApprovalRow(ports, approvalId), caller) };
}

/** @throws AdminError permission-missing, step-up-required */
async function requirePerson(caller: Caller, clock: Clock): Promise<void> {
  // guard(drop): a token is no person
  if (caller.session === undefined) {
    throw new AdminError("permission-missing", { detail: "Only a person who signed in decides, not an admin token." });
  }
  requireRecentSignIn(caller, clock);
}

async function requireApprovalRow({ pool, clock, keys }: Ports<ReadingPorts>, id: string): Promise<ApprovalRow> {
  const row = await (await keys()).approvals.find(pool, clock, id);
  if (row) return row;
  throw noApproval(id);
}

const noApproval = (id: string): OperatorError => new OperatorError("not-found", `There is no approval ${id}.`);

/** An approval that the operation may use, but has not used yet. */
export interface Approval {
  /** For the audit entry. */
  readonly id: string;
  /**
   * Uses the approval. @param transaction the transaction in which the operation begins. @param events the number of
   * events that the operation affects in this transaction. @throws approval-needed
   */
  readonly use: (transaction: Transaction, events: number) => Promise<void>;
}

/**
 * Whether operations of the caller may need approvals. An operation of a command on the database needs none, because
 * the command's login allows it.
 */
export const areApprovalsNeeded = ({ config }: Ports<"config">, { via }: Caller): boolean =>
  config.service.approvals !== "off" && via !== "direct";

/**
 * Requires the approval of an operation.
 * @returns `undefined` if the operation needs no approval.
 * @throws approval-needed; its message names the approval to wait for.
 */
export async function requireApproval(
  ports: Ports<ApprovalPorts>,
  caller: Caller,
  operation: ApprovedOperation,
  reason: string,
): Promise<Approval | undefined> {
  if (!areApprovalsNeeded(ports, caller)) return undefined;
  return (
    (await findApprovalOf(ports, ports.pool, caller, operation)) ?? askForApproval(ports, caller, operation, reason)
  );
}

/**
 * Requires an approval by the role privacy if the caller has the permission of the operation only "with approval".
 * @returns `undefined` if the operation needs no approval.
 * @throws approval-needed
 */
export async function approveByPrivacy(
  { ports, caller, scope }: Pick<OperationCall<RouteId, ApprovalPorts>, "ports" | "caller" | "scope">,
  operation: Omit<ApprovedOperation, "needed">,
  reason: string,
): Promise<Approval | undefined> {
  // guard(true): an operation that a role may do only with an approval waits for the approval
  if (scope !== "with-approval") return undefined;
  return requireApproval(ports, caller, { ...operation, needed: ["privacy"] }, reason);
}

/**
 * The caller, and the person who obtained the caller's admin token. Neither can be the second person of an approval.
 */
export function askerOf({ person, actor }: Caller): Asker {
  const [, obtainedBy] = personsOfActor(actor);
  return { person, obtainedBy };
}

/** The people whose acts count towards the limits of the caller. */
export async function openersOf(executor: Executor, { actor }: Caller): Promise<Openers> {
  const persons = personsOfActor(actor);
  return { persons, tokenPersons: await findHoldersOfObtainedTokens(executor, persons) };
}

/** Until the transaction ends, other transactions with this lock for a person of the caller wait. */
export async function lockPersons(transaction: Transaction, lock: Lock, { actor }: Caller): Promise<void> {
  for (const person of [...personsOfActor(actor)].sort()) await lockTransactionNamed(transaction, lock, person);
}

/** The approval that the caller could use now; `undefined` if there is none. */
export async function findApprovalOf(
  ports: Ports<"clock" | "keys.approvals" | "keys.audit">,
  executor: Executor,
  caller: Caller,
  operation: ApprovedOperation,
): Promise<Approval | undefined> {
  const { clock } = ports;
  const asker = askerOf(caller);
  const { audit, approvals } = await ports.keys();
  const usableId = await approvals.findUsable(executor, clock, asker, operation);
  if (usableId === undefined) return undefined;
  const use = async (transaction: Transaction, events: number): Promise<void> => {
    const used = await approvals.use(transaction, clock, asker, { ...operation, events, approvalId: usableId });
    // guard(false): an approval is used by one operation
    if (!used) throw notUsable(usableId);
    const detail = { of: operation.operation, events };
    const entry = { ...agentOf(caller), operation: "approval.use", outcome: "done", approvalId: usableId, detail };
    await writeAudit(transaction, audit, entry);
  };
  return { id: usableId, use };
}

/** @throws approval-needed; its message names the approval to wait for. */
export async function askForApproval(
  ports: Ports<DecisionPorts>,
  caller: Caller,
  operation: ApprovedOperation,
  reason: string,
): Promise<never> {
  const { pool, clock } = ports;
  const asker = askerOf(caller);
  const { audit, approvals } = await ports.keys();
  const changed = await approvals.findChanged(pool, clock, asker, operation);
  const id = await inTransaction(pool, async (transaction) => {
    for (const approvalId of changed) {
      const refused = {
        operation: "approval.use",
        outcome: "changed",
        approvalId,
        detail: { of: operation.operation },
      };
      await writeAudit(transaction, audit, { ...agentOf(caller), ...refused });
    }
    // guard: parallel requests of a person do not pass the limit together
    await lockTransactionNamed(transaction, LOCKS.waitingApprovals, caller.person);
    const approvalId = await approvals.request(transaction, clock, { ...operation, ...asker, reason });
    const detail = { of: operation.operation, plan: operation.plan };
    const entry = { ...agentOf(caller), operation: "approval.request", outcome: "done", reason, approvalId, detail };
    await writeAudit(transaction, audit, entry);
    return approvalId;
  });
  throw new OperatorError(
    "approval-needed",
    `${changed.map(notSigned).join("")}Approval ${id} by ${operation.needed.join(operation.anyRole ? " or " : " and ")} is needed: repeat the command when drs approval show says "approved".`,
    { detail: { approvalId: id } },
  );
}

/** The result of `approveEvents`: the approval, if the operation affects so many events that it needs one. */
export interface EventsApproval {
  /** The id of that approval, which a second person has given. */
  readonly id?: string;
  /** Called in the transaction in which the operation begins, with the number of its events. @throws approval-needed */
  readonly confirm: (transaction: Transaction, events: number) => Promise<void>;
}

/** An operator or another person with the role privacy approves. */
export const OPERATOR_OR_PRIVACY = { needed: ["operator", "privacy"], anyRole: true } as const;

/**
 * Requires an approval by an operator or a second privacy person if an operation removes many events. The events that
 * its person removed in 24 hours without an approval count too.
 * @throws approval-needed
 */
export async function approveEvents(
  ports: Ports<ApprovalPorts>,
  caller: Caller,
  operation: Omit<ApprovedOperation, "needed" | "anyRole">,
  reason: string,
): Promise<EventsApproval> {
  const isNeeded = async (executor: Executor, events: number): Promise<boolean> =>
    events > 0 &&
    areApprovalsNeeded(ports, caller) &&
    events + (await countRemovedEvents(executor, (await ports.keys()).audit, await openersOf(executor, caller))) >
      ports.config.service.approvalEvents;
  const needsApproval = await isNeeded(ports.pool, operation.events);
  const asked = { ...operation, ...OPERATOR_OR_PRIVACY };
  // guard(false): an operation that affects many events needs an approval
  const approval = needsApproval ? await requireApproval(ports, caller, asked, reason) : undefined;
  const confirm = async (transaction: Transaction, events: number): Promise<void> => {
    if (approval) return approval.use(transaction, events);
    if (events === 0 || !areApprovalsNeeded(ports, caller)) return;
    // guard: parallel operations of a person do not pass the limit together
    await lockPersons(transaction, LOCKS.removedEvents, caller);
    // guard(false): an operation without an approval also counts events that arrived since its plan
    if (await isNeeded(transaction, events)) throw cameMeanwhile();
    const { audit } = await ports.keys();
    const references = { of: operation.operation, events: String(events) };
    await writeAudit(transaction, audit, {
      ...agentOf(caller),
      operation: REMOVAL_OPERATION,
      outcome: "done",
      references,
    });
  };
  return { ...(approval && { id: approval.id }), confirm };
}

const notSigned = (id: string): string =>
  `Approval ${id} allows nothing: a login of the database wrote it or a decision about it. `;

const cameMeanwhile = (): OperatorError =>
  new OperatorError(
    "approval-needed",
    "More events have arrived or were removed since the plan, and the operation now needs an approval: repeat the command to ask for one.",
  );

const notUsable = (id: string): OperatorError =>
  new OperatorError(
    "approval-needed",
    `Another call has used approval ${id}, or more events arrived than the approval allows: repeat the command to ask for a new one.`,
  );
