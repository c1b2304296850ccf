import type { Answer, Event, Input, Scope } from "@device-risk-signals/admin-api";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { pointerOf } from "@device-risk-signals/contract";
import { writeAudit } from "../../audit/audit.ts";
import { type CaseRow, openCase, useCase } from "../../cases/cases.ts";
import { OperatorError } from "../../errors/operator-error.ts";
import { findEvents, isIndexed } from "../../events/find-events.ts";
import {
  type EventFilter,
  findAttributes,
  type ListedEvent,
  listEvents as queryEvents,
  revealEvent,
} from "../../events/read-events.ts";
import { isUuid } from "../../identifiers/uuidv7.ts";
import { findPurposeCode, readPurposeIds } from "../../policy/policy-table.ts";
import { agentOf } from "../../identity/caller.ts";
import { inTransaction } from "../../postgres/database.ts";
import type { Transaction } from "../../postgres/executor.ts";
import type { Operation, OperationCall } from "./operation.ts";
import { type AdminPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { openEvent } from "./open-event.ts";
import { reasonOf } from "./input.ts";

const LIMIT = 50;
/** Time of a search that no index serves. */
const SEARCH_MS = 2_000;

export const listEvents: Operation<"listEvents"> = async ({ ports, caller, scope, input }) => {
  await requireReplayedJournal(ports);
  requireAccountWith(input);
  const limit = input.limit ?? LIMIT;
  const { after, to } = cursorOf(input);
  const filter = { ...(await filterOf(ports, input, to)), includeRestricted: seesRestricted(caller) };
  const found = isIndexed(filter)
    ? { events: await queryEvents(ports.pool, filter, limit, after), searchedUntil: undefined }
    : await findEvents(ports.pool, ports.monotonic, { filter, limit, after, timeMs: SEARCH_MS });
  const searchedUntil = found.searchedUntil === undefined ? null : new Date(found.searchedUntil).toISOString();
  const isFull = found.events.length === limit;
  const last = found.events.at(-1);
  return {
    answer: {
      events: await shown(ports, found.events, scope),
      next: isFull && last ? last.event_id : searchedUntil,
      searched_until: searchedUntil,
    },
    audit: {
      ...(input.account !== undefined && { account: input.account }),
      detail: { filter: shownFilter(input), limit, count: found.events.length },
    },
  };
};

export const readEvent: Operation<"readEvent"> = async (call) => {
  const event = await requireEvent(call, "event.read", seesRestricted(call.caller));
  const [answer] = await shown(call.ports, [event], call.scope);
  return { answer: answer as Event, audit: { account: event.account, eventIds: [event.event_id] } };
};

export const readExactEvent: Operation<"readExactEvent"> = async (call) => {
  const { exact, entryId } = await reveal(call, "event.read_raw");
  return { answer: exact, headers: { "Audit-Entry": entryId } };
};

export const readObservations: Operation<"readObservations"> = async (call) => {
  const { exact, entryId, event } = await reveal(call, "event.read_observations");
  const observations = JSON.parse(Buffer.from(exact).toString("utf8")) as Observations & Record<string, unknown>;
  const withheld = call.scope === "full" ? [] : withholdSensitive(observations);
  const [attributes] = await shown(call.ports, [event], call.scope);
  return { answer: { event: attributes as Event, observations, withheld, audit_entry: entryId } };
};

/** The privacy role sees the attributes of restricted events. No role opens such an event. */
const seesRestricted = ({ roles }: Pick<OperationCall<"readEvent">["caller"], "roles">): boolean =>
  roles.includes("privacy");

async function requireEvent(
  { ports, caller, input }: OperationCall<"readEvent" | "readExactEvent" | "readObservations">,
  operation: string,
  includeRestricted = false,
): Promise<ListedEvent> {
  await requireReplayedJournal(ports);
  const eventId = input.event_id.toLowerCase();
  const event = await findAttributes(ports.pool, eventId, { includeRestricted });
  if (event) return event;
  const entry = { ...agentOf(caller), operation, outcome: "not-found", eventIds: [eventId] };
  await writeAudit(ports.pool, (await ports.keys()).audit, entry);
  throw new OperatorError("not-found", `There is no event ${eventId}.`);
}

/**
 * Opens an event. The audit entry is committed first, and the database gives the payload only to an entry that is.
 * @throws AdminError case-invalid. @throws keys-destroyed, not-found
 */
async function reveal(
  call: OperationCall<"readExactEvent" | "readObservations">,
  operation: string,
): Promise<{ readonly exact: Uint8Array; readonly entryId: string; readonly event: ListedEvent }> {
  const { ports, caller } = call;
  const event = await requireEvent(call, operation);
  const keys = await ports.keys();
  const entryId = await inTransaction(ports.pool, async (transaction) => {
    const { case_id, category, ticket, reason } = await justify(call, transaction, event);
    return writeAudit(transaction, keys.audit, {
      ...agentOf(caller),
      operation,
      outcome: "done",
      reason,
      category,
      ...(ticket !== null && { ticket }),
      caseId: case_id,
      account: event.account,
      eventIds: [event.event_id],
    });
  }).catch(async (error: unknown) => {
    if (error instanceof AdminError && error.problem.status === 403) {
      const { account, event_id } = event;
      const denied = { ...agentOf(caller), operation, outcome: "denied", account, eventIds: [event_id] };
      await writeAudit(ports.pool, keys.audit, denied);
    }
    throw error;
  });
  const stored = await revealEvent(ports.pool, entryId, event);
  if (!stored) throw new OperatorError("not-found", `There is no event ${event.event_id}.`);
  return { exact: await openEvent(keys, ports.pool, stored), entryId, event };
}

/** The open case that covers the event, or a new one of this event alone. */
async function justify(
  { ports, caller, input }: OperationCall<"readExactEvent" | "readObservations">,
  transaction: Transaction,
  { account, action_id: actionId, event_id: eventId }: ListedEvent,
): Promise<CaseRow> {
  const { case_id, reason, category, ticket } = input;
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
        scope: "event",
        subject: eventId,
        category: category as NonNullable<typeof category>,
        reason: reasonOf(reason ?? "", config),
      })
    ).case_id;
  const used = await useCase(transaction, clock, caseId, person, { account, actionId, eventId });
  if (!used) throw new AdminError("case-invalid");
  return used;
}

interface Observations {
  readonly probes?: Readonly<Record<string, { readonly data?: Record<string, unknown> }>>;
}

/** Members of a raw event that the contract describes. */
const ENVELOPE = new Set(["session_id", "client_id", "event_type", "schema_version", "collected_at", "probes"]);

const catalog = new Map(CATALOG.map(({ id, fields }) => [id, fields]));

/**
 * Removes fields of high sensitivity, and fields that the catalog does not know: they may be of any.
 * @returns their JSON Pointers.
 */
function withholdSensitive(observations: Observations & Record<string, unknown>): string[] {
  const withheld: string[] = [];
  for (const name of Object.keys(observations).filter((one) => !ENVELOPE.has(one))) {
    delete observations[name];
    withheld.push(pointerOf([name]));
  }
  const { probes = {} } = observations;
  for (const [probe, { data }] of Object.entries(probes)) {
    const known = catalog.get(probe) ?? {};
    for (const name of Object.keys(data ?? {})) {
      const sensitivity = Object.hasOwn(known, name) ? known[name]?.sensitivity : undefined;
      if (sensitivity === "low" || sensitivity === "medium") continue;
      delete data?.[name];
      withheld.push(pointerOf(["probes", probe, "data", name]));
    }
  }
  return withheld;
}

type ListInput = Input<"listEvents">;

function requireAccountWith({ account, session_id, idempotency_key }: ListInput): void {
  const needing = session_id === undefined ? idempotency_key : session_id;
  if (needing === undefined || account !== undefined) return;
  throw new AdminError("request-invalid", {
    errors: [
      { where: "querystring", detail: "session_id and idempotency_key name something of an account: give account" },
    ],
  });
}

/** A cursor is the last event of a page, or the time where a search ended. It shows nothing that the filter does not. */
function cursorOf({ after }: ListInput): { readonly after?: string; readonly to?: number } {
  if (after === undefined) return {};
  if (isUuid(after)) return { after: after.toLowerCase() };
  const to = Date.parse(after);
  if (!Number.isNaN(to)) return { to };
  throw new AdminError("request-invalid", {
    errors: [{ where: "querystring/after", detail: "is not the `next` of a page" }],
  });
}

async function filterOf({ pool }: AdminPorts, input: ListInput, cursor: number | undefined): Promise<EventFilter> {
  const ends = [cursor, input.to === undefined ? undefined : Date.parse(input.to)].filter((end) => end !== undefined);
  return {
    ...(input.account !== undefined && { account: input.account }),
    ...(input.action_id !== undefined && { actionId: input.action_id }),
    ...(input.action_type !== undefined && { actionType: input.action_type }),
    ...(input.sdk_version !== undefined && { sdkVersion: input.sdk_version }),
    ...(input.session_id !== undefined && { sessionId: input.session_id }),
    ...(input.idempotency_key !== undefined && { idempotencyKey: input.idempotency_key }),
    ...(input.platform !== undefined && { platform: input.platform }),
    ...(input.purpose !== undefined && { purpose: await purposeCode(pool, input.purpose) }),
    ...(input.from !== undefined && { from: Date.parse(input.from) }),
    ...(ends.length > 0 && { to: Math.min(...ends) }),
  };
}

async function purposeCode(pool: AdminPorts["pool"], id: string): Promise<number> {
  const code = await findPurposeCode(pool, id);
  if (code !== undefined) return code;
  throw new AdminError("request-invalid", {
    errors: [{ where: "querystring/purpose", detail: "there is no such purpose" }],
  });
}

/** The filter for the audit, which names the account in a column of its own. */
function shownFilter(input: ListInput): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(input).filter(([name]) => name !== "account" && name !== "limit"));
}

/** Rows for the caller: a scope of pseudonyms names no account, session or idempotency key. */
async function shown(
  { pool, keys }: AdminPorts,
  events: readonly ListedEvent[],
  scope: Scope,
): Promise<Answer<"listEvents">["events"]> {
  const purposes = await readPurposeIds(pool);
  const { pseudonymizer } = await keys();
  return events.map((row) => {
    const event = { ...row, purpose: purposes.get(row.purpose) ?? String(row.purpose) };
    if (scope !== "pseudonyms") return event;
    const { account } = row;
    return {
      ...event,
      account: pseudonymizer.shownPseudonymOf("account", account),
      session_id: pseudonymizer.shownPseudonymOf("session", account, row.session_id),
      idempotency_key: pseudonymizer.shownPseudonymOf("idempotency-key", account, row.idempotency_key),
    };
  });
}
