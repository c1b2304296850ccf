/**
 * Running calls by name. While a call with a name runs, `join` with the same name makes no further call, and returns
 * the result of the running call.
 */
export class InFlight<Value> {
  readonly #calls = new Map<string, Promise<Value>>();

  join(name: string, call: () => Promise<Value>): Promise<Value> {
    const running = this.#calls.get(name);
    if (running) return running;
    const made = call().finally(() => this.#calls.delete(name));
    this.#calls.set(name, made);
    return made;
  }
}
