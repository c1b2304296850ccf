export interface MicroBatcherOptions<Item, Result> {
  /**
   * Works on items together. The results are in the order of the items. `slot` is a number below `parallelBatches`;
   * batches that run at the same time have different slots.
   */
  readonly work: (items: readonly Item[], slot: number) => Promise<readonly Result[]>;
  readonly maxItems: number;
  /** Maximum number of batches that run at the same time. */
  readonly parallelBatches: number;
  /**
   * Maximum time in milliseconds that an item waits for others; 0 for never. An item waits only while items come fast
   * enough, and while a batch takes several times as long as the wait.
   */
  readonly linger?: number;
}

/** An item waits only if at least this number of further items is expected meanwhile. */
const MIN_EXPECTED_ITEMS = 3;
/** A batch with this number of items starts without waiting longer. */
const ENOUGH_ITEMS = 24;
/** Weight of the newest gap in the mean gap between items, and of the newest batch in the mean time of a batch. */
const NEWEST_WEIGHT = 0.05;
/** An item waits for no more than this share of the time of a batch: while batches are quick, waiting delays more than it saves. */
const SHARE_OF_BATCH = 0.25;
/** The shortest wait. An item that may wait for less time does not wait, because timers count milliseconds. */
const MIN_WAIT_MS = 1;

/**
 * Groups items that come at the same time. At low load an item starts at once; under load it waits a few milliseconds
 * for others, because the cost of a batch hardly depends on its size.
 */
export class MicroBatcher<Item, Result> {
  readonly #options: MicroBatcherOptions<Item, Result>;
  /** Slots in which no batch runs. */
  readonly #idle: number[];
  #waiting: Waiting<Item, Result>[] = [];
  #scheduled: "no" | "soon" | "later" = "no";
  #timer: NodeJS.Timeout | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** Mean milliseconds between items. */
  #gap = Number.POSITIVE_INFINITY;
  /** Mean milliseconds that a batch takes. */
  #duration = Number.NaN;

  constructor(options: MicroBatcherOptions<Item, Result>) {
    this.#options = options;
    this.#idle = Array.from({ length: options.parallelBatches }, (_, slot) => slot);
  }

  add(item: Item): Promise<Result> {
    const now = performance.now();
    const gap = now - this.#lastAt;
    this.#lastAt = now;
    this.#gap = mean(this.#gap, gap);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled === "soon" || this.#waiting.length === 0 || this.#idle.length === 0) return;
    const wait = this.#wait();
    const expected = wait / this.#gap;
    if (expected < MIN_EXPECTED_ITEMS || this.#waiting.length >= ENOUGH_ITEMS) {
      // A batch starts after the current turn of the event loop, so that it has what arrived in one read of the
      // sockets.
      clearTimeout(this.#timer);
      this.#scheduled = "soon";
      setImmediate(() => this.#start());
    } else if (this.#scheduled === "no") {
      this.#scheduled = "later";
      this.#timer = setTimeout(() => this.#start(), wait);
    }
  }

  /** How long an item may wait now, in milliseconds. */
  #wait(): number {
    const wait = Math.min(this.#options.linger ?? 0, this.#duration * SHARE_OF_BATCH);
    return wait >= MIN_WAIT_MS ? wait : 0;
  }

  #start(): void {
    this.#scheduled = "no";
    const slot = this.#idle.pop();
    if (slot === undefined) return;
    const batch = this.#waiting.splice(0, this.#options.maxItems);
    void this.#run(batch, slot);
    this.#schedule();
  }

  async #run(batch: readonly Waiting<Item, Result>[], slot: number): Promise<void> {
    const started = performance.now();
    try {
      const results = await this.#options.work(
        batch.map(({ item }) => item),
        slot,
      );
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#duration = mean(this.#duration, performance.now() - started);
      this.#idle.push(slot);
      this.#schedule();
    }
  }
}

/** @param before not finite before the first value. */
const mean = (before: number, newest: number): number =>
  Number.isFinite(before) ? before + (newest - before) * NEWEST_WEIGHT : newest;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}
