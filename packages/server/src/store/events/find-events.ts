/** Searches with filters that no index supports. They read all events, and stop when their time is over. */
import type { MonotonicClock } from "../../base/ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { findPartitions } from "./partition-slices.ts";
import { type EventFilter, type ListedEvent, listEvents, receivedAtOf } from "./read-events.ts";

/** Whether an index finds the events of the filter, and few other events. */
export const isIndexed = ({ account, actionId, platform, purpose }: EventFilter): boolean =>
  account !== undefined || actionId !== undefined || (platform === undefined && purpose === undefined);

/** The first span of time that is searched. The next span is twice as long if the search was quick. */
const FIRST_SPAN_MS = 900_000;
const QUICK_MS = 100;

export interface Search {
  readonly filter: EventFilter;
  readonly limit: number;
  /** The search continues after this event. */
  readonly after: string | undefined;
  /** The time limit in milliseconds. */
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

/** Searches back in time, span by span, until there are enough rows, the time is over, or everything was searched. */
export async function findEvents(executor: Executor, clock: MonotonicClock, search: Search): Promise<Found> {
  const { filter, limit, after, timeMs } = search;
  const deadline = clock.now() + timeMs;
  const partitions = await findPartitions(executor, filter.purpose === undefined ? {} : { purpose: filter.purpose });
  const oldest = Math.max(filter.from ?? 0, Math.min(...partitions.map(({ lower_ms }) => lower_ms)));
  const newest = Math.max(...partitions.map(({ upper_ms }) => upper_ms));
  const ends = [newest, filter.to ?? newest, after === undefined ? newest : receivedAtOf(after).getTime() + 1];
  const events: ListedEvent[] = [];
  let [to, span] = [Math.min(...ends), FIRST_SPAN_MS];
  while (to > oldest) {
    const began = clock.now();
    if (began >= deadline) return { events, searchedUntil: to };
    const from = Math.max(oldest, to - span);
    events.push(...(await listEvents(executor, { ...filter, from, to }, limit - events.length, after)));
    if (events.length === limit) return { events };
    if (clock.now() - began < QUICK_MS) span *= 2;
    to = from;
  }
  return { events };
}
