import type { Dependency } from "../dependencies/dependencies.ts";
import { boundedBy, eachBounded } from "../dependencies/file-calls.ts";
import type { KeyStore } from "./key-store.ts";

/** A key store in files: each of its calls has the deadline of the dependency, also where a call needs many files. */
export function boundedKeyStore(store: KeyStore, dependency: Dependency): KeyStore {
  const bounded = boundedBy(dependency);
  return {
    ...store,
    read: (id) => bounded(() => store.read(id)),
    create: (id, wrapped) => bounded(() => store.create(id, wrapped)),
    destroy: (id) => bounded(() => store.destroy(id)),
    replace: (id, standing, wrapped) => bounded(() => store.replace(id, standing, wrapped)),
    async findMissing(ids) {
      const lacking: string[] = [];
      for (const id of ids) lacking.push(...(await bounded(() => store.findMissing([id]))));
      return lacking;
    },
    ids: () => eachBounded(bounded, store.ids()),
    readWatermark: (name) => bounded(() => store.readWatermark(name)),
    writeWatermark: (name, text) => bounded(() => store.writeWatermark(name, text)),
  };
}
