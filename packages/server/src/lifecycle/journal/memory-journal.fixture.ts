import { createEntryExistsError, type ErasureJournal, createLossExistsError } from "./journal.ts";

export interface MemoryJournal {
  readonly journal: ErasureJournal;
  /** The stored texts by sequence, which a test may change. */
  readonly entries: Map<number, string>;
  readonly losses: Map<number, string>;
}

const ascending = (texts: ReadonlyMap<number, string>): { sequence: number; text: string }[] =>
  [...texts].map(([sequence, text]) => ({ sequence, text })).toSorted((one, other) => one.sequence - other.sequence);

export function memoryJournal(): MemoryJournal {
  const entries = new Map<number, string>();
  const losses = new Map<number, string>();
  const append = (
    texts: Map<number, string>,
    sequence: number,
    text: string,
    exists: typeof createEntryExistsError,
  ): void => {
    if (texts.has(sequence)) throw exists(sequence);
    texts.set(sequence, text);
  };
  let checkpoint: string | undefined;
  const journal: ErasureJournal = {
    async *read(from) {
      for (const stored of ascending(entries)) if (stored.sequence >= from) yield stored;
    },
    append: async (sequence, text) => append(entries, sequence, text, createEntryExistsError),
    async *readLosses() {
      yield* ascending(losses);
    },
    appendLoss: async (sequence, text) => append(losses, sequence, text, createLossExistsError),
    readCheckpoint: async () => checkpoint,
    async writeCheckpoint(note) {
      checkpoint = note;
    },
    requireWritable: async () => {},
    description: "memory",
    close: async () => {},
  };
  return { journal, entries, losses };
}
