import type { OnError } from "../base/ports.ts";

/**
 * Closes resources in the reverse order of their opening. If one of them fails to close, the error is reported, and the
 * others are still closed.
 *
 * ```ts
 * await using opened = new CloseStack(onError); // closes if one of the next steps fails
 * opened.add("pool", () => pool.end());
 * return { close: opened.release() };
 * ```
 */
export class CloseStack implements AsyncDisposable {
  readonly #onError: OnError;
  readonly #closing: Set<string>;
  #stack = new AsyncDisposableStack();

  /** @param closing receives the names of the resources that are being closed. */
  constructor(onError: OnError, closing = new Set<string>()) {
    this.#onError = onError;
    this.#closing = closing;
  }

  /** @param name the name in the log. */
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

  /**
   * Passes the closing to the caller: disposal then closes nothing, and the caller calls the returned function. Call
   * this only once. The returned function never rejects.
   */
  release(): () => Promise<void> {
    const stack = this.#stack.move();
    return () => stack.disposeAsync();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
