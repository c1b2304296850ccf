import { LocalKeyEncryption } from "./key-encryption.ts";
import type { KeyStore } from "./key-store.ts";

/** Wraps secrets with the given keys, oldest first. */
export const keysOf = (...keys: readonly Buffer[]): LocalKeyEncryption =>
  new LocalKeyEncryption({ read: async () => keys, advice: "", description: "" });

export interface MemoryKeyStore {
  readonly store: KeyStore;
  /** The content of the store, which tests may change. */
  readonly entries: Map<string, Buffer>;
  readonly creations: () => number;
}

export function memoryKeyStore(): MemoryKeyStore {
  const entries = new Map<string, Buffer>();
  const destroyed = new Set<string>();
  let creations = 0;
  const marks = new Map<string, string>();
  const store: KeyStore = {
    read: async (name) => entries.get(name),
    readToOpen: async (ids) => new Map([...entries].filter(([id]) => ids.includes(id))),
    create: async (name, wrapped) => {
      creations++;
      const existing = entries.get(name) ?? wrapped;
      entries.set(name, existing);
      return existing;
    },
    readWatermark: async (name) => marks.get(name),
    writeWatermark: async (name, text) => void marks.set(name, text),
    destroy: async (id) => {
      destroyed.add(id);
      entries.delete(id);
    },
    discard: async (id) => void entries.delete(id),
    replace: async (wrappings) => {
      const replaced = wrappings.filter(({ id, existing }) => entries.get(id)?.equals(existing));
      for (const { id, wrapped } of replaced) entries.set(id, wrapped);
      return replaced.length;
    },
    findMissing: async (ids) => ids.filter((id) => !entries.has(id)),
    findDestroyed: async (ids) => ids.filter((id) => destroyed.has(id)),
    async *ids() {
      // The ids at one moment. Ids that are created later are not among them.
      yield Array.from(entries.keys());
    },
    requireWritable: async () => {},
    description: "memory",
    close: async () => {},
  };
  return { store, entries, creations: () => creations };
}
