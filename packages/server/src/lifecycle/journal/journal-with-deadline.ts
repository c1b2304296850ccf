import type { Dependency } from "../../base/dependencies/dependencies.ts";
import { boundedBy, eachBounded } from "../../base/dependencies/file-calls.ts";
import type { ErasureJournal } from "./journal.ts";

/**
 * Gives each call of a journal in files the deadline of the dependency. A call that reads many entries has this
 * deadline for each entry.
 */
export function journalWithDeadline(journal: ErasureJournal, dependency: Dependency): ErasureJournal {
  const bounded = boundedBy(dependency);
  return {
    ...journal,
    read: (from) => eachBounded(bounded, journal.read(from)),
    append: (sequence, text) => bounded(() => journal.append(sequence, text)),
    readLosses: () => eachBounded(bounded, journal.readLosses()),
    appendLoss: (sequence, text) => bounded(() => journal.appendLoss(sequence, text)),
    readCheckpoint: () => bounded(() => journal.readCheckpoint()),
    writeCheckpoint: (note, at) => bounded(() => journal.writeCheckpoint(note, at)),
    requireWritable: () => bounded(() => journal.requireWritable()),
  };
}
