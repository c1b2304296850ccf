import { randomUUID } from "node:crypto";
import type { Clock } from "../ports.ts";
import type { Executor } from "../store/database.ts";
import type { Erased, ErasureJournal, ErasureKind, JournalEntry } from "./journal.ts";
import { headOf, installationId } from "./journal-head.ts";

export interface AppendPorts {
  readonly clock: Clock;
  readonly journal: ErasureJournal;
}

export interface Appended {
  readonly entry: JournalEntry;
  /** As it stands in the journal. */
  readonly text: string;
}

/**
 * Appends the next entry to the journal, in a transaction that holds the journal's lock and carries the entry out.
 * @throws JournalUnfit where the journal has that entry already. @throws Unavailable
 */
export async function appendEntry(
  executor: Executor,
  { clock, journal }: AppendPorts,
  kind: ErasureKind,
  erased: Erased,
): Promise<Appended> {
  const { sequence, previous } = await headOf(executor);
  const entry: JournalEntry = {
    version: 1,
    sequence: sequence + 1,
    installation: await installationId(executor),
    erasure_id: randomUUID(),
    kind,
    at: new Date(clock.now()).toISOString(),
    previous,
    ...erased,
  };
  const text = `${JSON.stringify(entry)}\n`;
  await journal.append(entry.sequence, text);
  return { entry, text };
}
