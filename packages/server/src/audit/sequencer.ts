import type { KeyObject } from "node:crypto";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Clock } from "../base/ports.ts";
import { inTransactionOn } from "../store/postgres/database.ts";
import type { OwnerConnection, OwnerTransaction } from "../store/postgres/executor.ts";
import { writeAudit } from "./audit.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { EntryChecker } from "./entry-checker.ts";
import type { CheckpointSink } from "./checkpoint-sink.ts";
import {
  type CheckpointRow,
  findCheckpoint,
  finishedTransactions,
  insertCheckpoint,
  insertLeaves,
  isOfAnotherCluster,
  lastCheckpoint,
  listHashes,
  readEntry,
  readUnlogged,
} from "./log-table.ts";
import { type LogKey, signCheckpoint } from "./log/checkpoint.ts";
import {
  EPOCH_OPERATION,
  type EpochCheckpoint,
  epochReferences,
  FIRST_EPOCH,
  originOfEpoch,
  verifyEpochCheckpoint,
} from "./log/epoch.ts";
import { CompactRange, leafHash } from "./log/merkle.ts";
import { openReview, type ReviewOrder } from "./reviews.ts";

export interface SequencerPorts {
  readonly clock: Clock;
  /** A signer with the MAC keys of all surfaces. */
  readonly audit: AuditSigner;
  /** The private key of the log. */
  readonly key: KeyObject;
  readonly publicKey: LogKey;
  readonly sinks: readonly CheckpointSink[];
}

/** A sink, with its latest checkpoint or the error of the query. */
interface SinkAnswer {
  readonly sink: CheckpointSink;
  readonly note?: string | undefined;
  readonly error?: unknown;
}

/** Entries that got a leaf although they have no valid MAC, or columns that do not copy their record. */
export interface Unverified {
  readonly count: number;
  /** The first of them. */
  readonly entryId?: string | undefined;
}

export interface Extended {
  /** Errors of sinks. */
  readonly errors: readonly unknown[];
  readonly unverified: Unverified;
  /** Whether each sink has the latest checkpoint. */
  readonly sinks: readonly PassedSink[];
}

export interface PassedSink {
  readonly name: string;
  readonly isCurrent: boolean;
}

const NO_TRANSACTION = "0";

/**
 * Gives a leaf to each entry that has none, and signs a checkpoint if there were such entries. It signs only a
 * checkpoint that extends the checkpoints of all sinks that answer. A sink that was unavailable gets the latest
 * checkpoint in a later call.
 * @throws audit-log-broken; key-file-unusable if this process lacks a MAC key
 */
export async function extendLog(connection: OwnerConnection, ports: SequencerPorts): Promise<Extended> {
  const { clock, sinks } = ports;
  const answered = await Promise.all(sinks.map(askSinkForNote));
  const kept = answered.flatMap(({ sink, note }) => (note === undefined ? [] : [openKeptNote(ports, sink, note)]));
  const at = new Date(clock.now());
  const { note, unverified } = await inTransactionOn(connection, (owner) => extendTree(owner, ports, kept, at));
  const behind = answered.filter((one) => one.error === undefined && one.note !== note);
  const failed = note === undefined ? [] : await writeNoteToSinks(behind, note, at);
  const problems = [...answered.filter(({ error }) => error !== undefined), ...failed];
  return {
    errors: problems.map(({ error }) => error),
    unverified,
    sinks: sinks.map(({ name }) => ({ name, isCurrent: problems.every(({ sink }) => sink.name !== name) })),
  };
}

/** @returns the sinks that failed, with their errors. */
async function writeNoteToSinks(
  answered: readonly SinkAnswer[],
  note: string,
  at: Date,
): Promise<readonly SinkAnswer[]> {
  const failed: SinkAnswer[] = [];
  for (const { sink } of answered) {
    await sink.writeCheckpoint(note, at).catch((error: unknown) => failed.push({ sink, error }));
  }
  return failed;
}

export interface StartedEpoch {
  readonly epoch: number;
  readonly reviewId: string;
  /** Errors of sinks. Those sinks get the checkpoint later. */
  readonly errors: readonly unknown[];
}

/**
 * Starts the next epoch of the log of a database that was restored to an earlier state. The first leaf of the epoch is
 * an entry that names the latest checkpoint of the sinks; the same transaction opens a review of this entry.
 * @throws state-conflict if the database has all entries of the sinks' checkpoints; audit-log-broken; what a sink
 * throws
 */
export async function startEpoch(
  connection: OwnerConnection,
  ports: SequencerPorts,
  order: ReviewOrder,
): Promise<StartedEpoch> {
  const answered = await Promise.all(ports.sinks.map(askSinkForNote));
  const away = answered.find(({ error }) => error !== undefined);
  // guard(false): an epoch admits what the latest checkpoint of all sinks has
  if (away) throw away.error;
  const kept = answered.flatMap(({ sink, note }) =>
    note === undefined ? [] : [{ note, ...openKeptNote(ports, sink, note) }],
  );
  const newest = kept.toSorted(compareCheckpoints).at(-1);
  const at = new Date(ports.clock.now());
  const started = await inTransactionOn(connection, async (transaction) => {
    const last = await lastCheckpoint(transaction);
    if (!newest || !isAhead(newest, last)) {
      throw new OperatorError(
        "state-conflict",
        "The database has all entries of the checkpoints that are kept outside: no new epoch is needed.",
      );
    }
    return insertEpochStart(transaction, ports, order, { last, kept: newest, at });
  });
  const errors = (await writeNoteToSinks(answered, started.note, at)).map(({ error }) => error);
  return { epoch: started.epoch, reviewId: started.reviewId, errors };
}

/** The last checkpoint of the database, and the latest one of the sinks, at the end of an epoch. */
interface EndOfEpoch {
  readonly last: CheckpointRow | undefined;
  readonly kept: EpochCheckpoint & { readonly note: string };
  readonly at: Date;
}

async function insertEpochStart(
  transaction: OwnerTransaction,
  ports: SequencerPorts,
  { agent, reason }: ReviewOrder,
  { last, kept, at }: EndOfEpoch,
): Promise<{ readonly epoch: number; readonly reviewId: string; readonly note: string }> {
  const { audit } = ports;
  const epoch = Math.max(kept.epoch, last?.epoch ?? FIRST_EPOCH) + 1;
  const references = epochReferences(epoch, kept.note, last?.note);
  const entryId = await writeAudit(transaction, audit, {
    ...agent,
    operation: EPOCH_OPERATION,
    outcome: "begun",
    reason,
    references,
  });
  const reviewId = await openReview(transaction, audit, entryId, { agent, reason });
  const upto = await finishedTransactions(transaction);
  const tree = new CompactRange();
  await addFirst(transaction, { epoch, tree }, entryId);
  await addLeaves(transaction, audit, { epoch, tree }, NO_TRANSACTION);
  return { epoch, reviewId, note: await signCheckpointOf(transaction, ports, { epoch, tree, upto }, at) };
}

const compareCheckpoints = (one: EpochCheckpoint, other: EpochCheckpoint): number =>
  one.epoch - other.epoch || one.size - other.size;

/** Whether a checkpoint of a sink covers entries that the database lacks. */
function isAhead(kept: EpochCheckpoint, last: CheckpointRow | undefined): boolean {
  const [epoch, size] = last ? [last.epoch, last.size] : [FIRST_EPOCH, 0];
  return kept.epoch > epoch || (kept.epoch === epoch && kept.size > size);
}

const askSinkForNote = (sink: CheckpointSink): Promise<SinkAnswer> =>
  sink.readCheckpoint().then(
    (note) => ({ sink, note }),
    (error: unknown) => ({ sink, error }),
  );

function openKeptNote({ publicKey }: SequencerPorts, { name }: CheckpointSink, note: string): EpochCheckpoint {
  const checkpoint = verifyEpochCheckpoint(note, publicKey);
  if (!checkpoint) throw logBroken(`the checkpoint in ${name} is not of this log`);
  return checkpoint;
}

/** @returns the latest checkpoint, if there is one, and the unsigned entries. */
async function extendTree(
  transaction: OwnerTransaction,
  ports: SequencerPorts,
  kept: readonly EpochCheckpoint[],
  at: Date,
): Promise<{ readonly note?: string | undefined; readonly unverified: Unverified }> {
  const last = await lastCheckpoint(transaction);
  const epoch = last?.epoch ?? FIRST_EPOCH;
  const tree = await requireExtension(transaction, kept, last);
  const upto = await finishedTransactions(transaction);
  const isRestored = last !== undefined && (await isOfAnotherCluster(transaction, last.upto));
  const from = last && !isRestored ? last.upto : NO_TRANSACTION;
  const unverified = await addLeaves(transaction, ports.audit, { epoch, tree }, from);
  if (tree.size === (last?.size ?? 0)) return { note: last?.note, unverified };
  return { note: await signCheckpointOf(transaction, ports, { epoch, tree, upto }, at), unverified };
}

/** An epoch's tree, to which leaves are added. */
interface GrowingTree {
  readonly epoch: number;
  readonly tree: CompactRange;
}

async function signCheckpointOf(
  transaction: OwnerTransaction,
  { key, publicKey }: SequencerPorts,
  { epoch, tree, upto }: GrowingTree & { readonly upto: string },
  at: Date,
): Promise<string> {
  const origin = originOfEpoch(publicKey.origin, epoch);
  const note = signCheckpoint({ origin, size: tree.size, root: tree.root() }, key);
  await insertCheckpoint(transaction, { epoch, size: tree.size, note, roots: [...tree.roots], upto }, at);
  return note;
}

/** @returns the tree of the last checkpoint. @throws audit-log-broken if the tree does not extend a kept checkpoint. */
async function requireExtension(
  transaction: OwnerTransaction,
  kept: readonly EpochCheckpoint[],
  last: CheckpointRow | undefined,
): Promise<CompactRange> {
  const epoch = last?.epoch ?? FIRST_EPOCH;
  const size = last?.size ?? 0;
  const newest = kept.toSorted(compareCheckpoints).at(-1);
  // guard(drop): no second history is signed after a roll back
  if (newest && isAhead(newest, last)) {
    throw logBroken(`a checkpoint kept outside has ${newest.size} entries, the database has ${size}`);
  }
  // Checkpoints of earlier epochs are not compared, because the first entry of this epoch names the latest of them.
  const sorted = kept.filter((one) => one.epoch === epoch && one.size > 0).toSorted(compareCheckpoints);
  const [first] = sorted;
  const start = first ? await findCheckpoint(transaction, epoch, first.size) : last;
  const tree = new CompactRange(start?.size, start?.roots);
  for (const { size: at, root } of sorted) {
    for await (const hash of listHashes(transaction, epoch, tree.size, at)) tree.append(hash);
    // guard(true): a checkpoint extends the one that is kept outside
    if (tree.size === at && tree.root().equals(root)) continue;
    throw logBroken(`the first ${at} entries are not those of a checkpoint kept outside`);
  }
  for await (const hash of listHashes(transaction, epoch, tree.size, size)) tree.append(hash);
  if (tree.size !== size || (last && !tree.root().equals(new CompactRange(size, last.roots).root()))) {
    throw logBroken(`the leaves are not those of the last checkpoint`);
  }
  return tree;
}

async function addFirst(transaction: OwnerTransaction, { epoch, tree }: GrowingTree, entryId: string): Promise<void> {
  const { record, mac } = await readEntry(transaction, entryId);
  const hash = leafHash(record, mac);
  await insertLeaves(transaction, { epoch, first: 0 }, [{ entryId, hash, verified: true }]);
  tree.append(hash);
}

/** @returns the unsigned entries. */
async function addLeaves(
  transaction: OwnerTransaction,
  audit: AuditSigner,
  { epoch, tree }: GrowingTree,
  from: string,
): Promise<Unverified> {
  const checker = await EntryChecker.open(transaction, audit);
  let unverified: Unverified = { count: 0 };
  for (let next = from; ;) {
    const entries = await readUnlogged(transaction, next);
    const last = entries.at(-1);
    if (!last) return unverified;
    const leaves = entries.map((entry) => ({
      entryId: entry.entry_id,
      hash: entry.hash,
      verified: checker.isGenuine(entry),
    }));
    await insertLeaves(transaction, { epoch, first: tree.size }, leaves);
    for (const { entryId, hash, verified } of leaves) {
      if (!verified) unverified = { count: unverified.count + 1, entryId: unverified.entryId ?? entryId };
      tree.append(hash);
    }
    next = last.next ?? next;
  }
}

const logBroken = (what: string): OperatorError =>
  new OperatorError("audit-log-broken", `the audit log gets no checkpoint: ${what}: run drs audit verify`);
