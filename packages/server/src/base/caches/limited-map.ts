/** A map of limited size: a new name beyond the limit drops the name that was set longest ago. */
export class LimitedMap<Value> {
  readonly #values = new Map<string, Value>();
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
    const [oldest = ""] = this.#values.keys();
    this.#values.delete(oldest);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }

  clear(): void {
    this.#values.clear();
  }

  [Symbol.iterator](): IterableIterator<[string, Value]> {
    return this.#values.entries();
  }
}
