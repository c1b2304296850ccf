import { partitionSecretName } from "../../crypto/sealer.ts";
import type { Secrets } from "../../crypto/secrets.ts";
import type { KeyStore } from "../../crypto/key-store.ts";
import { readWatermark, writeWatermark } from "../../journal/key-store-watermark.ts";
import type { Executor } from "../../postgres/executor.ts";
import { query, sql } from "../../postgres/statement.ts";

const COUNT_DESTROYED_PARTITIONS = sql(
  "select count(*) as partitions from event_partition where secret_destroyed_at is not null",
  [],
  { partitions: "int8" },
);

/** @returns how many partitions are dropped, and their secrets destroyed, as the database knows. */
export async function countDestroyedPartitions(executor: Executor): Promise<number> {
  return (await query(executor, COUNT_DESTROYED_PARTITIONS)).rows[0]?.partitions ?? 0;
}

const LIST_DESTROYED_SECRETS = sql(
  "select unnest(partition_id || later_secrets) as id from event_partition where secret_destroyed_at is not null",
  [],
  { id: "uuid" },
);

/** Destroys the secrets of these partitions that the key store has. @throws Unavailable */
export async function destroyPartitionSecrets(executor: Executor, secrets: Secrets): Promise<void> {
  const names = (await query(executor, LIST_DESTROYED_SECRETS)).rows.map(({ id }) => partitionSecretName(id));
  const missing = new Set(await secrets.findMissing(names));
  for (const name of names) if (!missing.has(name)) await secrets.destroy(name);
}

const LIST_DROPPABLE_SECRETS = sql(
  `select unnest(partition_id || later_secrets) as id from event_partition
    where dropped_at is null and upper_bound <= transaction_time()`,
  [],
  { id: "uuid" },
);

/**
 * @returns names of the secrets of partitions that take no further events: where the key store has destroyed more
 * partitions than the database knows of, it may have destroyed these.
 */
export async function findDroppableSecrets(executor: Executor): Promise<readonly string[]> {
  return (await query(executor, LIST_DROPPABLE_SECRETS)).rows.map(({ id }) => partitionSecretName(id));
}

/**
 * Records in the key store how many partitions were dropped. The number never falls, also where the database is older.
 */
export async function recordDestroyedPartitions(executor: Executor, keyStore: KeyStore): Promise<void> {
  const mark = await readWatermark(keyStore);
  const partitions = await countDestroyedPartitions(executor);
  // guard(drop): the key store's mark never falls
  // fails: e2e/retention/pass.test.ts › a database that is older
  if (partitions <= mark.partitions) return;
  await writeWatermark(keyStore, { ...mark, partitions });
}
