/**
 * Runs a limited number of tasks at a time, and the others in the order in which they came. It limits the memory of
 * tasks that need many times the memory of their input.
 */
export class LimitedTasks {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((start) => this.#waiting.push(start));
    try {
      return await task();
    } finally {
      // The place of this task passes to the next one directly, so that no later caller comes first.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
