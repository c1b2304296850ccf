import type { OnError } from "../ports.ts";

/**
 * Makes a host's callback for errors safe to call from anywhere. What the callback throws, or rejects with, is dropped,
 * because nothing else could report it.
 */
export function guarded(onError: (error: unknown, operation: string) => unknown): OnError {
  return (cause, operation) => {
    try {
      Promise.resolve(onError(cause, operation)).catch(() => {});
    } catch {
      // An exception is dropped like a rejection.
    }
  };
}
