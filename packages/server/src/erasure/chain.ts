import type { EntryCodec } from "./entry-codec.ts";
import {
  digestOf,
  EMPTY_JOURNAL,
  type ErasureJournal,
  JournalDamaged,
  type JournalEntry,
  type JournalHead,
} from "./journal.ts";

/** An entry in its place in the chain; without `entry` where its loss was accepted. */
export interface Link extends JournalHead {
  readonly entry?: JournalEntry;
}

/** An entry that another store knows the journal to have. */
export interface KnownHead {
  readonly sequence: number;
  /** Absent where only the number is known. */
  readonly digest?: string;
  /** Who knows it, for people: "the database". */
  readonly knownBy: string;
}

/**
 * Reads the chain behind an entry and verifies it: no number is missing, each entry is this installation's, unchanged, and
 * follows from the previous one, and the chain reaches every entry that another store knows.
 *
 * @param after an entry that was verified before; the whole journal by default.
 * @returns what follows `after`, ascending.
 * @throws JournalDamaged that names the first entry that is missing or wrong. @throws JournalUnfit, Unavailable
 */
export async function readChain(
  journal: ErasureJournal,
  codec: EntryCodec,
  known: readonly KnownHead[] = [],
  after: JournalHead = EMPTY_JOURNAL,
): Promise<readonly Link[]> {
  const losses = await readLosses(journal, codec);
  const links: Link[] = [];
  const last = (): JournalHead => links.at(-1) ?? after;
  const linkLossesBefore = (sequence: number): void => {
    for (let lost = losses.get(last().sequence + 1); lost && lost.sequence < sequence;) {
      links.push(lost);
      lost = losses.get(last().sequence + 1);
    }
  };
  for await (const stored of journal.read(after.sequence + 1)) {
    if (losses.has(stored.sequence)) continue;
    linkLossesBefore(stored.sequence);
    const { sequence, digest } = last();
    if (stored.sequence !== sequence + 1) throw missing(journal, sequence + 1);
    const entry = codec.decode(stored);
    if (entry.previous !== digest && losses.get(sequence)?.isDigestKnown !== false) {
      throw new JournalDamaged(
        stored.sequence,
        `entry ${stored.sequence} of the erasure journal does not follow from the previous entry`,
      );
    }
    links.push({ sequence: stored.sequence, digest: digestOf(stored.text), entry });
  }
  linkLossesBefore(Number.POSITIVE_INFINITY);
  for (const head of known) requireKnown(journal, [after, ...links], head);
  return links;
}

interface LostLink extends Link {
  readonly isDigestKnown: boolean;
}

async function readLosses(journal: ErasureJournal, codec: EntryCodec): Promise<ReadonlyMap<number, LostLink>> {
  const losses = new Map<number, LostLink>();
  for (const stored of await journal.readLosses()) {
    const { sequence, digest } = codec.decodeLoss(stored);
    losses.set(sequence, { sequence, digest: digest ?? digestOf(stored.text), isDigestKnown: digest !== null });
  }
  return losses;
}

const missing = ({ description }: ErasureJournal, sequence: number): JournalDamaged =>
  new JournalDamaged(sequence, `entry ${sequence} of the erasure journal (${description}) is missing`);

function requireKnown(journal: ErasureJournal, chain: readonly JournalHead[], known: KnownHead): void {
  const { sequence, digest, knownBy } = known;
  const [first, last] = [chain[0]?.sequence ?? 0, chain.at(-1)?.sequence ?? 0];
  if (sequence > last) {
    throw new JournalDamaged(
      last + 1,
      `${knownBy} knows of entry ${sequence} of the erasure journal, and the journal (${journal.description}) ` +
        `ends at entry ${last}: it was cut short or is another one`,
    );
  }
  const link = sequence === 0 || sequence < first ? undefined : chain[sequence - first];
  if (digest !== undefined && link !== undefined && link.digest !== digest) {
    throw new JournalDamaged(sequence, `entry ${sequence} of the erasure journal is not the one that ${knownBy} knows`);
  }
}
