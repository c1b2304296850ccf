import type { Deadline } from "../dependencies/deadline.ts";
import type { MonotonicClock } from "../ports.ts";
import type { KeySource } from "./key-encryption.ts";

/** The time limit of reading a source, and the signal that ends it earlier. */
export type SourceDeadline = Omit<Deadline, "expired">;

/**
 * The shortest time between two reads: without it, a secret whose key is missing would ask the source for each event.
 */
export const SEARCH_EVERY_MS = 5_000;

/** A read that all searches share while it runs, and until a time after it has ended. */
interface Search {
  readonly keys: Promise<readonly Buffer[]>;
  until: number;
}

/**
 * Keys of a source that is too slow or too far away to be asked for each secret: read once, and held in memory. They are
 * read again where an operator asks for it, or where a secret is wrapped under a key that is not among them.
 * @param load reads the source. @throws what `load` throws
 */
export async function holdKeys(
  load: () => Promise<readonly Buffer[]>,
  texts: Pick<KeySource, "advice" | "description">,
  clock: MonotonicClock = performance,
): Promise<KeySource> {
  let held = await load();
  let recent: Search | undefined;
  let loads = 0;
  let newest = 0;
  const reload = async (): Promise<readonly Buffer[]> => {
    const started = ++loads;
    const loaded = await load();
    // A read that began earlier may end later, with what the source had before it was changed.
    if (started < newest) return held;
    newest = started;
    return (held = loaded);
  };
  const search = (): Promise<readonly Buffer[]> => {
    if (recent && clock.now() < recent.until) return recent.keys;
    const started: Search = { keys: reload(), until: Infinity };
    const end = (): void => void (started.until = clock.now() + SEARCH_EVERY_MS);
    started.keys.then(end, end);
    return (recent = started).keys;
  };
  return { ...texts, read: async () => held, search, reload };
}
