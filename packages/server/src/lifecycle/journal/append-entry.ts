import type { Clock } from "../../base/ports.ts";
import type { KeyStore } from "../../store/crypto/key-store.ts";
import { lockJournal } from "../../store/postgres/advisory-locks.ts";
import type { OwnerTransaction, Transaction } from "../../store/postgres/executor.ts";
import type { EntryCodec } from "./entry-codec.ts";
import { digestOf, type EntryBase, type ErasureJournal, type JournalEntry, type OrderEntry } from "./journal.ts";
import { findLatestApplied, recordApplied } from "./applied-entries.ts";
import { writeLatestEntry } from "./key-store-watermark.ts";

export interface AppendEntryPorts {
  readonly clock: Clock;
  readonly journal: ErasureJournal;
  readonly codec: EntryCodec;
  readonly keyStore: KeyStore;
}

/**
 * The members of an entry that the caller gives. `appendEntry` adds the other members, which link the entry to the
 * chain.
 */
export type EntryFields<Entry extends JournalEntry> = Omit<Entry, keyof EntryBase>;

export interface Appended<Entry extends JournalEntry> {
  readonly entry: Entry;
  readonly digest: string;
}

/**
 * Appends the next entry to the journal, in a transaction that holds the journal's lock and applies the entry. Then it
 * records the entry in the key store as the latest one, so that the next reader detects a journal that lost its end.
 * @throws journal-entry-exists, Unavailable
 */
export async function appendEntry<Entry extends JournalEntry>(
  executor: Transaction,
  { clock, journal, codec, keyStore }: AppendEntryPorts,
  fields: EntryFields<Entry>,
): Promise<Appended<Entry>> {
  const latestApplied = await findLatestApplied(executor);
  const chainFields: EntryBase = {
    version: 1,
    sequence: latestApplied.sequence + 1,
    installation: codec.installation,
    at: new Date(clock.now()).toISOString(),
    previous: latestApplied.digest,
  };
  const entry = { ...chainFields, ...fields } as Entry;
  const text = codec.encode(entry);
  // guard(drop): the journal is written before the commit
  await journal.append(entry.sequence, text);
  const digest = digestOf(text);
  await writeLatestEntry(keyStore, { sequence: entry.sequence, digest });
  return { entry, digest };
}

/** Appends an order that the transaction has applied. @throws journal-entry-exists, Unavailable */
export async function appendOrder<Entry extends OrderEntry>(
  executor: OwnerTransaction,
  ports: AppendEntryPorts,
  fields: EntryFields<Entry>,
): Promise<void> {
  await lockJournal(executor);
  const { entry, digest } = await appendEntry<Entry>(executor, ports, fields);
  await recordApplied(executor, { sequence: entry.sequence, digest }, entry.kind);
}
