import type { Answer, Event, Input, Scope } from "@device-risk-signals/admin-api";
import { type Found, findEvents } from "../store/events/find-events.ts";
import type { EventFilter } from "../store/events/list-events.ts";
import type { ListedEvent } from "../store/events/read-events.ts";
import type { Executor } from "../store/postgres/executor.ts";
import type { Caller } from "../access/identity/caller.ts";
import { isUuid } from "../base/identifiers/uuidv7.ts";
import { findPurposeCode, readPurposeIds } from "../purposes/policy-table.ts";
import { compareObservations, differencesOf } from "./compare-observations.ts";
import type { Operation, OperationCall } from "./operation.ts";
import { type Ports, type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { refusedNames } from "./pseudonyms.ts";
import { detailOf, type EventPorts, requireEvent, reveal, type RevealPorts, seesRestricted } from "./reveal.ts";
import { readableOf } from "./sensitive-fields.ts";

const LIMIT = 50;
/** The filters whose values some callers see only as pseudonyms. */
const NAMING_FILTERS = ["account", "action_id", "session_id", "idempotency_key"] as const;
/** Time limit of a search that no index serves. */
const SEARCH_MS = 2_000;

type OpenPorts = RevealPorts | ShownPorts;
type ListPorts = "monotonic" | ReplayedPorts | ShownPorts;

export const listEvents: Operation<"listEvents", ListPorts> = async ({ ports, caller, scope, input }) => {
  await requireReplayedJournal(ports);
  // guard(false): a caller who sees pseudonyms can't search by names
  if (scope === "pseudonyms" && NAMING_FILTERS.some((name) => input[name] !== undefined)) throw refusedNames();
  requireAccountWith(input);
  const limit = input.limit ?? LIMIT;
  const foundPage = await findPage({ ports, caller, input }, limit);
  const searchedUntil = foundPage.searchedUntil === undefined ? null : new Date(foundPage.searchedUntil).toISOString();
  const isFull = foundPage.events.length === limit;
  const last = foundPage.events.at(-1);
  return {
    answer: {
      events: await shown(ports, foundPage.events, scope),
      next: isFull && last ? last.event_id : searchedUntil,
      searched_until: searchedUntil,
    },
    audit: {
      ...(input.account !== undefined && { account: input.account }),
      detail: { filter: shownFilter(input, caller), limit, count: foundPage.events.length },
    },
  };
};

async function findPage(
  { ports, caller, input }: Pick<OperationCall<"listEvents", "monotonic" | "pool">, "ports" | "caller" | "input">,
  limit: number,
): Promise<Found> {
  const { after, to } = cursorOf(input);
  const filter = { ...(await filterOf(ports, input, to)), includeRestricted: seesRestricted(caller) };
  return findEvents(ports.pool, ports.monotonic, { filter, limit, after, timeMs: SEARCH_MS });
}

export const readEvent: Operation<"readEvent", EventPorts | ShownPorts> = async ({ ports, caller, scope, input }) => {
  const access = { ports, caller, operation: "event.read" };
  const event = await requireEvent(access, input.event_id, seesRestricted(caller));
  const [answer] = await shown(ports, [event], scope);
  const audit = { account: event.account, eventIds: [event.event_id], ...detailOf(caller, event) };
  return { answer: answer as Event, audit };
};

export const readExactEvent: Operation<"readExactEvent", RevealPorts> = async ({ ports, caller, input }) => {
  const access = { ports, caller, operation: "event.read_raw" };
  const [revealed] = await reveal(access, [await requireEvent(access, input.event_id)], input);
  return { answer: revealed.exact, headers: { "Audit-Entry": revealed.entryId } };
};

export const readObservations: Operation<"readObservations", OpenPorts> = async ({ ports, caller, scope, input }) => {
  const access = { ports, caller, operation: "event.read_observations" };
  const [{ exact, entryId, event }] = await reveal(access, [await requireEvent(access, input.event_id)], input);
  const { observations, withheld } = readableOf(exact, scope);
  const [attributes] = await shown(ports, [event], scope);
  return { answer: { event: attributes as Event, observations, withheld: [...withheld], audit_entry: entryId } };
};

export const compareEvents: Operation<"compareEvents", OpenPorts> = async ({ ports, caller, scope, input }) => {
  const access = { ports, caller, operation: "event.compare" };
  const events = [
    await requireEvent(access, input.event_id),
    await requireEvent(access, input.other_event_id),
  ] as const;
  const [one, other] = await reveal(access, events, input);
  const [left, right] = [readableOf(one.exact, scope), readableOf(other.exact, scope)];
  const fields = compareObservations(left.observations, right.observations);
  return {
    answer: {
      events: await shown(ports, events, scope),
      differences: differencesOf(fields),
      ...(input.all && { fields: [...fields] }),
      withheld: [...new Set([...left.withheld, ...right.withheld])],
      audit_entries: [one.entryId, other.entryId],
    },
  };
};

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

/**
 * A cursor is the last event of a page, or the time at which a search ended early. The filter must be repeated for the
 * page after a cursor.
 */
function cursorOf({ after }: ListInput): { readonly after?: string; readonly to?: number } {
  if (after === undefined) return {};
  if (isUuid(after)) return { after: after.toLowerCase() };
  const to = Date.parse(after);
  if (!Number.isNaN(to)) return { to };
  throw new AdminError("request-invalid", {
    errors: [{ where: "querystring/after", detail: "is not the `next` of a page" }],
  });
}

async function filterOf({ pool }: Ports<"pool">, input: ListInput, cursor: number | undefined): Promise<EventFilter> {
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

async function purposeCode(pool: Executor, id: string): Promise<number> {
  const code = await findPurposeCode(pool, id);
  if (code !== undefined) return code;
  throw new AdminError("request-invalid", {
    errors: [{ where: "querystring/purpose", detail: "there is no such purpose" }],
  });
}

/** The filter for the detail of the audit entry, without the account and the limit, which the entry has elsewhere. */
function shownFilter(input: ListInput, { includeRestricted = false }: Caller): Readonly<Record<string, unknown>> {
  const filter = Object.entries(input).filter(([name]) => name !== "account" && name !== "limit");
  return { ...Object.fromEntries(filter), ...(includeRestricted && { include_restricted: true }) };
}

type ShownPorts = "keys.pseudonymizer" | "pool";

/**
 * The events as the caller sees them. With the scope `pseudonyms`, accounts, actions, sessions and idempotency keys are
 * pseudonyms.
 */
async function shown(
  { pool, keys }: Ports<ShownPorts>,
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
      action_id: pseudonymizer.shownPseudonymOf("action", account, row.action_id),
      account: pseudonymizer.shownPseudonymOf("account", account),
      session_id: pseudonymizer.shownPseudonymOf("session", account, row.session_id),
      idempotency_key: pseudonymizer.shownPseudonymOf("idempotency-key", account, row.idempotency_key),
    };
  });
}
