/**
 * Ports whose calls can't be cancelled, such as those to a directory of a network file system: past the deadline no caller
 * waits for them. Where a call needs many files, each of them has the deadline.
 */
import type { ErasureJournal } from "../journal/journal.ts";
import { Unavailable } from "../ports.ts";
import type { KeyStore } from "../crypto/key-store.ts";
import { NoAnswer } from "./deadline.ts";
import type { Dependency } from "./dependencies.ts";
import { type Bounded, onePerHang } from "./file-calls.ts";

function boundedBy(dependency: Dependency): Bounded {
  const isAway = (fault: unknown): boolean => fault instanceof Unavailable;
  return onePerHang(
    (call) => dependency.call(call, { isAway }),
    () => new NoAnswer(`an earlier call to the ${dependency.title} still hangs`),
  );
}

export function boundedKeyStore(store: KeyStore, dependency: Dependency): KeyStore {
  const bounded = boundedBy(dependency);
  return {
    ...store,
    read: (id) => bounded(() => store.read(id)),
    create: (id, wrapped) => bounded(() => store.create(id, wrapped)),
    destroy: (id) => bounded(() => store.destroy(id)),
    replace: (id, standing, wrapped) => bounded(() => store.replace(id, standing, wrapped)),
    async lacking(ids) {
      const lacking: string[] = [];
      for (const id of ids) lacking.push(...(await bounded(() => store.lacking([id]))));
      return lacking;
    },
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
    readLosses: () => eachBounded(bounded, journal.readLosses()),
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
