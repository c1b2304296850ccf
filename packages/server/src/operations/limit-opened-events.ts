/**
 * Limits the number of events that a person opens in 24 hours, in all cases together. To open further events, the
 * person needs an approval by the role privacy for the case.
 */
import type { ApprovedOperation } from "../access/approvals/approvals.ts";
import { listOpenedEvents, type OpenedEvent } from "../audit/opened-events.ts";
import type { CaseRow } from "../access/cases/case-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Caller } from "../access/identity/caller.ts";
import type { Transaction } from "../store/postgres/executor.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import {
  type ApprovalPorts,
  areApprovalsNeeded,
  askerOf,
  askForApproval,
  findApprovalOf,
  lockPersons,
  openersOf,
} from "./approvals.ts";
import type { Ports } from "./ports.ts";

type LimitPorts = Ports<ApprovalPorts>;

/** Thrown to roll back the transaction of a read that needs an approval first. */
class BeyondLimit extends Error {
  readonly operation: ApprovedOperation;

  constructor(operation: ApprovedOperation) {
    super("more events than a person opens without an approval");
    this.operation = operation;
  }
}

/**
 * Waits for other reads of the person and excludes later ones, because two reads at the same time would not count each
 * other's events.
 */
export async function lockOpenedEvents(ports: LimitPorts, transaction: Transaction, caller: Caller): Promise<void> {
  if (!areApprovalsNeeded(ports, caller)) return;
  // guard(drop): parallel reads do not pass the limit together
  await lockPersons(transaction, LOCKS.openedEvents, caller);
}

/** An event that a person opens with a case. */
export interface Opening {
  readonly eventId: string;
  readonly case: CaseRow;
  /** Whether the caller named the case. A case that was opened for this read alone can have no approval. */
  readonly isNamedCase: boolean;
}

/**
 * Checks the limit for an event, in the transaction that writes its audit entry.
 * @returns the id of the approval under which the event is opened; `undefined` if none is needed.
 * @throws approval-needed, BeyondLimit
 */
export async function limitOpenedEvents(
  ports: LimitPorts,
  transaction: Transaction,
  caller: Caller,
  { eventId, case: { case_id, category, scope }, isNamedCase }: Opening,
): Promise<string | undefined> {
  if (!areApprovalsNeeded(ports, caller)) return undefined;
  const limit = ports.config.service.openedEventsLimit;
  const { approvals, audit } = await ports.keys();
  const opened = await listOpenedEvents(transaction, audit, await openersOf(transaction, caller));
  const events = eventsUnder(opened, null);
  // guard(true): a person opens no more events than the limit without an approval
  if (opened.some(({ event_id }) => event_id === eventId) || events < limit) return undefined;
  if (!isNamedCase) throw needsCase(limit);
  const further = scope === "event" ? 1 : limit;
  const operation: ApprovedOperation = {
    operation: "event.open",
    parameters: { case_id, further_events: further },
    plan: { case_id, category, scope, opened_in_24_hours: events, further_events: further },
    events: further,
    isExact: true,
    needed: ["privacy"],
  };
  const inUse = await approvals.findInUse(transaction, ports.clock, askerOf(caller), operation);
  for (const id of inUse) {
    // guard(true): an approval allows no more than its number of further events
    if (eventsUnder(opened, id) < further) return id;
  }
  const approval = await findApprovalOf(ports, transaction, caller, operation);
  if (!approval) throw new BeyondLimit(operation);
  await approval.use(transaction, further);
  return approval.id;
}

const eventsUnder = (opened: readonly OpenedEvent[], approvalId: string | null): number =>
  new Set(opened.flatMap(({ approval_id, event_id }) => (approval_id === approvalId ? [event_id] : []))).size;

/**
 * Asks for the approval of a read that was beyond the limit. Call it after the transaction of the read was rolled back.
 * @throws approval-needed, or `error` itself if it has another cause
 */
export function askIfBeyondLimit(ports: LimitPorts, caller: Caller, error: unknown): Promise<never> {
  if (!(error instanceof BeyondLimit)) throw error;
  const { operation } = error;
  return askForApproval(ports, caller, operation, `the reason of case ${String(operation.parameters["case_id"])}`);
}

const needsCase = (limit: number): OperatorError =>
  new OperatorError(
    "approval-needed",
    `${limit} events were opened in 24 hours: open a case (drs case open) and name it, to ask for an approval of further ones.`,
  );
