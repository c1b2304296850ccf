import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import type { EntryCodec } from "./entry-codec.ts";
import {
  digestOf,
  EMPTY_JOURNAL,
  type ErasureJournal,
  createJournalDamagedError,
  type JournalEntry,
  type EntryReference,
  type StoredText,
} from "./journal.ts";

/** An undamaged entry in the chain. */
export interface EntryLink extends EntryReference {
  readonly entry: JournalEntry;
}

/** The link of the chain for an entry whose loss was accepted. */
export interface LostLink extends EntryReference {
  readonly entry?: undefined;
  /** RFC 3339. */
  readonly acceptedAt: string;
  /**
   * Whether the operator's statement names the digest of the lost entry. If it does not, `digest` is the digest of the
   * statement's text, and must not be compared with the digest that another store knows.
   */
  readonly isDigestKnown: boolean;
}

export type Link = EntryLink | LostLink;

/** An entry that the journal must have, because another store refers to it. */
export interface KnownEntry {
  readonly sequence: number;
  /** The digest of the entry; absent if only its number is known. */
  readonly digest?: string;
  /** The store that refers to the entry, as messages name it, such as "the database". */
  readonly knownBy: string;
}

/**
 * Reads the chain after an entry, and verifies that no number is missing, that each entry belongs to this installation,
 * is unchanged and follows from the previous one, and that the chain has every entry that another store knows.
 *
 * @param after an entry that the database has applied, and that the journal must still have; the whole journal by
 * default.
 * @returns what follows `after`, ascending.
 * @throws journal-damaged with the sequence of the first entry that is missing or wrong, journal-foreign,
 * journal-loss-invalid, journal-mismatch, Unavailable
 */
export async function readChain(
  journal: ErasureJournal,
  codec: EntryCodec,
  knownEntries: readonly KnownEntry[] = [],
  after: EntryReference = EMPTY_JOURNAL,
): Promise<readonly Link[]> {
  const losses = await readLosses(journal, codec);
  const links: Link[] = [];
  const lastEntry = (): EntryReference => links.at(-1) ?? after;
  const linkLossesBefore = (sequence: number): void => {
    for (let lost = losses.get(lastEntry().sequence + 1); lost && lost.sequence < sequence;) {
      links.push(lost);
      lost = losses.get(lastEntry().sequence + 1);
    }
  };
  // guard(false): a journal that lacks the verified entry is another one, or was cut
  if (after.sequence > 0) await requireEntry(journal, codec, after, losses);
  for await (const stored of journal.read(after.sequence + 1)) {
    linkLossesBefore(stored.sequence);
    const { sequence, digest } = lastEntry();
    const lost = losses.get(stored.sequence);
    if (lost && !isFound(codec, stored, lost)) {
      links.push(lost);
      continue;
    }
    if (stored.sequence !== sequence + 1) throw missing(journal, sequence + 1);
    const entry = codec.decode(stored);
    if (entry.previous !== digest && losses.get(sequence)?.isDigestKnown !== false) {
      throw createJournalDamagedError(
        stored.sequence,
        `entry ${stored.sequence} of the erasure journal does not follow from the previous entry`,
      );
    }
    links.push({ sequence: stored.sequence, digest: digestOf(stored.text), entry });
  }
  linkLossesBefore(Number.POSITIVE_INFINITY);
  for (const knownEntry of knownEntries) {
    const isDigestKnown = losses.get(knownEntry.sequence)?.isDigestKnown !== false;
    requireKnown(journal, [after, ...links], knownEntry, isDigestKnown);
  }
  return links;
}

/** The links of a chain, compared with the entries that the database has applied. */
export interface ComparedEntries {
  /** Entries up to the latest one that the database has applied or recorded as lost. */
  readonly applied: readonly Link[];
  /** Entries after the latest one that the database has applied or recorded as lost. */
  readonly missing: readonly Link[];
  /** Entries among `applied` that the database recorded as lost, and that the journal has again. */
  readonly found: readonly EntryLink[];
}

/**
 * @param latest the latest entry that the database has applied or recorded as lost.
 * @param losses entries that the database has recorded as lost and never applied.
 */
export function compareEntries(links: readonly Link[], latest: number, losses: ReadonlySet<number>): ComparedEntries {
  return {
    applied: links.filter(({ sequence }) => sequence <= latest),
    missing: links.filter(({ sequence }) => sequence > latest),
    // guard(false): an entry that is found after its loss was recorded is applied
    found: links.filter((link): link is EntryLink => link.entry !== undefined && losses.has(link.sequence)),
  };
}

/** Requires that the journal has an entry that the database has applied, or that its loss was accepted. */
async function requireEntry(
  journal: ErasureJournal,
  codec: EntryCodec,
  { sequence, digest }: EntryReference,
  losses: ReadonlyMap<number, LostLink>,
): Promise<void> {
  const lost = losses.get(sequence);
  if (lost && (!lost.isDigestKnown || lost.digest === digest)) return;
  for await (const stored of journal.read(sequence)) {
    if (stored.sequence !== sequence) break;
    codec.decode(stored);
    if (digestOf(stored.text) === digest) return;
    throw createMismatchError(sequence, "the database");
  }
  throw missing(journal, sequence);
}

/** Whether an entry whose loss was accepted is in the journal again: then the entry counts, and not its loss. */
function isFound(codec: EntryCodec, stored: StoredText, lost: LostLink): boolean {
  if (lost.isDigestKnown && digestOf(stored.text) !== lost.digest) return false;
  try {
    codec.decode(stored);
    return true;
  } catch (error) {
    if (hasCode(error, "journal-damaged", "journal-foreign")) return false;
    throw error;
  }
}

async function readLosses(journal: ErasureJournal, codec: EntryCodec): Promise<ReadonlyMap<number, LostLink>> {
  const losses = new Map<number, LostLink>();
  for await (const stored of journal.readLosses()) {
    const { sequence, digest, at } = codec.decodeLoss(stored);
    const isDigestKnown = digest !== null;
    losses.set(sequence, { sequence, digest: digest ?? digestOf(stored.text), acceptedAt: at, isDigestKnown });
  }
  return losses;
}

const missing = ({ description }: ErasureJournal, sequence: number): OperatorError =>
  createJournalDamagedError(sequence, `entry ${sequence} of the erasure journal (${description}) is missing`);

/** @param isDigestKnown false if the entry is lost and the statement of its loss does not name its digest. */
function requireKnown(
  journal: ErasureJournal,
  chain: readonly EntryReference[],
  known: KnownEntry,
  isDigestKnown: boolean,
): void {
  const { sequence, digest, knownBy } = known;
  const [first, last] = [chain[0]?.sequence ?? 0, chain.at(-1)?.sequence ?? 0];
  if (sequence > last) {
    throw createJournalDamagedError(
      last + 1,
      `${knownBy} knows of entry ${sequence} of the erasure journal, and the journal (${journal.description}) ` +
        `ends at entry ${last}: it was cut short or is another one`,
    );
  }
  const link = sequence === 0 || sequence < first ? undefined : chain[sequence - first];
  if (isDigestKnown && digest !== undefined && link !== undefined && link.digest !== digest) {
    throw createMismatchError(sequence, knownBy);
  }
}

const createMismatchError = (sequence: number, knownBy: string): OperatorError =>
  new OperatorError(
    "journal-mismatch",
    `entry ${sequence} of the erasure journal is not the one that ${knownBy} knows, and it is whole: ` +
      "they are of different histories. Restore the journal that belongs to it",
  );
