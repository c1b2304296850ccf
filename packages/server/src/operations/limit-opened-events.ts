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

/** Events that a person opens with a case. */
export interface Opening {
  readonly eventIds: readonly string[];
  readonly case: CaseRow;
  /** Whether the caller named the case. A case that was opened for this read alone can have no approval. */
  readonly isNamedCase: boolean;
}

/** What a person may open now, under one approval or none. */
export interface Allowed {
  /** The first ones of the events that the person wants to open; at least one. */
  readonly eventIds: readonly string[];
  /** The approval under which the events are opened; absent if none is needed. */
  readonly approvalId?: string;
}

/**
 * Checks the limit for events, in the transaction that writes their audit entry.
 * @throws approval-needed, BeyondLimit
 */
export async function limitOpenedEvents(
  ports: LimitPorts,
  transaction: Transaction,
  caller: Caller,
  { eventIds, case: { case_id, category, scope }, isNamedCase }: Opening,
): Promise<Allowed> {
  if (!areApprovalsNeeded(ports, caller)) return { eventIds };
  const limit = ports.config.service.openedEventsLimit;
  const { approvals, audit } = await ports.keys();
  const opened = await listOpenedEvents(transaction, audit, await openersOf(transaction, caller));
  const count = eventsUnder(opened, null);
  const free = firstOf(eventIds, opened, limit - count);
  if (free.length > 0) return { eventIds: free };
  if (!isNamedCase) throw needsCase(limit);
  const further = scope === "event" ? 1 : limit;
  const operation: ApprovedOperation = {
    operation: "event.open",
    parameters: { case_id, further_events: further },
    plan: { case_id, category, scope, opened_in_24_hours: count, further_events: further },
    events: further,
    isExact: true,
    needed: ["privacy"],
  };
  const inUse = await approvals.findInUse(transaction, ports.clock, askerOf(caller), operation);
  for (const approvalId of inUse) {
    const covered = firstOf(eventIds, opened, further - eventsUnder(opened, approvalId));
    if (covered.length > 0) return { eventIds: covered, approvalId };
  }
  const approval = await findApprovalOf(ports, transaction, caller, operation);
  if (!approval) throw new BeyondLimit(operation);
  await approval.use(transaction, further);
  return { eventIds: firstOf(eventIds, opened, further), approvalId: approval.id };
}

/** The first events, of which no more than `room` were not opened before. */
function firstOf(eventIds: readonly string[], opened: readonly OpenedEvent[], room: number): readonly string[] {
  const known = new Set(opened.map(({ event_id }) => event_id));
  const first: string[] = [];
  let further = 0;
  for (const id of eventIds) {
    if (!known.has(id)) further++;
    // guard(false): a person opens no more events than the limit, or than an approval allows
    if (further > room) break;
    first.push(id);
  }
  return first;
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
