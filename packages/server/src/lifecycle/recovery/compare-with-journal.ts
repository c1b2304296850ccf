/** Compares the database and the key store with the erasure journal. */
import { plural } from "../../base/messages/plural.ts";
import type { KeyStore } from "../../store/crypto/key-store.ts";
import { listAcceptedEntryLosses, findLatestApplied, listUnappliedLosses } from "../journal/applied-entries.ts";
import {
  type ComparedEntries,
  compareEntries,
  type KnownEntry,
  type Link,
  type LostLink,
  readChain,
} from "../journal/chain.ts";
import type { EntryCodec } from "../journal/entry-codec.ts";
import type { EntryReference, ErasureJournal } from "../journal/journal.ts";
import { readLatestEntry, readWatermark } from "../journal/key-store-watermark.ts";
import { lockJournal } from "../../store/postgres/advisory-locks.ts";
import { type DatabaseOptions, inTransactionOn, withClient } from "../../store/postgres/database.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";

/** The result of comparing the database, the key store and the journal. */
export interface Comparison extends ComparedEntries {
  /** The latest entry that the database has applied or recorded as lost. */
  readonly latest: EntryReference;
  /**
   * Accepted losses that the database has not recorded: the command that accepted them did not commit, or a restore
   * removed its rows.
   */
  readonly unrecorded: readonly LostLink[];
  /** The latest entry that was applied to the key store. */
  readonly watermark: number;
}

export interface ComparisonPorts {
  /** Runs the queries of the comparison. */
  readonly executor: Executor;
  readonly journal: ErasureJournal | undefined;
  readonly codec: EntryCodec;
  /** An entry that the journal must have, because a receipt names it. */
  readonly attested: KnownEntry | undefined;
  readonly keyStore: KeyStore;
}

/**
 * Compares the latest entries of the database and of the key store with the journal.
 *
 * @param from `start` verifies the whole journal, `head` only the entries after the latest one that the database has
 * applied or recorded as lost.
 * @throws an error with a journal-… code if the journal is damaged, outdated, of another installation, or missing.
 * @throws Unavailable
 */
export async function compareWithJournal(ports: ComparisonPorts, from: "start" | "head"): Promise<Comparison> {
  const { executor, journal, keyStore, codec } = ports;
  const latest = await findLatestApplied(executor);
  const watermark = await readWatermark(keyStore);
  const known = await findKnownEntries(ports, latest, watermark);
  if (!journal) requireNoEntries(known);
  const links = journal ? await readChain(journal, codec, known, from === "head" ? latest : undefined) : [];
  return {
    latest,
    ...compareEntries(links, latest.sequence, await listUnappliedLosses(executor)),
    unrecorded: await unrecordedLosses(executor, links, latest),
    watermark,
  };
}

async function unrecordedLosses(
  executor: Executor,
  links: readonly Link[],
  { sequence: last }: EntryReference,
): Promise<readonly LostLink[]> {
  const lost = links.filter((link) => link.entry === undefined).filter(({ sequence }) => sequence <= last);
  const recorded = new Set(lost.length > 0 ? await listAcceptedEntryLosses(executor) : []);
  return lost.filter(({ sequence }) => !recorded.has(sequence));
}

/** The latest entries that the database, the key store and a receipt know. */
export async function findKnownEntries(
  { keyStore, attested }: Pick<ComparisonPorts, "keyStore" | "attested">,
  head: EntryReference,
  watermark: number,
): Promise<readonly KnownEntry[]> {
  return [
    { ...head, knownBy: "the database" },
    { ...(await readLatestEntry(keyStore)), knownBy: "the key store" },
    { sequence: watermark, knownBy: "the key store" },
    ...(attested ? [attested] : []),
  ];
}

function requireNoEntries(known: readonly KnownEntry[]): void {
  const last = Math.max(...known.map(({ sequence }) => sequence));
  if (last === 0) return;
  throw new OperatorError(
    "journal-missing",
    `the erasure journal has ${plural(last, "entry", "entries")}: DRS_ERASURE_JOURNAL (or …_DATABASE_URL) must name it`,
  );
}

/**
 * Requires that the database has applied every entry of the journal. Called before an order, or before events are
 * shown.
 *
 * @param from as for `compareWithJournal`.
 * @returns the result of the comparison. @throws replay-needed if the database lacks entries of the journal.
 * @throws an error with a journal-… code, Unavailable
 */
export async function requireReplayed(
  ports: ComparisonPorts & { readonly database: DatabaseOptions },
  from: "start" | "head",
): Promise<Comparison> {
  const compared = await compareWithJournal(ports, from);
  const links = [...compared.missing, ...compared.found, ...compared.unrecorded];
  const lackingCount = await countLacking(ports.database, links);
  // guard(true): a restored database takes no order before the replay
  if (lackingCount === 0) return compared;
  throw new OperatorError(
    "replay-needed",
    `the database lacks ${plural(lackingCount, "entry", "entries")} of the erasure journal: run drs erase replay`,
  );
}

/**
 * Waits for any command that has written the journal and not committed yet, and then counts the entries that the
 * database still lacks.
 */
async function countLacking(database: DatabaseOptions, links: readonly Link[]): Promise<number> {
  if (links.length === 0) return 0;
  const latest = await withClient(database, (client) =>
    inTransactionOn(client, async (transaction) => {
      await lockJournal(transaction);
      const losses = new Set(await listAcceptedEntryLosses(transaction));
      return { ...(await findLatestApplied(transaction)), losses, unapplied: await listUnappliedLosses(transaction) };
    }),
  );
  const isApplied = ({ sequence, entry }: Link): boolean =>
    sequence <= latest.sequence &&
    (entry === undefined ? latest.losses.has(sequence) : !latest.unapplied.has(sequence));
  return links.filter((link) => !isApplied(link)).length;
}
