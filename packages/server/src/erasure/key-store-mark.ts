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

/** Tells the key store how many partitions were let go of. It is never fewer, be the database an older one. */
export async function markPartitions(executor: Executor, keyStore: KeyStore): Promise<void> {
  const mark = await readMark(keyStore);
  const partitions = (await destroyedPartitions(executor)).length;
  await writeMark(keyStore, { ...mark, partitions: Math.max(mark.partitions, partitions) });
}
