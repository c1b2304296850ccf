import type { KeyStore } from "../seal/key-store.ts";
import type { Executor } from "../store/database.ts";
import { JournalUnfit } from "./journal.ts";

/** What the key store has carried out. */
export interface Mark {
  readonly sequence: number;
  /** Dropped partitions whose secrets it destroyed. */
  readonly partitions: number;
}

/** @throws JournalUnfit, Unavailable */
export async function readMark(keyStore: KeyStore): Promise<Mark> {
  const text = await keyStore.readMark();
  const [, sequence, partitions] = /^(\d{1,15}) (\d{1,15})$/.exec(text ?? "0 0") ?? [];
  if (sequence === undefined || partitions === undefined) {
    throw new JournalUnfit("the key store's mark of what was carried out in it is not whole: restore the key store");
  }
  return { sequence: Number(sequence), partitions: Number(partitions) };
}

export async function writeMark(keyStore: KeyStore, { sequence, partitions }: Mark): Promise<void> {
  await keyStore.writeMark(`${sequence} ${partitions}`);
}

/** Ids of dropped partitions whose secrets are destroyed. */
export async function destroyedPartitions(executor: Executor): Promise<readonly string[]> {
  const { rows } = await executor.query<{ partition_id: string }>(
    "select partition_id from event_partition where secret_destroyed_at is not null",
  );
  return rows.map(({ partition_id }) => partition_id);
}

/** Tells the key store what was carried out in it: not what is still to be finished. */
export async function markKeyStore(executor: Executor, keyStore: KeyStore): Promise<void> {
  const { rows } = await executor.query<{ sequence: number }>(
    `select coalesce((select min(erased_by) - 1 from account_key where erased_by is not null),
      (select max(sequence) from erasure), 0) as sequence`,
  );
  const partitions = await destroyedPartitions(executor);
  await writeMark(keyStore, { sequence: rows[0]?.sequence ?? 0, partitions: partitions.length });
}
