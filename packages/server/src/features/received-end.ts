import { findPartitions, partitionQuery, queryPartitions } from "../store/events/partition-slices.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { queryRow, sql } from "../store/postgres/statement.ts";

const NOW = sql("select wall_clock_time() as now", [], { now: "timestamptz" });
const LATER = partitionQuery(
  ["timestamptz"],
  { latest: "timestamptz?" },
  (within) => `select max(e.received_at) + interval '1 millisecond' as latest from event e
    where ${within("e")} and e.received_at > $1::timestamptz`,
);

/**
 * A time after all events of a purpose that were received so far. It is in the future if a server received events with
 * a clock that was ahead, or if the clock was set back since. Only partitions that end in the future are read, because
 * a statement over all partitions would lock each of them.
 */
export async function readReceivedEnd(executor: Executor, purpose: number): Promise<string> {
  const { now } = await queryRow(executor, NOW);
  const partitions = await findPartitions(executor, { purpose, from: Date.parse(now) });
  // The newest partition is the first.
  for await (const { latest } of queryPartitions(executor, LATER, partitions, [now])) {
    if (latest !== null) return latest;
  }
  return now;
}
