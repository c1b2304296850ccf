/** Partitions of feature values, and searches in them. */
import type { Executor, OwnerTransaction } from "../store/postgres/executor.ts";
import { type Partition, PARTITION_COLUMNS, PARTITION_TYPES } from "../store/events/partition-slices.ts";
import { receivedAtOf } from "../store/events/read-events.ts";
import type { EventSubject } from "../store/events/search-events.ts";
import { query, sql } from "../store/postgres/statement.ts";

const ADD_FEATURE_SECRETS = sql(
  `update feature_partition p set later_secrets = later_secrets || made.secret
      from unnest($1::uuid[], $2::uuid[]) made (id, secret) where p.partition_id = made.id`,
  ["uuid[]", "uuid[]"],
);

/**
 * Adds the id of a new secret to each partition whose secret was lost. The new secret is used from then on; the id of
 * the lost secret stays.
 * @param secrets ids of the new secrets, in the order of `partitions`.
 */
export async function addFeatureSecrets(
  executor: OwnerTransaction,
  partitions: readonly string[],
  secrets: readonly string[],
): Promise<void> {
  await query(executor, ADD_FEATURE_SECRETS, [partitions, secrets]);
}

interface FeaturePartitionFilter {
  readonly purpose?: number;
  /** Partitions that overlap this range: milliseconds since the Unix epoch, both ends included. */
  readonly from?: number;
  readonly to?: number;
}

const FIND_FEATURE_PARTITIONS = sql(
  `select ${PARTITION_COLUMNS} from feature_partition p where p.dropped_at is null
      and ($1::integer is null or p.purpose = $1)
      and ($2::float8 is null or p.upper_bound > to_timestamp($2 / 1000))
      and ($3::float8 is null or p.lower_bound <= to_timestamp($3 / 1000))
    order by p.lower_bound desc, p.purpose`,
  ["int4?", "float8?", "float8?"],
  PARTITION_TYPES,
);

/** Finds partitions that are not dropped, newest first. */
export async function findFeaturePartitions(
  executor: Executor,
  { purpose, from, to }: FeaturePartitionFilter = {},
): Promise<readonly Partition[]> {
  return (await query(executor, FIND_FEATURE_PARTITIONS, [purpose ?? null, from ?? null, to ?? null])).rows;
}

/** Finds the partitions that may contain feature values of a subject. */
export function findPartitionsOf(executor: Executor, subject: EventSubject): Promise<readonly Partition[]> {
  if (subject.kind === "purpose") return findFeaturePartitions(executor, { purpose: subject.purpose });
  if (subject.kind !== "event") return findFeaturePartitions(executor);
  const at = receivedAtOf(subject.eventId).getTime();
  return findFeaturePartitions(executor, { from: at, to: at });
}
