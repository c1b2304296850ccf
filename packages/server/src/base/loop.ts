export interface LoopOptions {
  /** The pause before each run. */
  readonly everyMs: number;
  /** The first run begins at once, not after a pause. */
  readonly atOnce?: boolean;
  /** Gets the error of a run, unless the error is the reason of the abort. The next run follows after the pause. */
  readonly onError: (error: unknown) => void;
}

/** Work that is repeated until `close`. A pause begins when a run has ended, so that runs never overlap. */
export class Loop {
  readonly #work: (signal: AbortSignal) => Promise<unknown>;
  readonly #options: LoopOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #woken = Promise.withResolvers<void>();

  /** @param work is given a signal that `close` aborts. If it returns a number, this is the next pause in milliseconds. */
  constructor(work: (signal: AbortSignal) => Promise<unknown>, options: LoopOptions) {
    this.#work = work;
    this.#options = options;
    this.#running = this.#run();
  }

  /** Ends the pause. During a run, omits the next pause. */
  wake(): void {
    this.#woken.resolve();
  }

  /** Aborts the signal, and waits for the end of the run. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { everyMs, atOnce, onError } = this.#options;
    const { signal } = this.#closing;
    if (!atOnce) await this.#pause(everyMs);
    while (!signal.aborted) {
      const result = await this.#work(signal).catch((error: unknown) => {
        if (error !== signal.reason) onError(error);
      });
      await this.#pause(typeof result === "number" ? result : everyMs);
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    const timer = setTimeout(this.#woken.resolve, milliseconds).unref();
    await this.#woken.promise;
    clearTimeout(timer);
    this.#woken = Promise.withResolvers();
  }
}
