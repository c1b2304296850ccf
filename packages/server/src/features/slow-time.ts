/**
 * Enough for hundreds of events that exceed their time, or for some tens of events that block the process of their
 * layer.
 */
const LIMIT_MS = 300_000;

/**
 * Measures the time that slow events take in a verification. Without a limit, a definition that often blocks would take
 * hours.
 */
export class SlowTime {
  readonly #limitMs: number;
  readonly #spent = new Map<number, number>();

  /** @param limitMs milliseconds for the slow events of each layer. Default: five minutes. */
  constructor(limitMs = LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  add(layer: number, milliseconds: number): void {
    this.#spent.set(layer, (this.#spent.get(layer) ?? 0) + milliseconds);
  }

  isLeft(layer: number): boolean {
    return (this.#spent.get(layer) ?? 0) < this.#limitMs;
  }
}
