/** A process that has served for this long did not end because of its start. */
const STABLE_MS = 10_000;
const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 5_000;
const MAX_FAILED_STARTS = 5;

export interface EndedProcess {
  /** How long the process served; absent if it ended before it served. */
  readonly servedMs?: number;
  /** Whether a dependency was not available, which is no error of the process. */
  readonly isOutage: boolean;
}

/** Decides when an ended process is replaced. */
export class RestartPolicy {
  #earlyEnds = 0;
  #failedStarts = 0;

  /** @returns the milliseconds until the next start; `undefined` after too many failed starts in a row. */
  ended({ servedMs, isOutage }: EndedProcess): number | undefined {
    this.#earlyEnds = servedMs !== undefined && servedMs >= STABLE_MS ? 0 : this.#earlyEnds + 1;
    if (servedMs !== undefined) this.#failedStarts = 0;
    else if (!isOutage) this.#failedStarts++;
    if (this.#failedStarts >= MAX_FAILED_STARTS) return undefined;
    return this.#earlyEnds <= 1 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (this.#earlyEnds - 2), MAX_DELAY_MS);
  }
}
