import type { Dependency } from "../dependencies/dependencies.ts";
import { boundedBy, eachBounded } from "../dependencies/file-calls.ts";
import type { ErasureJournal } from "./journal.ts";

/** A journal in files whose calls have the deadline of the dependency, also if a call reads many files. */
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
  };
}
