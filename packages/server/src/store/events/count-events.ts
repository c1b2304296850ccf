/** Counts events by time: exactly up to a maximum, and within a time limit. */
import type { MonotonicClock } from "../../base/ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { composed, query, queryComposed, sql } from "../postgres/statement.ts";
import { firstPace, isIndexed, type Pace, stepsBack } from "./find-events.ts";
import { type EventFilter, FIRST_PARTITIONS, newestOf, SAMPLE_SPAN } from "./list-events.ts";
import { findPartitions, type Partition, slicesOf, type Span, spansOf } from "./partition-slices.ts";
import { type EventView, IS_HELD_COPY, viewOf } from "./read-events.ts";

/** A span of time; milliseconds since the Unix epoch, without its end. */
export interface Bucket {
  readonly from: number;
  readonly to: number;
}

export interface BucketCount extends Bucket {
  readonly events: number;
  /** Whether there may be more: there are more than the maximum, or the time was over. */
  readonly more: boolean;
}

/** The event in a partition and its copy are one event. */
function composeCount(filter: EventFilter, span: Span, limit: number, hasCopies: boolean) {
  const values: unknown[] = [];
  const columns = "e.received_at, e.event_id";
  const wanted = { filter, span, limit, columns, hasCopies };
  const { union } = newestOf(wanted, (value) => `$${values.push(value)}`);
  return { text: `select count(distinct e.event_id) as events from (${union}) e`, values };
}

/** The query for the number of events of a span; at most `limit` of each range of partitions are counted. */
export const countQuery = composed(composeCount, { events: "int8" }, [
  [{}, { partitions: [] }, 1, true],
  [{}, SAMPLE_SPAN, 1, false],
  [{ account: "", includeRestricted: true }, SAMPLE_SPAN, 1, true],
]);

const oldestCopyOf = (view: EventView) =>
  sql(
    `select extract(epoch from e.received_at)::float8 * 1000 as at from ${view} e where e.${IS_HELD_COPY}
      order by e.received_at limit 1`,
    [],
    { at: "float8" },
  );
const OLDEST_COPY = { live_event: oldestCopyOf("live_event"), unrestricted_event: oldestCopyOf("unrestricted_event") };

/**
 * A time before which no event was received that is kept; milliseconds since the Unix epoch. It is the same for all
 * accounts: a reader of an account that is excluded from analysis learns no time of its events.
 */
export async function findOldest(
  executor: Executor,
  { purpose, ...options }: Pick<EventFilter, "includeRestricted" | "purpose">,
): Promise<number> {
  const partitions = await findPartitions(executor, purpose === undefined ? {} : { purpose });
  const bounds = partitions.map(({ lower_ms }) => lower_ms);
  const [copy] = (await query(executor, OLDEST_COPY[viewOf(options)])).rows;
  return Math.min(...bounds, ...(copy ? [Math.floor(copy.at)] : []));
}

interface Counting {
  readonly filter: Omit<EventFilter, "from" | "to">;
  /** Oldest first. */
  readonly buckets: readonly Bucket[];
  /** More events of a bucket are not counted. */
  readonly max: number;
  readonly timeMs: number;
}

/** Counts the events of each bucket, the newest bucket first. Buckets that the time leaves out have no events, and more. */
export async function countEvents(
  executor: Executor,
  clock: MonotonicClock,
  { filter, buckets, max, timeMs }: Counting,
): Promise<readonly BucketCount[]> {
  const deadline = clock.now() + timeMs;
  const [from = 0, to = 0] = [buckets[0]?.from, buckets.at(-1)?.to];
  const { account, purpose } = filter;
  const within = { ...(account !== undefined && { account }), ...(purpose !== undefined && { purpose }) };
  const partitions = await findPartitions(executor, { ...within, from, to });
  const steps = stepsOf(clock, filter, partitions);
  const counts: BucketCount[] = [];
  for (const bucket of buckets.toReversed()) {
    let events = 0;
    let isOver = false;
    for (const step of steps(bucket)) {
      // guard(false): a count that no index serves ends in time
      if (clock.now() >= deadline) isOver = true;
      if (isOver || events > max) break;
      events += await countSpan(executor, filter, step, max + 1 - events);
    }
    counts.unshift({ ...bucket, events: Math.min(events, max), more: isOver || events > max });
  }
  return counts;
}

/** Cuts buckets into spans that are counted by a few statements each. */
function stepsOf(
  clock: MonotonicClock,
  filter: EventFilter,
  partitions: readonly Partition[],
): (bucket: Bucket) => Generator<Span> {
  const pace: Pace = firstPace();
  return function* steps(bucket) {
    for (const { from, to } of isIndexed(filter) ? [bucket] : stepsBack(clock, bucket, pace)) {
      const overlapping = partitions.filter(({ lower_ms, upper_ms }) => lower_ms < to && upper_ms > from);
      for (const span of spansOf(overlapping, FIRST_PARTITIONS)) {
        yield { ...span, from: Math.max(from, span.from ?? from), to: Math.min(to, span.to ?? to) };
      }
    }
  };
}

/** With many purposes, the partitions of a span may be more than one slice. The copies are counted with the first. */
async function countSpan(executor: Executor, filter: EventFilter, span: Span, limit: number): Promise<number> {
  let events = 0;
  const slices = span.partitions.length === 0 ? [[]] : slicesOf(span.partitions);
  let isFirst = true;
  for (const partitions of slices) {
    const counted = countQuery(filter, { ...span, partitions }, limit - events, isFirst);
    events += (await queryComposed(executor, counted)).rows[0]?.events ?? 0;
    if (events >= limit) return limit;
    isFirst = false;
  }
  return events;
}
