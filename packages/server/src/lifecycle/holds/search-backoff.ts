/** The maximum wait between two searches in milliseconds. */
const MAX_WAIT_MS = 3_600_000;
/** The wait in milliseconds after the first search that leaves a hold unresolved. */
const FIRST_WAIT_MS = 10_000;

/**
 * Increases the time between searches for the subjects of replayed holds. After each search that leaves the same holds
 * unresolved, the wait doubles, up to an hour. The wait never exceeds half of the shortest retention period: if an
 * event with the name arrives after a search, the next search comes before the event expires.
 */
export class SearchBackoff {
  readonly #now: () => number;
  #holds = "";
  #searchedAt = 0;
  /** The latest time that the clock has shown. */
  #seenAt = 0;
  #wait = 0;

  /**
   * @param now milliseconds of the wall clock. A monotonic clock may stop while the host is suspended, but events
   * expire meanwhile.
   */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * @param shortestPeriod the shortest retention period of all purposes, in milliseconds; `undefined` if no purpose has
   * one.
   */
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
    this.#wait = holds === this.#holds ? Math.min(2 * this.#wait, MAX_WAIT_MS) : FIRST_WAIT_MS;
    this.#holds = holds;
    this.#searchedAt = this.#seenAt = this.#now();
  }
}
