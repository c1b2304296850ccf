/** Opens events for a person, with a case. */
import type { Input } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { addOpenedEvents, type CaseRow, findOpenCase, isCovered, openCase } from "../access/cases/case-table.ts";
import { hasCode, OperatorError } from "../base/errors/operator-error.ts";
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
  const entries = await inAuditedTransaction(access, events, async (transaction) => {
    const written: Entry[] = [];
    for (const event of events) written.push(await writeEntry(access, transaction, [event], why));
    return written;
  });
  const revealed: RevealedEvent[] = [];
  for (const [index, event] of events.entries()) revealed.push(await open(access, entries[index] as Entry, event));
  return revealed as { readonly [Index in keyof Events]: RevealedEvent };
}

/** Why an event was not opened together with others. */
type Unopened = "limit" | "not-found" | "keys-destroyed";

export interface RevealedTogether {
  readonly entryId: string;
  readonly opened: readonly RevealedEvent[];
  readonly unopened: readonly { readonly event_id: string; readonly reason: Unopened }[];
}

/**
 * Opens events that one case covers, under one audit entry. It stops at the limit of opened events, unless it can open
 * none of them: then it needs an approval.
 * @throws AdminError case-invalid. @throws approval-needed
 */
export async function revealTogether(
  access: EventAccess,
  events: EventGroup,
  case_id: string,
): Promise<RevealedTogether> {
  const entry = await inAuditedTransaction(access, events, (transaction) =>
    writeEntry(access, transaction, events, { case_id }),
  );
  const opened: RevealedEvent[] = [];
  const unopened: { readonly event_id: string; readonly reason: Unopened }[] = [];
  for (const event of events) {
    const { event_id } = event;
    if (!entry.eventIds.includes(event_id)) {
      unopened.push({ event_id, reason: "limit" });
      continue;
    }
    try {
      opened.push(await open(access, entry, event));
    } catch (error) {
      if (!hasCode(error, "not-found", "keys-destroyed")) throw error;
      unopened.push({ event_id, reason: error.code });
    }
  }
  return { entryId: entry.entryId, opened, unopened };
}

/** Runs the transaction that writes the audit entries of a read, while no other read of the person is counted. */
async function inAuditedTransaction<T>(
  access: EventAccess,
  events: readonly ListedEvent[],
  write: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const { ports, caller } = access;
  return inTransaction(ports.pool, async (transaction) => {
    await lockOpenedEvents(ports, transaction, caller);
    return write(transaction);
  }).catch(async (error: unknown) => {
    if (error instanceof AdminError && error.problem.status === 403) {
      await auditDenial(access, events);
      error.isAudited = true;
    }
    return askIfBeyondLimit(ports, caller, error);
  });
}

/** Opens an event that a committed audit entry names. @throws keys-destroyed, not-found */
async function open({ ports, caller }: EventAccess, { entryId }: Entry, event: ListedEvent): Promise<RevealedEvent> {
  const stored = caller.includeRestricted
    ? await findEvent(ports.pool, event.event_id, { includeRestricted: true })
    : await revealEvent(ports.pool, entryId, event);
  if (!stored) throw new OperatorError("not-found", `There is no event ${event.event_id}.`);
  return { exact: await openEvent(await ports.keys(), ports.pool, stored), entryId, event };
}

/** Events that one audit entry names: of one account, if there are several. */
type EventGroup = readonly [ListedEvent, ...ListedEvent[]];

interface Entry {
  readonly entryId: string;
  /** The events that it names. */
  readonly eventIds: readonly string[];
}

async function writeEntry(access: EventAccess, transaction: Transaction, events: EventGroup, why: Why): Promise<Entry> {
  const { ports, caller, operation } = access;
  const used = await justify(access, transaction, events, why);
  const { case_id, category, ticket, reason } = used;
  const isNamedCase = why.case_id !== undefined;
  const wanted = { eventIds: events.map(({ event_id }) => event_id), case: used, isNamedCase };
  const { eventIds, approvalId } = await limitOpenedEvents(ports, transaction, caller, wanted);
  await addOpenedEvents(transaction, case_id, eventIds.length);
  const entryId = await writeAudit(transaction, (await ports.keys()).audit, {
    ...agentOf(caller),
    operation,
    outcome: "done",
    reason,
    category,
    ...(ticket !== null && { ticket }),
    caseId: case_id,
    ...(approvalId !== undefined && { approvalId }),
    account: events[0].account,
    eventIds,
    ...detailOf(caller, events[0]),
  });
  return { entryId, eventIds };
}

async function auditDenial({ ports, caller, operation }: EventAccess, events: readonly ListedEvent[]): Promise<void> {
  const { audit } = await ports.keys();
  for (const [account, ofAccount] of Map.groupBy(events, (event) => event.account)) {
    const eventIds = ofAccount.map(({ event_id }) => event_id);
    await writeAudit(ports.pool, audit, { ...agentOf(caller), operation, outcome: "denied", account, eventIds });
  }
}

/** The named case, which must cover the events, or a new case of one event alone. @throws AdminError */
async function justify(
  { ports, caller }: EventAccess,
  transaction: Transaction,
  events: EventGroup,
  { case_id, reason, category, ticket }: Why,
): Promise<CaseRow> {
  const { clock, config } = ports;
  const { person } = caller;
  if (case_id === undefined && (reason === undefined || category === undefined)) {
    throw new AdminError("request-invalid", {
      errors: [{ where: "body", detail: "case_id, or reason and category, say why the event is opened" }],
    });
  }
  const [{ account, event_id: eventId }] = events;
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
  const used = await findOpenCase(transaction, clock, caseId, person);
  if (!used) throw new AdminError("case-invalid");
  const areCovered = events.every((event) =>
    isCovered(used, { account: event.account, actionId: event.action_id, eventId: event.event_id }),
  );
  // guard(false): a case opens only events that it covers
  if (!areCovered) throw new AdminError("case-invalid");
  return used;
}
