import { setImmediate } from "node:timers/promises";
import { type Bounded, eachBounded } from "../../base/dependencies/file-calls.ts";
import type { KeySource } from "./key-encryption.ts";
import type { KeyStore } from "./key-store.ts";

/** Number of secrets that `readToOpen` reads under one deadline. */
const SLICE_SIZE = 100;

/**
 * Applies the deadline of the dependency to a key store in files. A call that may need many files gets several
 * deadlines: one for each file, or for each slice of files.
 */
export function boundedKeyStore(store: KeyStore, bounded: Bounded): KeyStore {
  const eachOf =
    (find: KeyStore["findMissing"]): KeyStore["findMissing"] =>
    async (ids) => {
      const found: string[] = [];
      for (const id of ids) found.push(...(await bounded(() => find([id]))));
      return found;
    };
  return {
    ...store,
    readToOpen: async (ids) => {
      const slices = Array.from({ length: Math.ceil(ids.length / SLICE_SIZE) }, (_, index) =>
        bounded(() => store.readToOpen(ids.slice(index * SLICE_SIZE, (index + 1) * SLICE_SIZE))),
      );
      return new Map((await Promise.all(slices)).flatMap((found) => [...found]));
    },
    read: (id) => bounded(() => store.read(id)),
    create: (id, wrapped) => bounded(() => store.create(id, wrapped)),
    destroy: (id) => bounded(() => store.destroy(id)),
    discard: (id) => bounded(() => store.discard(id)),
    replace: async (wrappings) => {
      const counts = await Promise.all(wrappings.map((wrapping) => bounded(() => store.replace([wrapping]))));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    findMissing: eachOf((ids) => store.findMissing(ids)),
    findDestroyed: eachOf((ids) => store.findDestroyed(ids)),
    ids: () => eachBounded(bounded, store.ids()),
    readWatermark: (name) => bounded(() => store.readWatermark(name)),
    requireWritable: () => bounded(() => store.requireWritable()),
    writeWatermark: (name, text) => bounded(() => store.writeWatermark(name, text)),
  };
}

/**
 * Applies the deadline of the dependency to reads and writes of the key-encryption keys. Callers that come in one turn of
 * the event loop share a read, which begins after them.
 */
export function boundedKeySource(source: KeySource, bounded: Bounded): KeySource {
  const write = source.write?.bind(source);
  let next: ReturnType<KeySource["read"]> | undefined;
  const readNext = async (): ReturnType<KeySource["read"]> => {
    await setImmediate();
    next = undefined;
    return bounded(() => source.read());
  };
  return {
    read: () => (next ??= readNext()),
    ...(write && { write: (keys) => bounded(() => write(keys)) }),
    advice: source.advice,
    description: source.description,
  };
}
