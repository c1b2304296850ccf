/** Finds a page of events: by an index, or by a search that stops when its time is over. */
import type { MonotonicClock } from "../../base/ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { findKeyHolder } from "./ledger.ts";
import { findPartitions } from "./partition-slices.ts";
import { type EventFilter, listCopies, listEvents, newestFirst } from "./list-events.ts";
import { type ListedEvent, receivedAtOf } from "./read-events.ts";

/** Whether one index finds the events of the filter, and few other events. */
export const isIndexed = ({ account, actionId, actionType, sdkVersion, platform, purpose }: EventFilter): boolean =>
  account !== undefined ||
  actionId !== undefined ||
  (platform === undefined && purpose === undefined && (actionType === undefined || sdkVersion === undefined));

/** The first span of time that is searched. The next span is twice as long if the search was quick. */
const FIRST_SPAN_MS = 900_000;
const QUICK_MS = 100;

/** The length of a step of a search. Searches of adjacent times share it. */
export interface Pace {
  spanMs: number;
}

export const firstPace = (): Pace => ({ spanMs: FIRST_SPAN_MS });

interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Cuts a time into the steps of a search, newest first. `began` is when the step begins. */
export function* stepsBack(
  clock: MonotonicClock,
  { from, to }: TimeRange,
  pace = firstPace(),
): Generator<TimeRange & { readonly began: number }> {
  for (let end = to; end > from;) {
    const began = clock.now();
    const start = Math.max(from, end - pace.spanMs);
    yield { from: start, to: end, began };
    if (clock.now() - began < QUICK_MS) pace.spanMs *= 2;
    end = start;
  }
}

export interface Search {
  readonly filter: EventFilter;
  readonly limit: number;
  /** The search continues after this event. */
  readonly after: string | undefined;
  /** The time limit of a search that no index serves, in milliseconds. */
  readonly timeMs: number;
}

export interface Found {
  readonly events: readonly ListedEvent[];
  /**
   * Everything that was received from this time on was searched; milliseconds since the Unix epoch. Absent if the
   * search reached its limit of rows, or the end.
   */
  readonly searchedUntil?: number;
}

/** Finds a page of events, newest first. */
export async function findEvents(executor: Executor, clock: MonotonicClock, search: Search): Promise<Found> {
  const { filter, limit, after } = search;
  const { account, idempotencyKey } = filter;
  if (account !== undefined && idempotencyKey !== undefined) {
    return { events: await findEventsOfKey(executor, search, account, idempotencyKey) };
  }
  if (isIndexed(filter)) return { events: await listEvents(executor, filter, limit, after) };
  return searchBack(executor, clock, search);
}

/**
 * Finds the event that the ledger has for an idempotency key, and copies that holds keep. The ledger does not name the
 * copies of erased events.
 */
async function findEventsOfKey(
  executor: Executor,
  { filter, limit, after }: Search,
  account: string,
  key: string,
): Promise<readonly ListedEvent[]> {
  const found = new Map((await listCopies(executor, filter, limit, after)).map((row) => [row.event_id, row]));
  const holder = await findKeyHolder(executor, account, key);
  if (holder !== undefined) {
    const at = receivedAtOf(holder).getTime();
    const { from = at, to = at + 1 } = filter;
    const within = { ...filter, from: Math.max(from, at), to: Math.min(to, at + 1) };
    for (const row of await listEvents(executor, within, limit, after)) found.set(row.event_id, row);
  }
  return [...found.values()].toSorted(newestFirst).slice(0, limit);
}

/** Searches back in time, span by span, until there are enough rows, the time is over, or everything was searched. */
async function searchBack(executor: Executor, clock: MonotonicClock, search: Search): Promise<Found> {
  const { filter, limit, after, timeMs } = search;
  const deadline = clock.now() + timeMs;
  const partitions = await findPartitions(executor, filter.purpose === undefined ? {} : { purpose: filter.purpose });
  const oldest = Math.max(filter.from ?? 0, Math.min(...partitions.map(({ lower_ms }) => lower_ms)));
  const newest = Math.max(...partitions.map(({ upper_ms }) => upper_ms));
  const ends = [newest, filter.to ?? newest, after === undefined ? newest : receivedAtOf(after).getTime() + 1];
  const events: ListedEvent[] = [];
  for (const { from, to, began } of stepsBack(clock, { from: oldest, to: Math.min(...ends) })) {
    if (began >= deadline) return { events, searchedUntil: to };
    events.push(...(await listEvents(executor, { ...filter, from, to }, limit - events.length, after)));
    if (events.length === limit) return { events };
  }
  return { events };
}
