import { createHash } from "node:crypto";

/** What is erased; a hold ends with its copies. */
export const ERASURE_KINDS = ["account", "purpose", "action", "event", "hold"] as const;
export type ErasureKind = (typeof ERASURE_KINDS)[number];

/**
 * What an erasure took, by random ids and keyed MACs alone: enough to take it again from a restored database, and nothing
 * for anybody else.
 */
export interface Erased {
  /** Keyed MAC in hexadecimal of what was to be erased: finds it again for whoever can name it. */
  readonly subject: string | null;
  /** Ids of account keys whose secrets are destroyed. */
  readonly keys: readonly string[];
  /** Ids of accounts of which nothing is to be left, tokens and actions included. */
  readonly accounts: readonly string[];
  readonly events: readonly string[];
  /** Holds that ended, with the secret of their copies. */
  readonly holds: readonly string[];
  /** Keyed MACs in hexadecimal of accounts whose later events are refused. */
  readonly refused: readonly string[];
}

export interface JournalEntry extends Erased {
  readonly version: 1;
  /** Counted from 1, without a gap. */
  readonly sequence: number;
  readonly installation: string;
  readonly erasure_id: string;
  readonly kind: ErasureKind;
  readonly at: string;
  /** SHA-256 in hexadecimal of the entry before; of the first one, 64 zeros. */
  readonly previous: string;
}

export const NO_ENTRY = "0".repeat(64);

export const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * The erasure journal: append-only, and outside of what it speaks of. A database or a key store that is restored from a
 * backup learns from it what it must not hold any more.
 */
export interface ErasureJournal {
  /** @returns the text of an entry as it was appended; `undefined` where there is none. @throws Unavailable */
  read(sequence: number): Promise<string | undefined>;
  /** Durable when the promise resolves. @throws JournalUnfit where that entry stands already. @throws Unavailable */
  append(sequence: number, text: string): Promise<void>;
  /** A line for people: where it is. */
  readonly description: string;
  close(): Promise<void>;
}

/** A journal that does not go with the database, with a message that says what to do. */
export class JournalUnfit extends Error {
  override readonly name = "JournalUnfit";
}

/** What an `append` throws where another has written the entry. */
export function taken(sequence: number, cause?: unknown): JournalUnfit {
  const advice = "the database is behind it; start again, so that it catches up";
  return new JournalUnfit(`the erasure journal has an entry ${sequence} already: ${advice}`, { cause });
}

/** @throws JournalUnfit where the text is no entry of this installation and place. */
export function parseEntry(text: string, sequence: number, installation: string): JournalEntry {
  let entry: Partial<JournalEntry> | null;
  try {
    entry = JSON.parse(text) as Partial<JournalEntry> | null;
  } catch (cause) {
    throw new JournalUnfit(`entry ${sequence} of the erasure journal is not whole: restore the journal`, { cause });
  }
  if (!isEntry(entry) || entry.sequence !== sequence) {
    throw new JournalUnfit(
      `entry ${sequence} of the erasure journal is not of a form that this version knows: restore the journal, ` +
        "or start the version that wrote it",
    );
  }
  if (entry.installation !== installation) {
    throw new JournalUnfit(
      "the erasure journal belongs to another installation: point DRS_ERASURE_JOURNAL at this one's",
    );
  }
  return entry;
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const MAC = /^[\da-f]{32}$/;
const DIGEST = /^[\da-f]{64}$/;

function isEntry(entry: Partial<JournalEntry> | null): entry is JournalEntry {
  if (typeof entry !== "object" || entry === null || entry.version !== 1) return false;
  const { sequence, installation, erasure_id, kind, at, previous, subject, keys, accounts, events, holds, refused } =
    entry;
  return (
    Number.isSafeInteger(sequence) &&
    isText(installation, UUID) &&
    isText(erasure_id, UUID) &&
    ERASURE_KINDS.includes(kind as ErasureKind) &&
    !Number.isNaN(Date.parse(String(at))) &&
    isText(previous, DIGEST) &&
    (subject === null || isText(subject, MAC)) &&
    [keys, accounts, events, holds].every((ids) => isList(ids, UUID)) &&
    isList(refused, MAC)
  );
}

const isText = (value: unknown, form: RegExp): boolean => typeof value === "string" && form.test(value);
const isList = (value: unknown, form: RegExp): boolean =>
  Array.isArray(value) && value.every((one) => isText(one, form));
