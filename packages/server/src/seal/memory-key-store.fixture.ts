import type { KeyStore } from "./key-store.ts";

export interface MemoryKeyStore {
  readonly store: KeyStore;
  /** What lies in it, to tamper with. */
  readonly entries: Map<string, Buffer>;
  readonly creations: () => number;
}

export function memoryKeyStore(): MemoryKeyStore {
  const entries = new Map<string, Buffer>();
  let creations = 0;
  const store: KeyStore = {
    read: async (name) => entries.get(name),
    create: async (name, wrapped) => {
      creations++;
      const standing = entries.get(name) ?? wrapped;
      entries.set(name, standing);
      return standing;
    },
    destroy: async (name) => void entries.delete(name),
    description: "memory",
    close: async () => {},
  };
  return { store, entries, creations: () => creations };
}
