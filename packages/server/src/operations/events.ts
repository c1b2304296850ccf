import type { Event, Input } from "@device-risk-signals/admin-api";
import { findFeatureStates } from "../features/read-features.ts";
import { type Found, findEvents } from "../store/events/find-events.ts";
import { isUuid } from "../base/identifiers/uuidv7.ts";
import { filterOf, requireAllowedFilter, SEARCH_MS, shown, shownFilter, type ShownPorts } from "./event-lists.ts";
import { compareObservations, differencesOf } from "./compare-observations.ts";
import type { Operation, OperationCall } from "./operation.ts";
import { type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { detailOf, type EventPorts, requireEvent, reveal, type RevealPorts, seesRestricted } from "./reveal.ts";
import { readableOf } from "./sensitive-fields.ts";

const LIMIT = 50;

type OpenPorts = RevealPorts | ShownPorts;
type ListPorts = "monotonic" | ReplayedPorts | ShownPorts;

export const listEvents: Operation<"listEvents", ListPorts> = async ({ ports, caller, scope, input }) => {
  await requireReplayedJournal(ports);
  requireAllowedFilter(scope, input);
  const { limit = LIMIT, ...filter } = input;
  const foundPage = await findPage({ ports, caller, input }, limit);
  const searchedUntil = foundPage.searchedUntil === undefined ? null : new Date(foundPage.searchedUntil).toISOString();
  const isFull = foundPage.events.length === limit;
  const last = foundPage.events.at(-1);
  const events = await shown(ports, foundPage.events, scope);
  const options = { includeRestricted: seesRestricted(caller) };
  const states = input.features && (await findFeatureStates(ports.pool, foundPage.events, options));
  return {
    answer: {
      events: states ? events.map((event) => ({ ...event, features: states.get(event.event_id) ?? null })) : events,
      next: isFull && last ? last.event_id : searchedUntil,
      searched_until: searchedUntil,
    },
    audit: {
      ...(input.account !== undefined && { account: input.account }),
      detail: { filter: shownFilter(filter, caller), limit, count: foundPage.events.length },
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

/**
 * A cursor is the last event of a page, or the time at which a search ended early. The filter must be repeated for the
 * page after a cursor.
 */
function cursorOf({ after }: Input<"listEvents">): { readonly after?: string; readonly to?: number } {
  if (after === undefined) return {};
  if (isUuid(after)) return { after: after.toLowerCase() };
  const to = Date.parse(after);
  if (!Number.isNaN(to)) return { to };
  throw new AdminError("request-invalid", {
    errors: [{ where: "querystring/after", detail: "is not the `next` of a page" }],
  });
}
