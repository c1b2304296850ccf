import type { OnError } from "../ports.ts";

/**
 * Closes what was opened, in the reverse order. An error is reported, and does not keep the others open.
 *
 * ```ts
 * await using opened = new CloseStack(onError); // closes where the next steps fail
 * opened.add("pool", () => pool.end());
 * return { close: opened.release() };
 * ```
 */
export class CloseStack implements AsyncDisposable {
  readonly #onError: OnError;
  readonly #closing: Set<string>;
  #stack = new AsyncDisposableStack();

  /** @param closing gets the names of what is being closed. */
  constructor(onError: OnError, closing = new Set<string>()) {
    this.#onError = onError;
    this.#closing = closing;
  }

  /** @param name for people, in a log. */
  add(name: string, close: () => unknown): void {
    this.#stack.defer(async () => {
      this.#closing.add(name);
      try {
        await close();
      } catch (error) {
        this.#onError(error, `close ${name}`);
      } finally {
        this.#closing.delete(name);
      }
    });
  }

  /** Leaves the closing to the caller, once. Never rejects. */
  release(): () => Promise<void> {
    const stack = this.#stack.move();
    return () => stack.disposeAsync();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
