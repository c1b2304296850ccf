import type { KeyObject } from "node:crypto";

/** Keys in memory; beyond this number the oldest keys of the oldest partition are dropped. */
const MAX_KEYS = 50_000;

interface PartitionKeys {
  /** The time from which the partition takes no further events; milliseconds since the Unix epoch. */
  readonly end: number;
  readonly keys: Map<string, KeyObject>;
}

/**
 * Data keys that events are sealed under, by the partition's secret and the account key, for as long as the partition
 * takes events. By partition, and not by composed names in one `LimitedMap`: each event looks for a key, which takes a
 * tenth of the time so, and a partition's keys are dropped without a search through all of them.
 */
export class DataKeys {
  readonly #partitions = new Map<string, PartitionKeys>();
  #size = 0;

  find(partition: string, keyId: string): KeyObject | undefined {
    return this.#partitions.get(partition)?.keys.get(keyId);
  }

  remember(partition: string, end: number, keyId: string, key: KeyObject): void {
    const known = this.#partitions.get(partition) ?? { end, keys: new Map<string, KeyObject>() };
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

  /** Drops the keys of partitions that take no further events: from then on keys only open stored events. */
  forgetEnded(now: number): void {
    for (const [partition, { end, keys }] of this.#partitions) {
      if (end > now) continue;
      this.#partitions.delete(partition);
      this.#size -= keys.size;
    }
  }

  #forgetOldest(): void {
    for (const [partition, { keys }] of this.#partitions) {
      for (const keyId of keys.keys()) {
        keys.delete(keyId);
        this.#size--;
        return;
      }
      this.#partitions.delete(partition);
    }
  }
}
