/**
 * Running calls by name. While a call with a name runs, a further call with the name is not made, and gets the result
 * of the running call.
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
