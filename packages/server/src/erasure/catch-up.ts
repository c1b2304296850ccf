import type { Sealer } from "../ports.ts";
import type { KeyStore } from "../seal/key-store.ts";
import type { LedgerNames } from "../seal/ledger-names.ts";
import { accountSecretName, holdSecretName, partitionSecretName } from "../seal/sealer.ts";
import type { Secrets } from "../seal/secrets.ts";
import { alone, ifAlone } from "../store/worker-lock.ts";
import { type DatabaseOptions, type Executor, inOneTransaction, sqlState, withClient } from "../store/database.ts";
import { carryOut, copyHeldOf, type ErasureOrigin } from "./carry-out.ts";
import { closeEpoch } from "./close-epoch.ts";
import { headOf, installationId } from "./journal-head.ts";
import { destroyedPartitions, markPartitions, readMark, writeMark } from "./key-store-mark.ts";
import { digestOf, type ErasureJournal, JournalUnfit, type JournalEntry, NO_ENTRY, parseEntry } from "./journal.ts";

const INSUFFICIENT_PRIVILEGE = "42501";

export interface CatchUpPorts {
  /** For looking. */
  readonly executor: Executor;
  /** Of a connection that may destroy secrets, and of one that is the owner's and may erase. */
  readonly database: DatabaseOptions;
  readonly administration: DatabaseOptions;
  readonly journal: ErasureJournal | undefined;
  readonly keyStore: KeyStore;
  readonly secrets: Secrets;
  readonly sealer: Sealer;
  readonly names: LedgerNames;
}

export interface CaughtUp {
  /** Erasures that the database lacked, as one that is restored from a backup does. */
  readonly erasures: number;
  /** Entries that the key store did not know of, whose secrets it may have held again. */
  readonly keyStore: number;
  /** Whether secrets of partitions were destroyed that the database still has: it is older than the key store. */
  readonly isDatabaseBehind: boolean;
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
  const mark = await readMark(keyStore);
  const partitions = (await destroyedPartitions(executor)).length;
  const isDatabaseBehind = mark.partitions > partitions;
  if (!journal) {
    if (head === 0 && mark.sequence === 0) return { erasures: 0, keyStore: 0, isDatabaseBehind };
    throw new JournalUnfit(
      `${Math.max(head, mark.sequence)} erasures were carried out: DRS_ERASURE_JOURNAL (or …_DATABASE_URL) must name their journal`,
    );
  }
  const installation = await installationId(executor);
  await requireHead(journal, head, digest, installation);
  const missing = await readChain(journal, head + 1, installation, digest);
  const last = head + missing.length;
  if (mark.sequence > last) {
    throw new JournalUnfit(
      `the key store has carried out ${mark.sequence} erasures, the journal knows of ${last}: it was cut short. Restore it`,
    );
  }
  const erasures = missing.length > 0 ? await asOwner(ports, (owner) => carryOutAll(owner, ports, missing)) : 0;
  if (mark.sequence >= last && mark.partitions >= partitions) return { erasures, keyStore: 0, isDatabaseBehind };
  const work = (): Promise<number> => catchUpKeys(ports, journal);
  // Of partitions alone, whoever is at it is the pass that lets go of them.
  const waits = mark.sequence < last;
  const destroyed = waits ? await alone(ports.database, work) : ((await ifAlone(ports.database, work)) ?? 0);
  return { erasures, isDatabaseBehind, keyStore: destroyed };
}

function asOwner<T>({ administration }: CatchUpPorts, work: (executor: Executor) => Promise<T>): Promise<T> {
  return withClient(administration, work).catch((fault: unknown) => {
    if (sqlState(fault) !== INSUFFICIENT_PRIVILEGE) throw fault;
    throw new JournalUnfit(
      "the database lacks erasures of the journal, and its login may not carry them out: " +
        "run drs erase list with DRS_MIGRATION_DATABASE_URL naming the owner's login, then start again",
      { cause: fault },
    );
  });
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

/** @throws JournalUnfit where an entry does not follow from the one before. */
export async function checkJournal(executor: Executor, journal: ErasureJournal): Promise<void> {
  await readChain(journal, 1, await installationId(executor), NO_ENTRY);
}

/** Entries from one on, each of which follows from the one before; the first from the digest, where that is known. */
async function readChain(
  journal: ErasureJournal,
  from: number,
  installation: string,
  digest?: string,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (let sequence = from, previous = digest; ; sequence++) {
    const text = await journal.read(sequence);
    if (text === undefined) return entries;
    const entry = parseEntry(text, sequence, installation);
    if (previous !== undefined && entry.previous !== previous) {
      throw new JournalUnfit(
        `entry ${sequence} of the erasure journal does not follow from the one before: restore the journal`,
      );
    }
    entries.push({ text, entry });
    previous = digestOf(text).toString("hex");
  }
}

/** Of what a restored database lacks, nothing is known but what the journal holds. */
const AGAIN: ErasureOrigin = { actor: "erasure journal", reason: "the database lacked it" };

/** Who asked for an erasure that was killed when the journal had it, and why: its order, of that day, is in the audit. */
async function orderOf(executor: Executor, { subject, at }: JournalEntry): Promise<ErasureOrigin | undefined> {
  const { rows } = await executor.query<ErasureOrigin>(
    `select actor, reason from audit_entry begun
      where at between $2::timestamptz - interval '1 day' and $2 and operation = 'erase.run' and outcome = 'begun' and detail ->> 'subject_mac' = $1
        and not exists (select from audit_entry done where done.at between begun.at and $2 and done.operation = 'erase.run'
          and done.outcome = 'done' and done.detail ->> 'subject_mac' = $1)
      order by at desc limit 1`,
    [subject, at],
  );
  return rows[0];
}

/** @returns how many the database lacked. */
async function carryOutAll(
  owner: Executor,
  { sealer, names }: CatchUpPorts,
  entries: readonly Entry[],
): Promise<number> {
  let carriedOut = 0;
  for (const { text, entry } of entries) {
    await inOneTransaction(owner, async () => {
      await owner.query("select lock_holds()");
      await owner.query("select lock_journal()");
      // Whoever wrote it has committed by now, or another server was quicker.
      if ((await headOf(owner)).sequence >= entry.sequence) return;
      await copyHeldOf(owner, sealer, entry);
      const order = (await orderOf(owner, entry)) ?? AGAIN;
      await closeEpoch(owner);
      const unreadable = await copyHeldOf(owner, sealer, entry);
      await carryOut(owner, names, text, entry, { ...order, unreadable: unreadable.length });
      carriedOut++;
    });
  }
  return carriedOut;
}

/**
 * Destroys the secrets of entries that the key store has not carried out, by the journal's word: the database's may be
 * that of an insider. They are carried out in the database by then.
 *
 * @returns how many the key store did not know of.
 */
export async function destroyErased(
  { executor, keyStore, secrets }: Pick<CatchUpPorts, "executor" | "keyStore" | "secrets">,
  journal: ErasureJournal,
): Promise<number> {
  const mark = await readMark(keyStore);
  const { sequence: last } = await headOf(executor);
  const entries = await readChain(journal, mark.sequence + 1, await installationId(executor));
  const missing = entries.filter(({ entry }) => entry.sequence <= last);
  for (const { entry } of missing) {
    for (const id of entry.keys) await secrets.destroy(accountSecretName(id));
    for (const id of entry.holds) await secrets.destroy(holdSecretName(id));
  }
  await writeMark(keyStore, { ...mark, sequence: mark.sequence + missing.length });
  return missing.length;
}

/** The same, and the secrets of dropped partitions. */
async function catchUpKeys(ports: CatchUpPorts, journal: ErasureJournal): Promise<number> {
  const { executor, keyStore, secrets } = ports;
  const erasures = await destroyErased(ports, journal);
  const mark = await readMark(keyStore);
  const partitions = await destroyedPartitions(executor);
  for (const id of mark.partitions < partitions.length ? partitions : []) {
    await secrets.destroy(partitionSecretName(id));
  }
  await markPartitions(executor, keyStore);
  return erasures;
}
