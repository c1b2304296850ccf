/** Computes the features of stored events, a piece of a chunk at a time. */
import { hasCode } from "../base/errors/operator-error.ts";
import { isPartitionMissing, Unavailable } from "../base/ports.ts";
import { tryLockTransactionNamed } from "../store/postgres/advisory-locks.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { isTransient } from "../store/postgres/errors.ts";
import type { Transaction } from "../store/postgres/executor.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import {
  advanceChunk,
  balanceChunk,
  charge,
  type Chunk,
  claimChunk,
  delayChunk,
  findPiece,
  finishRuns,
  listRunning,
  type PieceEvent,
  postponeChunk,
  type RunningBackfill,
  splitChunk,
} from "./backfill-chunks.ts";
import { listLayers } from "./decisions.ts";
import { extract, EXTRACTION, type Extracted, failuresOf, NOTHING } from "./extract.ts";
import type { WorkerParts, WorkerPorts } from "./worker-ports.ts";
import { recordFailures } from "./failures.ts";
import { isOf, shareFeatures } from "./layers-of-event.ts";

/**
 * Maximum number of events of one transaction, by the number of failures so far. There is a limit because due events
 * wait for the transaction. An event that fails in a transaction of its own is given up.
 */
const PIECES = [1_000, 50, 5, 1];

export type BackfillPorts = WorkerPorts & WorkerParts;

/**
 * Computes one piece of a running backfill, in one transaction.
 * @returns `undefined` if no backfill has work now. @throws Unavailable, and any error of the computation.
 */
export async function backfillNext(ports: BackfillPorts): Promise<Extracted | undefined> {
  const runs = await listRunning(ports.pool);
  for (const run of runs) {
    const extracted = await workOn(ports, run);
    if (extracted) return extracted;
  }
  if (runs.length > 0) await finishRuns(ports.pool);
  return undefined;
}

interface Claimed {
  chunk?: Chunk;
  events?: readonly PieceEvent[];
}

async function workOn(ports: BackfillPorts, run: RunningBackfill): Promise<Extracted | undefined> {
  const size = Math.min(PIECES[0] ?? 1, run.rate ?? Number.POSITIVE_INFINITY);
  const claimed: Claimed = {};
  try {
    return await inTransaction(ports.pool, async (transaction) => {
      const chunk = await claimChunk(transaction, run.run_id);
      if (!chunk) return undefined;
      claimed.chunk = chunk;
      if (chunk.step === "compute") return compute(transaction, ports, run, claimed, Math.min(size, pieceOf(chunk)));
      await (chunk.step === "split" ? splitChunk : balanceChunk)(transaction, run, chunk);
      return NOTHING;
    });
  } catch (error) {
    const { chunk, events } = claimed;
    // A dependency that is unavailable is no reason to give up an event. An event whose partition of values was dropped
    // is given up, once it fails alone.
    const isAway = (error instanceof Unavailable && !isPartitionMissing(error)) || isTransient(error);
    // guard(false): other chunks and backfills do not wait until a secret is restored
    if (chunk && hasCode(error, "secret-missing", "feature-not-started")) {
      await delayChunk(ports.pool, chunk, ports.retrySeconds ?? 1);
      ports.onError(error, EXTRACTION);
      return undefined;
    }
    if (chunk && !isAway) await setAside(ports, run, chunk, events);
    throw error;
  }
}

const pieceOf = ({ tries }: Chunk): number => PIECES[tries] ?? 1;

/** @returns `undefined` if another backfill computes events of a purpose of which several layers share a feature. */
async function compute(
  transaction: Transaction,
  ports: BackfillPorts,
  run: RunningBackfill,
  claimed: Claimed,
  size: number,
): Promise<Extracted | undefined> {
  const { chunk } = claimed;
  if (!chunk) throw new TypeError("a chunk is claimed first");
  const events = await findPiece(transaction, run, chunk, size);
  // guard(false): two backfills of layers that share a feature do not both count it
  if (!(await lockSharing(transaction, events))) return undefined;
  claimed.events = events;
  const extracted = await extract(transaction, ports, events, { runId: run.run_id, layers: run.layers });
  await advanceChunk(transaction, chunk, events, events.length < size);
  // This comes last, because other workers of the run wait for the end of the transaction from here on.
  await charge(transaction, run, events.length);
  return extracted;
}

/**
 * Excludes other backfills from those purposes of the events of which several layers share a feature. It does not wait,
 * because a piece of another backfill may take longer than a statement may.
 * @returns `false` if another backfill computes such a purpose now.
 */
async function lockSharing(transaction: Transaction, events: readonly PieceEvent[]): Promise<boolean> {
  const layers = await listLayers(transaction);
  const sharing = events.filter((event) => shareFeatures(layers.filter((layer) => isOf(layer, event))));
  for (const purpose of new Set(sharing.map((event) => event.purpose))) {
    if (!(await tryLockTransactionNamed(transaction, LOCKS.sharedFeatures, String(purpose)))) return false;
  }
  return true;
}

/**
 * Postpones the chunk, which is then tried in smaller pieces. If the piece was a single event, records its failure
 * instead, so that the other events do not wait.
 */
async function setAside(
  { pool, retrySeconds = 1 }: BackfillPorts,
  run: RunningBackfill,
  chunk: Chunk,
  events: readonly PieceEvent[] = [],
): Promise<void> {
  // guard(true): an event that always fails is given up
  if (events.length !== 1 || pieceOf(chunk) !== 1) return postponeChunk(pool, chunk, retrySeconds);
  await inTransaction(pool, async (transaction) => {
    const layers = (await listLayers(transaction)).filter(({ layer }) => run.layers.includes(layer));
    await recordFailures(
      transaction,
      events.flatMap((event) => failuresOf(event, layers, "error")),
    );
    await advanceChunk(transaction, chunk, events, false);
  });
}
