export interface MicroBatcherOptions<Item, Result> {
  /** Works on items together; results in the order of the items. */
  readonly work: (items: readonly Item[], lane: number) => Promise<readonly Result[]>;
  readonly maxItems: number;
  /** Batches under way at once. */
  readonly lanes: number;
}

/**
 * Groups what is asked for at the same time. An idle lane takes what is there at once, so nothing waits for company;
 * while all lanes are busy, items gather for the next batch.
 */
export class MicroBatcher<Item, Result> {
  readonly #options: MicroBatcherOptions<Item, Result>;
  readonly #idle: number[];
  #waiting: Waiting<Item, Result>[] = [];
  #scheduled = false;

  constructor(options: MicroBatcherOptions<Item, Result>) {
    this.#options = options;
    this.#idle = Array.from({ length: options.lanes }, (_, lane) => lane);
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Starts after the current turn of the event loop, so that what arrived in one read of the sockets goes together. */
  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || this.#idle.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const lane = this.#idle.pop();
      if (lane === undefined) return;
      const batch = this.#waiting.splice(0, this.#options.maxItems);
      void this.#run(batch, lane);
      this.#schedule();
    });
  }

  async #run(batch: readonly Waiting<Item, Result>[], lane: number): Promise<void> {
    try {
      const results = await this.#options.work(
        batch.map(({ item }) => item),
        lane,
      );
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (fault) {
      for (const { reject } of batch) reject(fault);
    } finally {
      this.#idle.push(lane);
      this.#schedule();
    }
  }
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (fault: unknown) => void;
}
