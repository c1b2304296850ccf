import { createHash } from "node:crypto";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { Unavailable } from "../../base/ports.ts";

/** The subjects of erasures. `hold`: a hold has ended, so its secrets are destroyed and its copies are deleted. */
export const ERASURE_KINDS = ["account", "purpose", "action", "event", "hold"] as const;
export type ErasureKind = (typeof ERASURE_KINDS)[number];

export const HOLD_ORDER_KINDS = ["hold-placed", "hold-reviewed", "hold-lifted"] as const;
export type HoldOrderKind = (typeof HOLD_ORDER_KINDS)[number];

export const RESTRICTION_ORDER_KINDS = ["restriction-placed", "restriction-lifted"] as const;
export type RestrictionOrderKind = (typeof RESTRICTION_ORDER_KINDS)[number];

/** Members of every entry of the journal. */
export interface EntryBase {
  readonly version: 1;
  /** The number of the entry, counted from 1 without a gap. */
  readonly sequence: number;
  readonly installation: string;
  readonly at: string;
  /** SHA-256 in hexadecimal of the previous entry; of the first one, 64 zeros. */
  readonly previous: string;
}

/**
 * What an erasure deletes, as random ids and keyed MACs. They are enough to repeat the erasure on a restored database,
 * and identify no person without the installation's keys.
 */
export interface ErasedSubjects {
  /**
   * Keyed MAC in hexadecimal of the subject. A caller who knows the name of the subject can find the erasure by this
   * MAC.
   */
  readonly subject: string | null;
  /** Ids of account keys whose secrets are destroyed. */
  readonly keys: readonly string[];
  /** Ids of accounts that are erased as a whole, tokens and actions included. */
  readonly accounts: readonly string[];
  readonly events: readonly string[];
  /**
   * Ids of the holds that ended. The id of a hold is also the id of its first secret. The ids of its later secrets
   * follow.
   */
  readonly holds: readonly string[];
  /** Keyed MACs in hexadecimal of accounts whose later events are rejected. */
  readonly refused: readonly string[];
  /** Ids of the restrictions that end with the account; absent if there are none. */
  readonly restrictions?: readonly string[];
}

export interface ErasureEntry extends EntryBase, ErasedSubjects {
  readonly kind: ErasureKind;
  readonly erasure_id: string;
}

/** The subject of a hold; names of accounts and actions are keyed MACs in hexadecimal. */
export type HeldSubject =
  | { readonly of: "account" | "action_id"; readonly mac: string }
  | { readonly of: "event_id"; readonly event_id: string };

export interface HoldPlacedEntry extends EntryBase {
  readonly kind: "hold-placed";
  readonly hold_id: string;
  readonly subject: HeldSubject;
  /** The date of the next review, such as `2027-01-31`. */
  readonly review_on: string;
}

export interface HoldReviewedEntry extends EntryBase {
  readonly kind: "hold-reviewed";
  readonly hold_id: string;
  readonly review_on: string;
}

export interface HoldLiftedEntry extends EntryBase {
  readonly kind: "hold-lifted";
  readonly hold_id: string;
}

export type HoldOrderEntry = HoldPlacedEntry | HoldReviewedEntry | HoldLiftedEntry;

/** The article of the GDPR: 18 is the restriction of processing, 21 the objection to it. */
export const RESTRICTION_ARTICLES = [18, 21] as const;
export type RestrictionArticle = (typeof RESTRICTION_ARTICLES)[number];

export interface RestrictionPlacedEntry extends EntryBase {
  readonly kind: "restriction-placed";
  readonly restriction_id: string;
  /** Keyed MAC in hexadecimal of the account. */
  readonly account: string;
  /** Id of a purpose; `null` means all purposes. */
  readonly purpose: string | null;
  readonly article: RestrictionArticle;
  readonly request_id: string | null;
}

export interface RestrictionLiftedEntry extends EntryBase {
  readonly kind: "restriction-lifted";
  readonly restriction_id: string;
  /** The day on which the person was informed, of the form `2027-01-31`. */
  readonly informed_on: string;
}

export type RestrictionOrderEntry = RestrictionPlacedEntry | RestrictionLiftedEntry;
export type OrderEntry = HoldOrderEntry | RestrictionOrderEntry;
export type JournalEntry = ErasureEntry | OrderEntry;

/** The actor and the reason of an entry that a database lacked. The journal does not contain the original ones. */
export const REPLAYED = { actor: "erasure journal", reason: "the database lacked this entry" };

export const isErasure = (entry: JournalEntry): entry is ErasureEntry => "erasure_id" in entry;
export const isHoldOrder = (entry: OrderEntry): entry is HoldOrderEntry => "hold_id" in entry;

/**
 * An operator's statement that an entry is permanently lost. The verification of the chain accepts this statement in
 * place of the entry. The statement is stored separately, and a damaged entry remains in the journal.
 */
export interface AcceptedLoss {
  readonly version: 1;
  readonly kind: "loss";
  readonly sequence: number;
  readonly installation: string;
  readonly at: string;
  /** SHA-256 in hexadecimal of the lost entry, if the next entry or another store knows it; `null` otherwise. */
  readonly digest: string | null;
}

/** The value of the first entry's `previous`. */
export const NO_ENTRY = "0".repeat(64);

export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A reference to an entry of the journal: its sequence, and the digest that the next entry contains as `previous`. */
export interface EntryReference {
  readonly sequence: number;
  readonly digest: string;
}

export const EMPTY_JOURNAL: EntryReference = { sequence: 0, digest: NO_ENTRY };

export interface StoredText {
  readonly sequence: number;
  readonly text: string;
}

/**
 * The erasure journal. It is append-only, and separate from the database and the key store. If one of these was
 * restored from a backup, the journal contains the orders that must be applied to it again.
 */
export interface ErasureJournal {
  /** Yields every entry from a sequence on, ascending, also those after a gap. @throws Unavailable */
  read(from: number): AsyncIterable<StoredText>;
  /**
   * Appends an entry. It is durable when the promise resolves. @throws journal-entry-exists, or dependency-unusable: then
   * the journal does not have the entry. @throws Unavailable: then the journal may have it.
   */
  append(sequence: number, text: string): Promise<void>;
  /** Yields every accepted loss. @throws Unavailable */
  readLosses(): AsyncIterable<StoredText>;
  /** Appends an accepted loss. It is durable when the promise resolves. @throws journal-loss-exists, Unavailable */
  appendLoss(sequence: number, text: string): Promise<void>;
  /** The latest checkpoint of the audit log, which the journal keeps outside the database. @throws Unavailable */
  readCheckpoint(): Promise<string | undefined>;
  /** Stores a checkpoint as the latest one. The journal keeps the last checkpoint of each day. @throws Unavailable */
  writeCheckpoint(note: string, at: Date): Promise<void>;
  /** Tries whether the journal can be written. @throws Unavailable */
  requireWritable(): Promise<void>;
  /** Where the journal is, in one line for messages. */
  readonly description: string;
  close(): Promise<void>;
}

/** The error for an entry that is missing, unreadable or changed, or that does not follow from the previous entry. */
export function createJournalDamagedError(sequence: number, what: string): OperatorError<"journal-damaged"> {
  const advice =
    "restore the journal from its latest copy; if that entry is permanently lost, see " +
    `drs erase accept-loss --entry ${sequence}`;
  return new OperatorError("journal-damaged", `${what}: ${advice}`, { detail: { sequence } });
}

/** The error for an entry of another installation. */
export const createJournalForeignError = (sequence: number): OperatorError<"journal-foreign"> =>
  new OperatorError(
    "journal-foreign",
    `entry ${sequence} of the erasure journal belongs to another installation: ` +
      "point DRS_ERASURE_JOURNAL at the journal of this one",
    { detail: { sequence } },
  );

/** The error of `append` if the journal already has the entry. */
export function createEntryExistsError(sequence: number, cause?: unknown): OperatorError {
  const advice = "run drs erase replay";
  const message = `the erasure journal already has entry ${sequence}, which the database has not applied: ${advice}`;
  return new OperatorError("journal-entry-exists", message, { cause });
}

/** The error of `appendLoss` if the journal already has the accepted loss. */
export const createLossExistsError = (sequence: number, cause?: unknown): OperatorError =>
  new OperatorError(
    "journal-loss-exists",
    `the loss of entry ${sequence} of the erasure journal is accepted already: drs erase replay records it`,
    { cause },
  );

export const createJournalUnreadableError = (cause: unknown): Unavailable =>
  new Unavailable("the erasure journal can't be read", { cause });
