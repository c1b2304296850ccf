/** The maximum wait between two searches in milliseconds. */
const MAX_WAIT_MS = 3_600_000;
/** The wait after the first search that leaves a hold unresolved. */
const FIRST_MS = 10_000;

/**
 * Spaces out searches for the subjects of replayed holds: after each one that leaves the same holds unresolved, the
 * wait doubles, up to an hour. It never exceeds half of the shortest retention period: a name that arrives after a
 * search has events that are kept until after the next search.
 */
export class SearchBackoff {
  readonly #now: () => number;
  #holds = "";
  #searchedAt = 0;
  /** The latest time that the clock has shown. */
  #seenAt = 0;
  #wait = 0;

  /**
   * @param now milliseconds of the wall clock: a monotonic one stops while the host is suspended, and events
   * expire meanwhile.
   */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param shortestPeriod the shortest retention period of all purposes, in milliseconds; `undefined` if none ends. */
  isDue(holdIds: readonly string[], shortestPeriod: number | undefined): boolean {
    const now = this.#now();
    // After the clock was set back, it is unknown how long the wait has been.
    if (now < this.#seenAt) this.#searchedAt = Number.NEGATIVE_INFINITY;
    this.#seenAt = now;
    if (holdIds.join() !== this.#holds) return true;
    const wait = Math.min(this.#wait, (shortestPeriod ?? Number.POSITIVE_INFINITY) / 2);
    return now - this.#searchedAt >= wait;
  }

  /** Records a search for these holds. */
  searched(holdIds: readonly string[]): void {
    const holds = holdIds.join();
    this.#wait = holds === this.#holds ? Math.min(2 * this.#wait, MAX_WAIT_MS) : FIRST_MS;
    this.#holds = holds;
    this.#searchedAt = this.#seenAt = this.#now();
  }
}
