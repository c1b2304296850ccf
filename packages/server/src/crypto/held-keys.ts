import type { Deadline } from "../dependencies/deadline.ts";
import type { KeySource } from "./key-encryption.ts";

/** The time limit of reading a source, and the signal that ends it earlier. */
export type SourceDeadline = Pick<Deadline, "ms" | "stop">;

/**
 * The shortest time between two reads: without it, a secret whose key is missing would ask the source for each event.
 */
const SEARCH_EVERY_MS = 5_000;

/**
 * Keys of a source that is too slow or too far away to be asked for each secret: read once, and held in memory. They are
 * read again where an operator asks for it, or where a secret is wrapped under a key that is not among them.
 * @param load reads the source. @throws what `load` throws
 */
export async function holdKeys(
  load: () => Promise<readonly Buffer[]>,
  texts: Pick<KeySource, "advice" | "description">,
  searchEveryMs = SEARCH_EVERY_MS,
): Promise<KeySource> {
  let held = await load();
  let recent: Promise<readonly Buffer[]> | undefined;
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
    recent ??= reload().finally(() => setTimeout(() => (recent = undefined), searchEveryMs).unref());
    return recent;
  };
  return { ...texts, read: async () => held, search, reload };
}
