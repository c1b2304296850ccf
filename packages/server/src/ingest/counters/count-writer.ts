import { Loop } from "../../base/loop.ts";
import type { OnError } from "../../base/ports.ts";

const LOOK_EVERY_MS = 1_000;

export interface CountWriterOptions<Counts> {
  /** Removes and returns the counts; `undefined` if there are none. */
  readonly take: () => Counts | undefined;
  readonly write: (counts: Counts) => Promise<void>;
  /** After a failed write, adds its counts to the newer ones. */
  readonly keep: (counts: Counts) => void;
  /** Minimum number of milliseconds between two writes; after a quiet time the first counts are written within a second. */
  readonly everyMs: number;
  readonly onError: OnError;
  /** The name of the operation with which a failed write is reported. */
  readonly operation: string;
}

/** Writes counts at intervals, one write at a time. If a write fails, its counts are part of the next write. */
export class CountWriter<Counts> {
  readonly #options: CountWriterOptions<Counts>;
  readonly #loop: Loop;
  #wroteAt = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: CountWriterOptions<Counts>) {
    this.#options = options;
    const flushIfDue = async (): Promise<void> => {
      if (performance.now() - this.#wroteAt >= options.everyMs) await this.flush();
    };
    const onError = (error: unknown): void => options.onError(error, options.operation);
    this.#loop = new Loop(flushIfDue, { everyMs: LOOK_EVERY_MS, onError });
  }

  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes the last counts. Never rejects. */
  async close(): Promise<void> {
    await this.#loop.close();
    await this.flush();
  }

  async #write(): Promise<void> {
    const { take, write, keep, onError, operation } = this.#options;
    const counts = take();
    if (counts === undefined) return;
    this.#wroteAt = performance.now();
    try {
      await write(counts);
    } catch (error) {
      onError(error, operation);
      keep(counts);
    }
  }
}
