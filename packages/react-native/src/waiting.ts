import type { Host } from "./host.ts";

/** Waits with time limits, which can all be ended at once. No timer remains afterwards. */
export class Waiting {
  readonly #host: Host;
  readonly #ends = new Set<() => void>();
  #hasEnded = false;

  constructor(host: Host) {
    this.#host = host;
  }

  /**
   * Resolves to the result of the work, or to `undefined` if the time is up or `end` is called before the work ends.
   * Rejects if the work rejects.
   */
  within<T>(milliseconds: number, begin: () => Promise<T>): Promise<T | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#ends.delete(end);
        this.#host.clearTimer(timer);
        resolve(undefined);
      };
      const timer = this.#host.setTimer(end, milliseconds);
      this.#ends.add(end);
      begin().then(resolve, reject).finally(end);
    });
  }

  end(): void {
    this.#hasEnded = true;
    for (const end of this.#ends) end();
  }
}
