/** Ports whose calls can't be cancelled, such as those to a directory of a network file system: past the deadline no caller waits for them. */
import type { ErasureJournal } from "../journal/journal.ts";
import { Unavailable } from "../ports.ts";
import type { KeyStore } from "../crypto/key-store.ts";
import type { Dependency } from "./dependencies.ts";

type Bounded = <T>(call: () => Promise<T>) => Promise<T>;

const boundedBy =
  (dependency: Dependency): Bounded =>
  (call) =>
    dependency.call(call, { isAway: (fault) => fault instanceof Unavailable });

export function boundedKeyStore(store: KeyStore, dependency: Dependency): KeyStore {
  const bounded = boundedBy(dependency);
  return {
    ...store,
    read: (id) => bounded(() => store.read(id)),
    create: (id, wrapped) => bounded(() => store.create(id, wrapped)),
    destroy: (id) => bounded(() => store.destroy(id)),
    replace: (id, standing, wrapped) => bounded(() => store.replace(id, standing, wrapped)),
    lacking: (ids) => bounded(() => store.lacking(ids)),
    ids: () => eachBounded(bounded, store.ids()),
    readMark: (name) => bounded(() => store.readMark(name)),
    writeMark: (name, text) => bounded(() => store.writeMark(name, text)),
  };
}

export function boundedJournal(journal: ErasureJournal, dependency: Dependency): ErasureJournal {
  const bounded = boundedBy(dependency);
  return {
    ...journal,
    read: (from) => eachBounded(bounded, journal.read(from)),
    append: (sequence, text) => bounded(() => journal.append(sequence, text)),
    readLosses: () => bounded(() => journal.readLosses()),
    appendLoss: (sequence, text) => bounded(() => journal.appendLoss(sequence, text)),
  };
}

async function* eachBounded<T>(bounded: Bounded, items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  for (;;) {
    const next = await bounded(() => iterator.next());
    if (next.done) return;
    yield next.value;
  }
}
