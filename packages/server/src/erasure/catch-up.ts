import type { Sealer } from "../ports.ts";
import type { KeyStore } from "../seal/key-store.ts";
import type { LedgerNames } from "../seal/ledger-names.ts";
import { accountSecretName, holdSecretName, partitionSecretName } from "../seal/sealer.ts";
import type { Secrets } from "../seal/secrets.ts";
import { type Executor, inOneTransaction } from "../store/database.ts";
import { carryOut, copyWhatIsLeft } from "./carry-out.ts";
import { headOf, installationId } from "./journal-head.ts";
import { digestOf, type ErasureJournal, JournalUnfit, type JournalEntry, parseEntry } from "./journal.ts";

export interface CatchUpPorts {
  /** For looking. */
  readonly executor: Executor;
  /** Runs work on a connection of the owner's, which alone may erase. */
  readonly asOwner: <T>(work: (executor: Executor) => Promise<T>) => Promise<T>;
  readonly journal: ErasureJournal | undefined;
  readonly keyStore: KeyStore;
  readonly secrets: Secrets;
  readonly sealer: Sealer;
  readonly names: LedgerNames;
}

export interface CaughtUp {
  /** Erasures that the database lacked, as one that is restored from a backup does. */
  readonly erasures: number;
  /** Erasures whose secrets the key store held again. */
  readonly keyStore: number;
}

interface Entry {
  readonly text: string;
  readonly entry: JournalEntry;
}

/**
 * Compares the heads of the database and of the key store with the journal, and takes from either what it must not hold
 * any more. Whoever serves before that would show what was erased.
 *
 * @throws JournalUnfit where the journal is behind, another one, or not there.
 */
export async function catchUp(ports: CatchUpPorts): Promise<CaughtUp> {
  const { executor, journal, keyStore } = ports;
  const { sequence: head, previous: digest } = await headOf(executor);
  const mark = readMark(await keyStore.readMark());
  if (!journal) {
    if (head === 0 && mark.sequence === 0) return { erasures: 0, keyStore: 0 };
    throw new JournalUnfit(
      `${Math.max(head, mark.sequence)} erasures were carried out: DRS_ERASURE_JOURNAL (or …_DATABASE_URL) must name their journal`,
    );
  }
  const installation = await installationId(executor);
  await requireHead(journal, head, digest, installation);
  const missing = await readFrom(journal, head, digest, installation);
  const last = head + missing.length;
  if (mark.sequence > last) {
    throw new JournalUnfit(
      `the key store has carried out ${mark.sequence} erasures, the journal knows of ${last}: it was cut short. Restore it`,
    );
  }
  if (missing.length > 0) await ports.asOwner((owner) => carryOutAll(owner, ports, missing));
  const behind = await catchUpKeys(ports, mark, last, installation);
  return { erasures: missing.length, keyStore: behind };
}

async function requireHead(journal: ErasureJournal, head: number, digest: string, installation: string): Promise<void> {
  if (head === 0) return;
  const text = await journal.read(head);
  if (text === undefined) {
    throw new JournalUnfit(
      `the database has carried out ${head} erasures, and the journal (${journal.description}) has no entry ${head}: ` +
        "it was cut short or is another one. Restore it, or point DRS_ERASURE_JOURNAL at it",
    );
  }
  parseEntry(text, head, installation);
  if (digestOf(text).toString("hex") !== digest) {
    throw new JournalUnfit(
      `entry ${head} of the erasure journal is not the one that the database has carried out: restore it`,
    );
  }
}

async function readFrom(
  journal: ErasureJournal,
  head: number,
  digest: string,
  installation: string,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (let sequence = head + 1, previous = digest; ; sequence++) {
    const text = await journal.read(sequence);
    if (text === undefined) return entries;
    const entry = parseEntry(text, sequence, installation);
    if (entry.previous !== previous) {
      throw new JournalUnfit(
        `entry ${sequence} of the erasure journal does not follow from the one before: restore it`,
      );
    }
    entries.push({ text, entry });
    previous = digestOf(text).toString("hex");
  }
}

async function carryOutAll(owner: Executor, { sealer, names }: CatchUpPorts, entries: readonly Entry[]): Promise<void> {
  for (const { text, entry } of entries) {
    await inOneTransaction(owner, async () => {
      await owner.query("select lock_holds()");
      await owner.query("select lock_journal()");
      await owner.query("select close_epoch()");
      // Another server that starts at the same time may have been quicker.
      if ((await headOf(owner)).sequence >= entry.sequence) return;
      await copyWhatIsLeft(owner, sealer, entry);
      await carryOut(owner, names, text, entry, { actor: "erasure journal", reason: "the database lacked it" });
    });
  }
}

/** What the key store has carried out. */
interface Mark {
  readonly sequence: number;
  /** Dropped partitions whose secrets it destroyed. */
  readonly partitions: number;
}

function readMark(text: string | undefined): Mark {
  const [sequence = 0, partitions = 0] = (text ?? "").split(" ").map(Number);
  return { sequence, partitions };
}

/** @returns how many erasures it did not know of. */
async function catchUpKeys(ports: CatchUpPorts, mark: Mark, last: number, installation: string): Promise<number> {
  const { executor, keyStore, secrets, journal } = ports;
  const { rows } = await executor.query<{ partition_id: string }>(
    "select partition_id from event_partition where secret_destroyed_at is not null",
  );
  if (mark.sequence >= last && mark.partitions >= rows.length) return 0;
  for (let sequence = mark.sequence + 1; sequence <= last; sequence++) {
    const { keys, holds } = parseEntry((await journal?.read(sequence)) ?? "", sequence, installation);
    for (const id of keys) await secrets.destroy(accountSecretName(id));
    for (const id of holds) await secrets.destroy(holdSecretName(id));
  }
  if (mark.partitions < rows.length) {
    for (const { partition_id } of rows) {
      const name = partitionSecretName(partition_id);
      if (await secrets.find(name)) await secrets.destroy(name);
    }
  }
  await keyStore.writeMark(`${last} ${rows.length}`);
  return last - mark.sequence;
}

/** Tells the key store what was carried out in it. */
export async function markKeyStore(executor: Executor, keyStore: KeyStore): Promise<void> {
  const { sequence } = await headOf(executor);
  const { rows } = await executor.query<{ partitions: number }>(
    "select count(*) as partitions from event_partition where secret_destroyed_at is not null",
  );
  await keyStore.writeMark(`${sequence} ${rows[0]?.partitions ?? 0}`);
}
