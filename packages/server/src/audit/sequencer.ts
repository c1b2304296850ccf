import type { KeyObject } from "node:crypto";
import { OperatorError } from "../errors/operator-error.ts";
import type { Clock } from "../ports.ts";
import { inTransactionOn } from "../postgres/database.ts";
import type { Connection, Transaction } from "../postgres/executor.ts";
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
  listUnlogged,
} from "./log-table.ts";
import { type Checkpoint, type LogKey, openCheckpoint, signCheckpoint } from "./log/checkpoint.ts";
import { CompactRange, leafHash } from "./log/merkle.ts";

export interface SequencerPorts {
  readonly clock: Clock;
  /** The private key of the log. */
  readonly key: KeyObject;
  readonly publicKey: LogKey;
  readonly sinks: readonly CheckpointSink[];
}

/** A sink, and the error or the latest checkpoint that it answered. */
interface Answered {
  readonly sink: CheckpointSink;
  readonly note?: string | undefined;
  readonly error?: unknown;
}

const NO_TRANSACTION = "0";

/**
 * Gives a leaf to each entry that has none, and signs a checkpoint if there were any. It signs nothing that does not
 * extend the checkpoints of all sinks that answer; a sink that was away gets the latest checkpoint when it is back.
 * @returns the errors of sinks. @throws audit-log-broken
 */
export async function extendLog(connection: Connection, ports: SequencerPorts): Promise<readonly unknown[]> {
  const { clock, sinks } = ports;
  const answered = await Promise.all(sinks.map(ask));
  const kept = answered.flatMap(({ sink, note }) => (note === undefined ? [] : [openKept(ports, sink, note)]));
  const at = new Date(clock.now());
  const note = await inTransactionOn(connection, (transaction) => extend(transaction, ports, kept, at));
  const errors: unknown[] = answered.map(({ error }) => error).filter((error) => error !== undefined);
  const behind = answered.filter((one) => one.error === undefined && one.note !== note);
  for (const { sink } of note === undefined ? [] : behind) {
    await sink.writeCheckpoint(note ?? "", at).catch((error: unknown) => errors.push(error));
  }
  return errors;
}

const ask = (sink: CheckpointSink): Promise<Answered> =>
  sink.readCheckpoint().then(
    (note) => ({ sink, note }),
    (error: unknown) => ({ sink, error }),
  );

function openKept({ publicKey }: SequencerPorts, { name }: CheckpointSink, note: string): Checkpoint {
  const checkpoint = openCheckpoint(note, publicKey);
  if (!checkpoint) throw broken(`the checkpoint in ${name} is not of this log`);
  return checkpoint;
}

/** @returns the latest checkpoint, if there is any. */
async function extend(
  transaction: Transaction,
  { key, publicKey: { origin } }: SequencerPorts,
  kept: readonly Checkpoint[],
  at: Date,
): Promise<string | undefined> {
  const last = await lastCheckpoint(transaction);
  const tree = await requireExtension(transaction, kept, last);
  const upto = await finishedTransactions(transaction);
  const isRestored = last !== undefined && (await isOfAnotherCluster(transaction, last.upto));
  await addLeaves(transaction, tree, last && !isRestored ? last.upto : NO_TRANSACTION);
  if (tree.size === (last?.size ?? 0)) return last?.note;
  const note = signCheckpoint({ origin, size: tree.size, root: tree.root() }, key);
  await insertCheckpoint(transaction, { size: tree.size, note, roots: [...tree.roots], upto }, at);
  return note;
}

/** @returns the tree of the last checkpoint. @throws audit-log-broken where it does not extend a kept checkpoint. */
async function requireExtension(
  transaction: Transaction,
  kept: readonly Checkpoint[],
  last: CheckpointRow | undefined,
): Promise<CompactRange> {
  const sorted = kept.filter(({ size }) => size > 0).toSorted((one, other) => one.size - other.size);
  const size = last?.size ?? 0;
  const newest = sorted.at(-1);
  // guard(drop): no second history is signed after a roll back
  // fails: packages/server/src/audit/sequencer.test.ts › rolled back
  if (newest && newest.size > size) {
    throw broken(`a checkpoint kept outside has ${newest.size} entries, the database has ${size}`);
  }
  const [first] = sorted;
  const start = first ? await findCheckpoint(transaction, first.size) : last;
  const tree = new CompactRange(start?.size, start?.roots);
  for (const { size: at, root } of sorted) {
    for await (const hash of listHashes(transaction, tree.size, at)) tree.append(hash);
    // guard(true): a checkpoint extends the one that is kept outside
    // fails: packages/server/src/audit/sequencer.test.ts › leaf was changed
    if (tree.size === at && tree.root().equals(root)) continue;
    throw broken(`the first ${at} entries are not those of a checkpoint kept outside`);
  }
  for await (const hash of listHashes(transaction, tree.size, size)) tree.append(hash);
  if (tree.size !== size || (last && !tree.root().equals(new CompactRange(size, last.roots).root()))) {
    throw broken(`the leaves are not those of the last checkpoint`);
  }
  return tree;
}

async function addLeaves(transaction: Transaction, tree: CompactRange, from: string): Promise<void> {
  for (;;) {
    const entries = await listUnlogged(transaction, from);
    if (entries.length === 0) return;
    const hashes = entries.map(({ record, mac }) => leafHash(record, mac));
    await insertLeaves(transaction, tree.size, entries, hashes);
    for (const hash of hashes) tree.append(hash);
  }
}

const broken = (what: string): OperatorError =>
  new OperatorError("audit-log-broken", `the audit log gets no checkpoint: ${what}: run drs audit verify`);
