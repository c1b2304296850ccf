import { isIntact } from "../identity.ts";
import { hasImportWord } from "../import-word.ts";
import type { Bundle } from "../manifest.ts";
import type { Reading } from "../reading.ts";
import type { ReadInput } from "../readings/readings.ts";
import type { Result } from "../result.ts";
import type { Computed } from "./answers.ts";
import { Child } from "./child-process.ts";
import { type Cell, encodeEvent, InputLayout } from "./input-layout.ts";

export type { ReadInput } from "../readings/readings.ts";

export interface RunnerOptions {
  /** Milliseconds that one feature may take for one event. Default: 1. */
  readonly budgetMs?: number;
  /**
   * The runner kills a process that reports no progress for this many milliseconds and `budgetMs` for each feature.
   * Default: 1000.
   */
  readonly graceMs?: number;
  /**
   * After a batch ended or blocked the process, the runner searches this many milliseconds for the feature and the
   * event that caused it. Results that it has not computed by then are `paused`, in this batch only. Default: 15,000.
   */
  readonly searchMs?: number;
  /** Ends a search. Then `run` rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface PausedFeature {
  readonly id: string;
  readonly version: number;
}

export interface BatchResults {
  /** For each event of the batch, a list with one result for each bundle. Events and bundles are in the given order. */
  readonly events: readonly (readonly Result[])[];
  /**
   * Features that exceeded their budget in this batch, or blocked or ended the process. The runner does not compute
   * them again: from the event on at which this happened, their results are `failed`.
   */
  readonly paused: readonly PausedFeature[];
  /** Milliseconds that the runner searched for the features and events that ended or blocked a process. */
  readonly searchedMs: number;
}

/** Computes features in a process without environment, keys, files and network. Batches are computed one at a time. */
export interface FeatureRunner {
  /**
   * @param batch for each event a function that reads its inputs (see `readEvent`)
   * @throws Error after `close`; the reason of the signal, if the signal ended a search
   * @throws NotStarted if an ended process can't be replaced
   */
  run(batch: readonly ReadInput[]): Promise<BatchResults>;
  close(): Promise<void>;
}

export interface OpenedRunner extends FeatureRunner {
  /** Milliseconds of processor time that the first process needed to load the programs. */
  readonly loadMs: number;
}

const BUDGET_MS = 1;
const GRACE_MS = 1000;
const SEARCH_MS = 15_000;
/** The time limit of a start. A process needs a tenth of a second; on a machine under load it needs more. */
const START_MS = 10_000;
/** The maximum number of characters of the events that a process gets at once. */
const MAX_PIECE = 4_000_000;
/** A process reads at least so many characters in a millisecond. */
const CHARACTERS_PER_MS = 4_000;

/** No process loaded the bundles in time, for example because the machine lacks memory or a bundle does not end. */
export class NotStarted extends Error {
  override readonly name = "NotStarted";
}

/** A bundle does not match its hash, or its program can't be loaded or contains the word `import`. */
export class NotLoadable extends TypeError {
  override readonly name = "NotLoadable";
}

/** @throws NotLoadable. The message names the feature. @throws NotStarted */
export async function openRunner(bundles: readonly Bundle[], options: RunnerOptions = {}): Promise<OpenedRunner> {
  const changed = bundles.find((bundle) => !isIntact(bundle));
  if (changed) throw new NotLoadable(`${nameOf(changed)} does not match its hash`);
  const importing = bundles.find(({ text }) => hasImportWord(text));
  // guard(false): a definition imports nothing when it runs
  // fails: packages/features/src/runner/runner.test.ts › does not load a definition that imports
  if (importing) throw new NotLoadable(`the program of ${nameOf(importing)} contains the word "import"`);
  const runner = new IsolatedRunner(bundles, options);
  await runner.begin();
  return runner;
}

/** Events that a process gets at once, and their text. */
interface Piece {
  readonly events: (readonly Reading<unknown>[])[];
  readonly texts: string[];
}

/** Divides a batch, so that a process gets long events in pieces that it reads in some tenths of a second. */
function piecesOf(batch: readonly (readonly Reading<unknown>[])[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const readings of batch) {
    const text = encodeEvent(readings);
    // guard(false): events of some hundred kilobytes do not exceed the time of a batch
    // fails: packages/features/src/runner/runner.test.ts › long events in pieces
    if (size + text.length > MAX_PIECE) {
      pieces.push({ events: [], texts: [] });
      size = 0;
    }
    pieces.at(-1)?.events.push(readings);
    pieces.at(-1)?.texts.push(text);
    size += text.length;
  }
  return pieces;
}

const nameOf = ({ id, version }: PausedFeature): string => `${id}@${version}`;

class IsolatedRunner implements OpenedRunner {
  readonly #bundles: readonly Bundle[];
  readonly #inputLayout: InputLayout;
  readonly #budgetMs: number;
  readonly #graceMs: number;
  readonly #searchMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #paused = new Set<number>();
  #child: Child | undefined;
  #searchedMs = 0;
  #searchEnd: number | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  loadMs = 0;

  constructor(bundles: readonly Bundle[], options: RunnerOptions) {
    const { budgetMs = BUDGET_MS, graceMs = GRACE_MS, searchMs = SEARCH_MS } = options;
    this.#bundles = bundles;
    this.#inputLayout = new InputLayout(bundles);
    this.#budgetMs = budgetMs;
    this.#graceMs = graceMs;
    this.#searchMs = searchMs;
    this.#signal = options.signal;
  }

  async begin(): Promise<void> {
    this.loadMs = await this.#start();
  }

  /** @returns milliseconds of processor time that the programs needed. */
  async #start(): Promise<number> {
    const child = new Child();
    const loaded = await child.load(this.#inputLayout.bundles, this.#budgetMs, START_MS);
    if (loaded && "loadMs" in loaded) {
      this.#child = child;
      return loaded.loadMs;
    }
    await child.kill();
    const broken = loaded && this.#bundles[loaded.broken];
    if (broken) throw new NotLoadable(`the program of ${nameOf(broken)} can't be loaded`);
    throw new NotStarted("the process for features did not start, or a bundle does not end");
  }

  run(batch: readonly ReadInput[]): Promise<BatchResults> {
    const results = this.#last.then(() => this.#compute(batch));
    this.#last = results.catch(() => undefined);
    return results;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    await this.#child?.kill();
  }

  async #compute(batch: readonly ReadInput[]): Promise<BatchResults> {
    if (this.#isClosed) throw new Error("the runner is closed");
    const pausedBefore = new Set(this.#paused);
    this.#searchedMs = 0;
    this.#searchEnd = undefined;
    const readings = batch.map((event) => this.#inputLayout.read(event));
    const cells = await this.#cellsOfBatch(readings).catch((error: unknown) => {
      // The caller gets no report of the features that this batch paused, so the next batch computes them again.
      this.#paused.clear();
      for (const feature of pausedBefore) this.#paused.add(feature);
      throw error;
    });
    const events = readings.map((own, event) => this.#inputLayout.results(own, cells[event] ?? []));
    const paused = [...this.#paused].filter((feature) => !pausedBefore.has(feature));
    const searchedMs = this.#searchedMs;
    return { events, paused: paused.map((feature) => this.#nameAt(feature)), searchedMs };
  }

  async #cellsOfBatch(readings: readonly (readonly Reading<unknown>[])[]): Promise<Cell[][]> {
    const cells: Cell[][] = [];
    for (const { events, texts } of piecesOf(readings)) {
      cells.push(...((await this.#ask(texts, [...this.#paused])) ?? (await this.#search(events))));
    }
    return cells;
  }

  async #search(readings: readonly (readonly Reading<unknown>[])[]): Promise<Cell[][]> {
    const start = performance.now();
    try {
      return await this.#computeOneByOne(readings);
    } finally {
      this.#searchedMs += performance.now() - start;
    }
  }

  #nameAt(feature: number): PausedFeature {
    const { id, version } = this.#bundles[feature] as Bundle;
    return { id, version };
  }

  /**
   * @param texts the encoded events.
   * @returns the cells; `undefined` if the process gave no answer and was killed
   */
  async #ask(texts: readonly string[], skip: readonly number[], isFirst = true): Promise<Cell[][] | undefined> {
    if (this.#child?.hasEnded) {
      await this.#child.kill();
      this.#child = undefined;
    }
    if (!this.#child) await this.#start();
    const child = this.#child as Child;
    const features = this.#bundles.length;
    const batch = `[${texts.join()}]`;
    const deadline = this.#graceMs + (features - skip.length) * this.#budgetMs + batch.length / CHARACTERS_PER_MS;
    const computed = await child.compute(batch, { size: texts.length, features, skip }, deadline);
    if (computed) return this.#cellsOf(computed);
    await child.kill();
    this.#child = undefined;
    // guard(false): a process that the system ends once is no error of a definition
    // fails: packages/features/src/runner/runner.test.ts › that another program kills
    if (child.wasKilledByOther && isFirst) return this.#ask(texts, skip, false);
    return undefined;
  }

  #cellsOf({ slow, cells }: Computed): Cell[][] {
    const rows = cells.map((row) => [...row]);
    for (const [feature, event] of slow) {
      this.#paused.add(feature);
      (rows[event] as Cell[])[feature] = "over-budget";
    }
    return rows;
  }

  /** Computes each feature alone, to find the features that end or block the process. */
  async #computeOneByOne(readings: readonly (readonly Reading<unknown>[])[]): Promise<Cell[][]> {
    const rows = readings.map((): Cell[] => this.#bundles.map((): Cell => "not-computed"));
    const end = (this.#searchEnd ??= performance.now() + this.#searchMs);
    for (let feature = 0; feature < this.#bundles.length && performance.now() < end; feature++) {
      this.#signal?.throwIfAborted();
      if (this.#paused.has(feature)) continue;
      const otherFeatures = this.#bundles.flatMap((_, other) => (other === feature ? [] : [other]));
      const cells =
        (await this.#ask(readings.map(encodeEvent), otherFeatures)) ??
        (await this.#computeEachEvent(readings, feature, otherFeatures, end));
      for (const [event, row] of rows.entries()) row[feature] = cells[event]?.[feature] ?? null;
    }
    return rows;
  }

  /**
   * Computes the events one at a time, to find the one at which the feature ends or blocks the process. If an event
   * fails, the runner tries it a second time. It does not compute events after the one that it found.
   *
   * @param end the value of `performance.now()` from which on no event is computed
   */
  async #computeEachEvent(
    readings: readonly (readonly Reading<unknown>[])[],
    feature: number,
    others: readonly number[],
    end: number,
  ): Promise<Cell[][]> {
    const rows: Cell[][] = [];
    for (const event of readings) {
      const attempt = async (): Promise<Cell[][] | undefined> => {
        this.#signal?.throwIfAborted();
        return this.#ask([encodeEvent(event)], others);
      };
      const isComputed = !this.#paused.has(feature) && performance.now() < end;
      const cells = isComputed ? ((await attempt()) ?? (await attempt())) : undefined;
      const row = cells?.[0] ?? this.#bundles.map((): Cell => "not-computed");
      if (isComputed && !cells) {
        this.#paused.add(feature);
        row[feature] = "over-budget";
      }
      rows.push(row);
    }
    return rows;
  }
}
