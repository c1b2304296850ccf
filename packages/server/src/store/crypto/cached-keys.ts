import type { Deadline } from "../../base/dependencies/deadline.ts";
import type { MonotonicClock } from "../../base/ports.ts";
import type { KeySource } from "./key-encryption.ts";

/** The time limit for reading a source, and the signal that ends the read earlier. */
export type SourceDeadline = Omit<Deadline, "expired">;

/**
 * The minimum time between two reads that searches cause. Without it, a secret whose key is missing would cause a read
 * of the source for each event.
 */
export const SEARCH_EVERY_MS = 5_000;

/** A read that all searches share while it runs and for `SEARCH_EVERY_MS` after it has ended. */
interface Search {
  readonly keys: Promise<readonly Buffer[]>;
  until: number;
}

/**
 * Keeps the keys of a source in memory, because the source is too slow or too far away to be asked for each secret. The
 * keys are read again when an operator asks for it, or when a secret turns out to be wrapped under a key that is not in
 * memory.
 * @param load reads the source. @throws what `load` throws
 */
export async function cacheKeys(
  load: () => Promise<readonly Buffer[]>,
  texts: Pick<KeySource, "advice" | "description">,
  clock: MonotonicClock = performance,
): Promise<KeySource> {
  let heldKeys = await load();
  let recent: Search | undefined;
  let loads = 0;
  let newestLoad = 0;
  const reload = async (): Promise<readonly Buffer[]> => {
    const started = ++loads;
    const loaded = await load();
    // A newer read has already ended. The keys of this read may be those before a change of the source.
    if (started < newestLoad) return heldKeys;
    newestLoad = started;
    return (heldKeys = loaded);
  };
  const search = (): Promise<readonly Buffer[]> => {
    if (recent && clock.now() < recent.until) return recent.keys;
    const started: Search = { keys: reload(), until: Infinity };
    const end = (): void => void (started.until = clock.now() + SEARCH_EVERY_MS);
    started.keys.then(end, end);
    return (recent = started).keys;
  };
  return { ...texts, read: async () => heldKeys, search, reload };
}
