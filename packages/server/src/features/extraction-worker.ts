import { OperatorError } from "../base/errors/operator-error.ts";
import { Loop } from "../base/loop.ts";
import { isPartitionMissing, Unavailable } from "../base/ports.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { isTransient } from "../store/postgres/errors.ts";
import { backfillNext } from "./backfill.ts";
import { listLayers } from "./decisions.ts";
import { extract, EXTRACTION, type Extracted, failuresOf } from "./extract.ts";
import {
  claimDue,
  delayDue,
  deleteDue,
  type DueBatch,
  type DueEvent,
  isWorkWaiting,
  postponeDue,
} from "./extraction-due.ts";
import { recordFailures } from "./failures.ts";
import { LayerRunners } from "./layer-runners.ts";
import { isOf } from "./layers-of-event.ts";
import { createParserOf } from "./read-inputs.ts";
import type { WorkerParts, WorkerPorts } from "./worker-ports.ts";

/** The interval at which an idle worker looks for work. It begins with `first`, and doubles up to `last`. */
const LOOK_EVERY_MS = { first: 100, last: 600 };
const AFTER_FAILURE_MS = 1_000;
/**
 * After this number of failures, the events of a batch are computed one by one. An event that fails alone is given up.
 */
const MAX_TRIES = 5;

/**
 * Computes the features of what commit batches report as due and, while nothing is due, of backfills. Several workers
 * share the work.
 */
export class ExtractionWorker {
  readonly #ports: WorkerPorts;
  readonly #parts: WorkerParts;
  /** Aborted by `close`, with an error after which a batch stays due. */
  readonly #closing = new AbortController();
  readonly #loop: Loop;
  #idleMs = LOOK_EVERY_MS.first;

  constructor(ports: WorkerPorts) {
    this.#ports = ports;
    const onError = (error: unknown): void => {
      if (error !== this.#closing.signal.reason) ports.onError(error, EXTRACTION);
    };
    this.#parts = {
      runners: new LayerRunners({ signal: this.#closing.signal }),
      parserOf: createParserOf(ports.onError),
    };
    this.#loop = new Loop(() => this.#run(), { everyMs: AFTER_FAILURE_MS, atOnce: true, onError });
  }

  /**
   * Waits for the batch that is under way, and ends the processes of its definitions. A batch in which a feature ends or
   * blocks a process ends then, and stays due.
   */
  async close(): Promise<void> {
    this.#closing.abort(new Unavailable("the worker is closing"));
    await this.#loop.close();
    await this.#parts.runners.close();
  }

  /** @returns the next pause, which gets longer while there is nothing to do. */
  async #run(): Promise<number> {
    const hasWorked = await this.#work();
    this.#idleMs = hasWorked ? LOOK_EVERY_MS.first : Math.min(this.#idleMs * 2, LOOK_EVERY_MS.last);
    return this.#idleMs;
  }

  /** Works until there is nothing to do. An idle worker sends one statement. @returns whether there was something. */
  async #work(): Promise<boolean> {
    if (!(await isWorkWaiting(this.#ports.pool))) return false;
    let hasWorked = false;
    while (!this.#closing.signal.aborted && (await workNext({ ...this.#ports, ...this.#parts }))) hasWorked = true;
    return hasWorked;
  }
}

async function workNext(ports: WorkerPorts & WorkerParts): Promise<Extracted | undefined> {
  const due = await extractNext(ports);
  // A backfill does not wait for events that wait.
  if (due && due.waiting.size === 0) return due;
  const extracted = await backfillNext(ports);
  if (extracted) report(ports, extracted);
  return extracted ?? due;
}

/**
 * Computes one batch of what is due, in one transaction: after a crash all of it is done again.
 * @returns `undefined` if nothing is due. @throws Unavailable, and any error of the computation.
 */
export async function extractNext(ports: WorkerPorts & WorkerParts): Promise<Extracted | undefined> {
  const claimed: { batch?: DueBatch } = {};
  try {
    const extracted = await inTransaction(ports.pool, async (transaction) => {
      const batch = await claimDue(transaction);
      if (!batch) return undefined;
      claimed.batch = batch;
      const result = await extract(transaction, ports, batch.events, { isRetry: batch.tries > 0 });
      const { waiting } = result;
      const rest = batch.events.filter(({ eventId }) => waiting.has(eventId));
      await deleteDue(transaction, batch, rest);
      if (waiting.size > 0) await delayDue(transaction, batch, [...waiting], ports.retrySeconds ?? 1);
      return result;
    });
    if (extracted) report(ports, extracted);
    return extracted;
  } catch (error) {
    const { batch } = claimed;
    // Events of a time without a partition have this error, until the clocks are right again. All events of the same
    // rows wait for them.
    if (batch && isPartitionMissing(error))
      await delayDue(ports.pool, batch, idsOf(batch.events), ports.retrySeconds ?? 1);
    // A dependency that is unavailable is no reason to give up an event.
    else if (batch && !(error instanceof Unavailable) && !isTransient(error)) await setAside(ports, batch);
    throw error;
  }
}

const idsOf = (events: readonly DueEvent[]): readonly string[] => events.map(({ eventId }) => eventId);

function report({ onError, onExtracted }: WorkerPorts, extracted: Extracted): void {
  onExtracted?.(extracted);
  for (const error of extracted.errors) onError(error, EXTRACTION);
  if (extracted.slow.size > 0) {
    const slow = [...extracted.slow].toSorted().join(", ");
    const message = `too slow for an event, or no time left for its account or for the feature: ${slow}`;
    onError(new OperatorError("feature-time-limit", message), EXTRACTION);
  }
  if (extracted.differences === 0) return;
  onError(
    new OperatorError("feature-not-deterministic", "a second computation of stored features gave another result"),
    EXTRACTION,
  );
}

/**
 * Postpones the batch. After the last try, computes each event of the batch alone, so that other events do not wait for
 * one that fails.
 */
async function setAside(ports: WorkerPorts & WorkerParts, batch: DueBatch): Promise<void> {
  const { pool, retrySeconds = 1 } = ports;
  // guard(true): a batch that always fails is given up
  if (batch.tries + 1 < MAX_TRIES) return postponeDue(pool, batch, retrySeconds);
  const waiting: DueEvent[] = [];
  for (const event of batch.events) if (await extractAlone(ports, event)) waiting.push(event);
  await inTransaction(pool, async (transaction) => {
    await deleteDue(transaction, batch, waiting);
    if (waiting.length > 0) await delayDue(transaction, batch, idsOf(waiting), retrySeconds);
  });
}

/**
 * Computes an event in each of its layers alone. If this fails, records the failure of the layer.
 * @returns whether the event stays due, because its values can't be computed or sealed now.
 * @throws Unavailable, and transient database errors.
 */
async function extractAlone(ports: WorkerPorts & WorkerParts, event: DueEvent): Promise<boolean> {
  let isWaiting = false;
  for (const layer of (await listLayers(ports.pool)).filter((one) => isOf(one, event))) {
    const options = { layers: [layer.layer], isRetry: true };
    try {
      const extracted = await inTransaction(ports.pool, (transaction) => extract(transaction, ports, [event], options));
      report(ports, extracted);
      isWaiting ||= extracted.waiting.size > 0;
    } catch (error) {
      if (error instanceof Unavailable || isTransient(error)) throw error;
      const failures = failuresOf(event, [layer], "error");
      await inTransaction(ports.pool, (transaction) => recordFailures(transaction, failures));
    }
  }
  return isWaiting;
}
