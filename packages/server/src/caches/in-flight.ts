/** Calls under way, by name: a call whose name is under way already is not made, and gets the other's result. */
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
