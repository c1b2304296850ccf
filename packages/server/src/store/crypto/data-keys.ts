import type { KeyObject } from "node:crypto";

/** Maximum number of keys in memory. Beyond it, the oldest keys of the oldest partition are dropped. */
const MAX_KEYS = 50_000;

interface PartitionKeys {
  /** The time after which the partition receives no more events; milliseconds since the Unix epoch. */
  readonly end: number;
  readonly keys: Map<string, KeyObject>;
  /** The keys that were remembered longest ago come next. A new iterator would step over all that were dropped before. */
  readonly oldest: Iterator<string, undefined>;
}

/**
 * The data keys of partitions that still receive events, by the partition's secret and the account key. A map for each
 * partition is used instead of one `LimitedMap` with composed names: a look-up takes a tenth of the time, and the keys
 * of a partition are dropped without a search through all keys.
 */
export class DataKeys {
  readonly #partitions = new Map<string, PartitionKeys>();
  #size = 0;

  find(partition: string, keyId: string): KeyObject | undefined {
    return this.#partitions.get(partition)?.keys.get(keyId);
  }

  remember(partition: string, end: number, keyId: string, key: KeyObject): void {
    const known = this.#partitions.get(partition) ?? newPartition(end);
    this.#partitions.set(partition, known);
    if (!known.keys.has(keyId)) this.#size++;
    known.keys.set(keyId, key);
    if (this.#size > MAX_KEYS) this.#forgetOldest();
  }

  clear(): void {
    this.#partitions.clear();
    this.#size = 0;
  }

  dropKeys(keyIds: readonly string[]): void {
    for (const { keys } of this.#partitions.values()) {
      for (const keyId of keyIds) if (keys.delete(keyId)) this.#size--;
    }
  }

  /**
   * Drops the keys of partitions that receive no more events. In memory they could only serve to open stored events.
   */
  forgetEnded(now: number): void {
    for (const [partition, { end, keys }] of this.#partitions) {
      if (end > now) continue;
      this.#partitions.delete(partition);
      this.#size -= keys.size;
    }
  }

  #forgetOldest(): void {
    for (const [partition, { keys, oldest }] of this.#partitions) {
      const { value: keyId } = oldest.next();
      if (keyId !== undefined) {
        keys.delete(keyId);
        this.#size--;
        return;
      }
      this.#partitions.delete(partition);
    }
  }
}

function newPartition(end: number): PartitionKeys {
  const keys = new Map<string, KeyObject>();
  return { end, keys, oldest: keys.keys() };
}
