/** A map of limited size: a new name beyond the limit drops the name that was set longest ago. */
export class LimitedMap<Value> {
  readonly #values = new Map<string, Value>();
  /**
   * The names that were set longest ago come next. A new iterator would first step over all names that were dropped
   * before, which takes 20 µs in a map of 50,000.
   */
  #oldest = this.#values.keys();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** A name that is set again counts as new. */
  set(name: string, value: Value): void {
    this.#values.delete(name);
    this.#values.set(name, value);
    if (this.#values.size <= this.#limit) return;
    const { value: oldest = "" } = this.#oldest.next();
    this.#values.delete(oldest);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }

  clear(): void {
    this.#values.clear();
    this.#oldest = this.#values.keys();
  }

  [Symbol.iterator](): IterableIterator<[string, Value]> {
    return this.#values.entries();
  }
}
