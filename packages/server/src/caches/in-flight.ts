/**
 * Running calls by name. If a call of the name already runs, the new call is not made, and gets the result of the
 * running one.
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
