/** Numbers of events by time, for a search that shows where its events are. */
import { MAX_COUNTED } from "@device-risk-signals/admin-api";
import { type Bucket, type BucketCount, countEvents as count, findOldest } from "../store/events/count-events.ts";
import { filterOf, requireAllowedFilter, SEARCH_MS, shownFilter } from "./event-lists.ts";
import type { Operation } from "./operation.ts";
import { type ReplayedPorts, requireReplayedJournal } from "./ports.ts";
import { seesRestricted } from "./reveal.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Lengths of buckets that a reader knows. Longer ones are doubled days. */
const LENGTHS = [
  ...[1, 5, 15].map((seconds) => seconds * SECOND_MS),
  ...[1, 5, 15].map((minutes) => minutes * MINUTE_MS),
  ...[1, 3, 6, 12, 24].map((hours) => hours * HOUR_MS),
];

/** Cuts a time into at most `max` parts that begin at multiples of their length; the first and the last may be shorter. */
export function bucketsOf({ from, to }: Bucket, max: number): readonly Bucket[] {
  if (!(from < to)) return [];
  const fits = (length: number): boolean => Math.ceil(to / length) - Math.floor(from / length) <= max;
  let length = LENGTHS.find(fits) ?? 24 * HOUR_MS;
  while (!fits(length)) length *= 2;
  const first = Math.floor(from / length);
  return Array.from({ length: Math.ceil(to / length) - first }, (_, index) => {
    const start = (first + index) * length;
    return { from: Math.max(from, start), to: Math.min(to, start + length) };
  });
}

export const countEvents: Operation<"countEvents", "clock" | "monotonic" | ReplayedPorts> = async (call) => {
  const { ports, caller, scope, input } = call;
  await requireReplayedJournal(ports);
  requireAllowedFilter(scope, input);
  const { buckets = 1, ...wanted } = input;
  const { from, to = ports.clock.now(), ...named } = await filterOf(ports, wanted);
  const filter = { ...named, includeRestricted: seesRestricted(caller) };
  const oldest = await findOldest(ports.pool, filter);
  const deadline = ports.monotonic.now() + SEARCH_MS;
  const countFrom = (start: number): Promise<readonly BucketCount[]> =>
    count(ports.pool, ports.monotonic, {
      filter,
      buckets: bucketsOf({ from: start, to }, buckets),
      max: MAX_COUNTED,
      timeMs: deadline - ports.monotonic.now(),
    });
  const all = await countFrom(Math.max(from ?? oldest, oldest));
  const first = all.find(({ events, more }) => events > 0 || more);
  // The oldest partition may begin long before its first event: finer parts show more.
  const counts = from === undefined && first && first !== all[0] ? await countFrom(first.from) : all;
  return {
    answer: {
      counts: counts.map((one) => ({
        ...one,
        from: new Date(one.from).toISOString(),
        to: new Date(one.to).toISOString(),
      })),
    },
    audit: {
      ...(input.account !== undefined && { account: input.account }),
      detail: { filter: shownFilter(wanted, caller), buckets },
    },
  };
};
