/** Opens events for a person, with a case. */
import type { Input } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { type CaseRow, openCase, useCase } from "../access/cases/case-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { findAttributes, findEvent, type ListedEvent, revealEvent } from "../store/events/read-events.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import { inTransaction } from "../store/postgres/database.ts";
import type { Transaction } from "../store/postgres/executor.ts";
import type { ApprovalPorts } from "./approvals.ts";
import { reasonOf } from "./input.ts";
import { askIfBeyondLimit, limitOpenedEvents, lockOpenedEvents } from "./limit-opened-events.ts";
import { openEvent } from "./open-event.ts";
import { type PortName, type Ports, type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";

/** What an operation uses that finds one event. */
export type EventPorts = ReplayedPorts | "keys.audit";

/** What an operation uses that opens events. */
export type RevealPorts = "keys.sealer" | ApprovalPorts | EventPorts;

/** Who reads events, and the operation that the audit entries name. */
export interface EventAccess<Name extends PortName = RevealPorts> {
  readonly ports: Ports<Name>;
  readonly caller: Caller;
  readonly operation: string;
}

/** The privacy role sees the attributes of restricted events. No role opens such an event. */
export const seesRestricted = ({ roles, includeRestricted = false }: Caller): boolean =>
  includeRestricted || roles.includes("privacy");

/** What the audit entry of a command on the database says if the command also reads restricted events. */
export const detailOf = (
  { includeRestricted = false }: Caller,
  event?: ListedEvent,
): { readonly detail?: Readonly<Record<string, unknown>> } =>
  includeRestricted ? { detail: { include_restricted: true, restricted: event?.restricted } } : {};

/**
 * @param includeRestricted by default only for a command on the database that asks for restricted events.
 * @throws not-found. The message of a restricted event is that of an event which does not exist.
 */
export async function requireEvent(
  { ports, caller, operation }: EventAccess<EventPorts>,
  id: string,
  includeRestricted = caller.includeRestricted ?? false,
): Promise<ListedEvent> {
  await requireReplayedJournal(ports);
  const eventId = id.toLowerCase();
  const event = await findAttributes(ports.pool, eventId, { includeRestricted });
  if (event) return event;
  const entry = { ...agentOf(caller), operation, outcome: "not-found", eventIds: [eventId], ...detailOf(caller) };
  await writeAudit(ports.pool, (await ports.keys()).audit, entry);
  const otherwise = includeRestricted ? "" : ", or it is restricted";
  throw new OperatorError("not-found", `There is no event ${eventId}${otherwise}.`);
}

/** The case of a read; or the category, reason and ticket of the cases that the read opens, one for each event. */
export type Why = Pick<Input<"readExactEvent">, "case_id" | "reason" | "category" | "ticket">;

export interface RevealedEvent {
  readonly exact: Uint8Array;
  readonly entryId: string;
  readonly event: ListedEvent;
}

/**
 * Opens all of the events, or none. The audit entries are committed first, because the database returns a payload only
 * for a committed entry.
 * @throws AdminError case-invalid. @throws keys-destroyed, not-found, approval-needed
 */
export async function reveal<const Events extends readonly ListedEvent[]>(
  access: EventAccess,
  events: Events,
  why: Why,
): Promise<{ readonly [Index in keyof Events]: RevealedEvent }> {
  const { ports } = access;
  const keys = await ports.keys();
  const entryIds = await inTransaction(ports.pool, async (transaction) => {
    await lockOpenedEvents(ports, transaction, access.caller);
    const ids: string[] = [];
    for (const event of events) ids.push(await writeEntry(access, transaction, event, why));
    return ids;
  }).catch(async (error: unknown) => {
    if (error instanceof AdminError && error.problem.status === 403) {
      await auditDenial(access, events);
      error.isAudited = true;
    }
    return askIfBeyondLimit(ports, access.caller, error);
  });
  const revealed: RevealedEvent[] = [];
  for (const [index, event] of events.entries()) {
    const entryId = entryIds[index] as string;
    const stored = access.caller.includeRestricted
      ? await findEvent(ports.pool, event.event_id, { includeRestricted: true })
      : await revealEvent(ports.pool, entryId, event);
    if (!stored) throw new OperatorError("not-found", `There is no event ${event.event_id}.`);
    revealed.push({ exact: await openEvent(keys, ports.pool, stored), entryId, event });
  }
  return revealed as { readonly [Index in keyof Events]: RevealedEvent };
}

async function writeEntry(
  access: EventAccess,
  transaction: Transaction,
  event: ListedEvent,
  why: Why,
): Promise<string> {
  const { ports, caller, operation } = access;
  const used = await justify(access, transaction, event, why);
  const { case_id, category, ticket, reason } = used;
  const isNamedCase = why.case_id !== undefined;
  const opening = { eventId: event.event_id, case: used, isNamedCase };
  const approvalId = await limitOpenedEvents(ports, transaction, caller, opening);
  return writeAudit(transaction, (await ports.keys()).audit, {
    ...agentOf(caller),
    operation,
    outcome: "done",
    reason,
    category,
    ...(ticket !== null && { ticket }),
    caseId: case_id,
    ...(approvalId !== undefined && { approvalId }),
    account: event.account,
    eventIds: [event.event_id],
    ...detailOf(caller, event),
  });
}

async function auditDenial({ ports, caller, operation }: EventAccess, events: readonly ListedEvent[]): Promise<void> {
  const { audit } = await ports.keys();
  for (const { account, event_id } of events) {
    const denied = { ...agentOf(caller), operation, outcome: "denied", account, eventIds: [event_id] };
    await writeAudit(ports.pool, audit, denied);
  }
}

/** The named case, which must cover the event, or a new case of this event alone. @throws AdminError */
async function justify(
  { ports, caller }: EventAccess,
  transaction: Transaction,
  { account, action_id: actionId, event_id: eventId }: ListedEvent,
  { case_id, reason, category, ticket }: Why,
): Promise<CaseRow> {
  const { clock, config } = ports;
  const { person } = caller;
  if (case_id === undefined && (reason === undefined || category === undefined)) {
    throw new AdminError("request-invalid", {
      errors: [{ where: "body", detail: "case_id, or reason and category, say why the event is opened" }],
    });
  }
  const caseId =
    case_id ??
    (
      await openCase(transaction, clock, {
        person,
        ticket,
        covers: { scope: "event", eventId, account },
        category: category as NonNullable<typeof category>,
        reason: reasonOf(reason ?? "", config),
      })
    ).case_id;
  const used = await useCase(transaction, clock, caseId, person, { account, actionId, eventId });
  if (!used) throw new AdminError("case-invalid");
  return used;
}
