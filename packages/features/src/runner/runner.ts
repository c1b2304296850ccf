import { isIntact } from "../identity.ts";
import { hasImportWord } from "../import-word.ts";
import type { Bundle } from "../manifest.ts";
import type { ReadInput } from "../readings/readings.ts";
import type { Result } from "../result.ts";
import type { Part, Place } from "./answers.ts";
import { Child, type Limits } from "./child-process.ts";
import { type Cell, encodeEvent, InputLayout } from "./input-layout.ts";

export type { ReadInput } from "../readings/readings.ts";

export interface RunnerOptions {
  /**
   * Milliseconds that one feature may take for one event. Default: 1. A feature that takes twenty times as long, and at
   * least 100 milliseconds of processor time, ends its process.
   */
  readonly budgetMs?: number;
  /** Ends a batch in which a process was ended. Then `run` rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** The computing time of a feature version, for the events of all accounts together. */
export interface FeatureTime {
  /** When so many milliseconds are spent, the feature is not computed. */
  readonly fullMs: number;
  /** `run` adds to it what the events take for which the feature is too slow. */
  spentMs: number;
}

/** The computing time of an account. Events that are computed within `budgetMs` cost nothing. */
export interface TimeShare {
  /** When so many milliseconds are spent, features that were too slow for the account are not computed. */
  readonly patienceMs: number;
  /** When so many milliseconds are spent, no feature is computed. */
  readonly fullMs: number;
  /** `run` adds to it. */
  spentMs: number;
  /** The features that were too slow, by id and version, such as `root_traces@2`. `run` adds to it. */
  readonly slow: Set<string>;
}

export interface BatchResults {
  /** For each event of the batch, a list with one result for each bundle. Events and bundles are in the given order. */
  readonly events: readonly (readonly Result[])[];
}

/** Computes features in a process without environment, keys, files and network. Batches are computed one at a time. */
export interface FeatureRunner {
  /**
   * @param batch for each event a function that reads its inputs (see `readEvent`)
   * @param shares for each event the time of its account. Default: one share, enough for each feature to end a process.
   * @param times for each bundle the time of its feature. Default: no limit.
   * @throws Error after `close`; the reason of the signal, if a process was ended after the signal
   * @throws NotStarted if an ended process can't be replaced
   */
  run(
    batch: readonly ReadInput[],
    shares?: readonly TimeShare[],
    times?: readonly FeatureTime[],
  ): Promise<BatchResults>;
  close(): Promise<void>;
}

export interface OpenedRunner extends FeatureRunner {
  /** Milliseconds of processor time that the first process needed to load the programs. */
  readonly loadMs: number;
}

const BUDGET_MS = 1;
/** The least processor time after which a feature ends its process. */
const END_MS = 100;
/**
 * The time limit of a start, and of each part of an answer, because a process on a machine under load may need long. A
 * definition that does not end reaches its limit of processor time before.
 */
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
  if (importing) throw new NotLoadable(`the program of ${nameOf(importing)} contains the word "import"`);
  const runner = new IsolatedRunner(bundles, options);
  await runner.begin();
  return runner;
}

/** Divides a batch, so that a process gets long events in pieces that it reads in some tenths of a second. */
function piecesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const pieces: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const text of texts) {
    // guard: events of some hundred kilobytes do not exceed the time of a batch
    if (size + text.length > MAX_PIECE) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)?.push(text);
    size += text.length;
  }
  return pieces;
}

/** @param left the milliseconds that are left of each of the times. */
function spend(times: readonly (TimeShare | FeatureTime)[], left: readonly number[]): void {
  for (const [index, time] of times.entries()) {
    // A definition that changes the answer gets no time back.
    time.spentMs = Math.max(time.spentMs, time.fullMs - (left[index] ?? 0));
  }
}

const nameOf = ({ id, version }: Pick<Bundle, "id" | "version">): string => `${id}@${version}`;

class IsolatedRunner implements OpenedRunner {
  readonly #bundles: readonly Bundle[];
  readonly #names: readonly string[];
  readonly #inputLayout: InputLayout;
  readonly #limits: Limits;
  readonly #signal: AbortSignal | undefined;
  #child: Child | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  loadMs = 0;
  /** Milliseconds of processor time that the last process needed until its programs were loaded. */
  #startMs = 0;

  constructor(bundles: readonly Bundle[], { budgetMs = BUDGET_MS, signal }: RunnerOptions) {
    this.#bundles = bundles;
    this.#names = bundles.map(nameOf);
    this.#inputLayout = new InputLayout(bundles);
    this.#limits = { budgetMs, endMs: Math.max(END_MS, 20 * budgetMs) };
    this.#signal = signal;
  }

  async begin(): Promise<void> {
    this.loadMs = await this.#start();
  }

  /** @returns milliseconds of processor time that the programs needed. */
  async #start(): Promise<number> {
    const child = new Child();
    const loaded = await child.load(this.#inputLayout.bundles, this.#limits, START_MS);
    if (loaded && "loadMs" in loaded) {
      this.#child = child;
      this.#startMs = loaded.startMs;
      return loaded.loadMs;
    }
    await child.kill();
    const broken = loaded && this.#bundles[loaded.broken];
    if (broken) throw new NotLoadable(`the program of ${nameOf(broken)} can't be loaded`);
    throw new NotStarted("the process for features did not start, or a bundle does not end");
  }

  run(...given: Parameters<FeatureRunner["run"]>): Promise<BatchResults> {
    const results = this.#last.then(() => this.#compute(...given));
    this.#last = results.catch(() => undefined);
    return results;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    await this.#child?.kill();
  }

  /** What a feature costs that ends its process: its time, and that of a new process. */
  get #endedMs(): number {
    return this.#limits.endMs + this.#startMs;
  }

  async #compute(
    batch: readonly ReadInput[],
    given?: readonly TimeShare[],
    times: readonly FeatureTime[] = this.#names.map(() => ({ fullMs: Number.MAX_SAFE_INTEGER, spentMs: 0 })),
  ): Promise<BatchResults> {
    if (this.#isClosed) throw new Error("the runner is closed");
    const readings = batch.map((event) => this.#inputLayout.read(event));
    const patienceMs = 2 * this.#endedMs;
    const fullMs = patienceMs + this.#names.length * this.#endedMs;
    const all: TimeShare = { patienceMs, fullMs, spentMs: 0, slow: new Set() };
    const shares = given ?? batch.map(() => all);
    const cells: (readonly Cell[])[] = [];
    for (const texts of piecesOf(readings.map(encodeEvent))) {
      cells.push(...(await this.#computePiece(texts, shares.slice(cells.length, cells.length + texts.length), times)));
    }
    return { events: readings.map((own, event) => this.#inputLayout.results(own, cells[event] ?? [])) };
  }

  /**
   * Computes events. If a feature ends or blocks the process, a new process computes the rest without this feature of
   * this event.
   */
  async #computePiece(
    texts: readonly string[],
    shares: readonly TimeShare[],
    times: readonly FeatureTime[],
  ): Promise<readonly (readonly Cell[])[]> {
    const cells: (readonly Cell[])[] = [];
    let ended: Place[] = [];
    let isCareful = false;
    for (;;) {
      const from = cells.length;
      const reason = await this.#ask(texts, shares, times, cells, ended, isCareful);
      if (reason === "done") return cells;
      await this.#child?.kill();
      this.#child = undefined;
      // What was under way is an event after the events that were reported.
      ended = ended.filter(([, event]) => event >= cells.length);
      if (reason !== "lost") {
        const [feature, event] = [reason[0], from + reason[1]];
        ended.push([feature, event]);
        const share = shares[event] as TimeShare;
        // A process that could not say what was under way was ended before this one.
        const costMs = (isCareful ? 2 : 1) * this.#endedMs;
        share.spentMs += costMs;
        (times[feature] as FeatureTime).spentMs += costMs;
        share.slow.add(this.#names[feature] as string);
      } else if (isCareful) {
        // The process can't even read the event.
        cells.push(this.#bundles.map((): Cell => "time-limit"));
      }
      // guard: a process that the system ends once is no error of a definition
      isCareful = reason === "lost";
      this.#signal?.throwIfAborted();
    }
  }

  /** Asks a process for the events that have no cells yet, and adds their cells. */
  async #ask(
    texts: readonly string[],
    shares: readonly TimeShare[],
    times: readonly FeatureTime[],
    cells: (readonly Cell[])[],
    ended: readonly Place[],
    isCareful: boolean,
  ): Promise<"done" | "lost" | Place> {
    if (this.#child?.hasEnded) {
      await this.#child.kill();
      this.#child = undefined;
    }
    if (!this.#child) await this.#start();
    const from = cells.length;
    const own = shares.slice(from);
    const distinct = [...new Set(own)];
    const places = new Map(distinct.map((share, index) => [share, index]));
    const request = {
      batch: `[${texts.slice(from).join()}]`,
      owners: own.map((share) => places.get(share) as number),
      shares: distinct.map(({ patienceMs, fullMs, spentMs, slow }) => {
        const indexes = [...slow].map((name) => this.#names.indexOf(name)).filter((index) => index !== -1);
        return { left: fullMs - spentMs, low: fullMs - patienceMs, slow: indexes };
      }),
      features: times.map(({ fullMs, spentMs }) => fullMs - spentMs),
      ended: ended.map(([feature, event]): Place => [feature, event - from]),
      isCareful,
    };
    const size = { events: own.length, features: this.#names.length, shares: distinct.length };
    const onPart = (part: Part): void => {
      cells.push(...part.cells.slice(0, texts.length - cells.length));
      spend(distinct, part.left);
      spend(times, part.features);
      for (const [feature, event] of part.slow) own[event]?.slow.add(this.#names[feature] as string);
    };
    const { budgetMs, endMs } = this.#limits;
    const deadline = START_MS + 2 * (endMs + this.#names.length * budgetMs) + request.batch.length / CHARACTERS_PER_MS;
    const reason = await (this.#child as Child).compute(request, size, onPart, deadline);
    return reason === "done" && cells.length !== texts.length ? "lost" : reason;
  }
}
