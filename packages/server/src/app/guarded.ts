import type { OnError } from "../ports.ts";

/**
 * A host's callback for errors, made safe to call from anywhere: what it throws, or rejects with, is dropped, because
 * no other listener is left.
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
