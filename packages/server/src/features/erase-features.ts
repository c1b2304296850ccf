/** Counts the feature values that an erasure would delete, finds them for the journal entry, and deletes them. */
import { type EventSubject, forSubjects, subjectValues } from "../store/events/search-events.ts";
import {
  type Partition,
  partitionQuery,
  queryPartitions,
  SAMPLE_PARTITION,
  withinOf,
} from "../store/events/partition-slices.ts";
import { receivedAtOf } from "../store/events/read-events.ts";
import type { Executor, OwnerTransaction } from "../store/postgres/executor.ts";
import { composed, query, queryComposed, sql } from "../store/postgres/statement.ts";
import { deleteFailures } from "./failures.ts";
import { findFeaturePartitions, findPartitionsOf } from "./feature-partitions.ts";

const COUNT_FEATURES = forSubjects((where, parameters) =>
  partitionQuery(
    parameters,
    { features: "int8" },
    (within) =>
      `select count(*) as features from feature_row f where ${within("f")} and ${where} and not is_account_key_erased(key_id)`,
  ),
);

/** Counts the rows of feature values of a subject, including the rows of expired events. */
export async function countFeatures(executor: Executor, subject: EventSubject): Promise<number> {
  const partitions = await findPartitionsOf(executor, subject);
  let total = 0;
  const counts = queryPartitions(executor, COUNT_FEATURES[subject.kind], partitions, subjectValues(subject));
  for await (const { features } of counts) total += features;
  return total;
}

const FIND_EVENTS_OF_ACTION = partitionQuery(
  ["text"],
  { event_id: "uuid" },
  (within) => `select distinct f.event_id from feature_row f where ${within("f")} and f.action_id = $1
      and not is_account_key_erased(f.key_id)`,
);

/** Ids of the events of an action that have feature values. The events themselves may have expired. */
export async function findEventsWithFeatures(executor: Executor, actionId: string): Promise<readonly string[]> {
  const found = queryPartitions(executor, FIND_EVENTS_OF_ACTION, await findFeaturePartitions(executor), [actionId]);
  return Array.fromAsync(found, ({ event_id }) => event_id);
}

const DELETE_FEATURES = composed(
  (partition: Partition, eventIds: readonly string[]) => {
    const values: unknown[] = [eventIds, eventIds.map((id) => receivedAtOf(id).toISOString())];
    const within = withinOf(partition, (value) => `$${values.push(value)}`);
    const text = `with removed as (
        delete from feature_row f using unnest($1::uuid[], $2::timestamptz[]) named (event_id, received_at)
          where ${within("f")} and f.received_at = named.received_at and f.event_id = named.event_id
          returning f.account, f.purpose, f.received_at, f.event_id, f.layer)
      select count(*) as deleted from removed g where not exists (select 1 from kept_feature c where c.partition_purpose = -1
        and c.account = g.account and c.purpose = g.purpose and c.received_at = g.received_at and c.event_id = g.event_id
        and c.layer = g.layer)`;
    return { text, values };
  },
  { deleted: "int8" },
  [[SAMPLE_PARTITION, []]],
);

/**
 * Deletes the feature values and the failures of events, by the ids of the events alone.
 * @returns the number of deleted rows of which no hold keeps a copy.
 */
export async function deleteFeatures(executor: OwnerTransaction, eventIds: readonly string[]): Promise<number> {
  const times = eventIds.map((id) => receivedAtOf(id).getTime());
  if (times.length === 0) return 0;
  // guard(drop): failures of an erased event are deleted
  await deleteFailures(executor, eventIds);
  let deleted = 0;
  const range = { from: Math.min(...times), to: Math.max(...times) };
  // guard(drop): values of an erased event are deleted
  for (const partition of await findFeaturePartitions(executor, range)) {
    const within = eventIds.filter((_, index) => isIn(partition, times[index] ?? 0));
    if (within.length === 0) continue;
    deleted += (await queryComposed(executor, DELETE_FEATURES(partition, within))).rows[0]?.deleted ?? 0;
  }
  return deleted;
}

const isIn = ({ lower_ms, upper_ms }: Partition, at: number): boolean => lower_ms <= at && at < upper_ms;

const DELETE_ERASED_FEATURES = sql("select delete_erased_features($1, $2)", ["uuid", "uuid"]);

/** Deletes the feature values that are sealed under an erased account key, one partition in each statement. */
export async function deleteFeaturesOfKey(executor: Executor, keyId: string, purpose: number): Promise<void> {
  for (const { partition_id } of await findFeaturePartitions(executor, { purpose })) {
    await query(executor, DELETE_ERASED_FEATURES, [keyId, partition_id]);
  }
}
