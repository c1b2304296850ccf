import type { KeyStore } from "../../crypto/key-store.ts";
import { readWatermark, writeWatermark } from "../../journal/key-store-watermark.ts";
import type { Executor } from "../../postgres/executor.ts";
import { query, sql } from "../../postgres/statement.ts";

const DESTROYED_PARTITIONS = sql(
  "select (partition_id || later_secrets)::text[] as secrets from event_partition where secret_destroyed_at is not null",
  [],
  { secrets: "text[]" },
);

/** Dropped partitions whose secrets are destroyed: the ids of the secrets of each. */
export async function destroyedPartitions(executor: Executor): Promise<readonly (readonly string[])[]> {
  const { rows } = await query(executor, DESTROYED_PARTITIONS);
  return rows.map(({ secrets }) => secrets);
}

/**
 * Records in the key store how many partitions were dropped. The number never falls, also where the database is older.
 */
export async function recordDestroyedPartitions(executor: Executor, keyStore: KeyStore): Promise<void> {
  const mark = await readWatermark(keyStore);
  const partitions = (await destroyedPartitions(executor)).length;
  // guard(drop): the key store's mark never falls
  // fails: e2e/retention.test.ts › a database that is older
  if (partitions <= mark.partitions) return;
  await writeWatermark(keyStore, { ...mark, partitions });
}
