import type { HostAbortSignal } from "./host-globals.ts";
import { requireSignal } from "./misuse.ts";

/**
 * Creates a scope that can end all work in progress in an outbox at once, so that no event of one account is sent with
 * the session of the next account. The scope combines its own signal with the caller's signal, because React Native has
 * no `AbortSignal.any`, and some platforms have no `AbortController`.
 */
export function createCancellationScope() {
  const listeners = new Set<() => void>();
  let endCount = 0;
  return {
    /**
     * Returns a signal that is aborted when `signal` is aborted or when `end` is called.
     * @throws TypeError if `signal` lacks the methods of an `AbortSignal`.
     */
    join(signal: HostAbortSignal | undefined): HostAbortSignal {
      requireSignal(signal);
      const endedAtJoin = endCount;
      return {
        get aborted() {
          return endedAtJoin !== endCount || !!signal?.aborted;
        },
        addEventListener(type, listener) {
          listeners.add(listener);
          signal?.addEventListener(type, listener);
        },
        removeEventListener(type, listener) {
          listeners.delete(listener);
          signal?.removeEventListener(type, listener);
        },
      };
    },
    end(): void {
      endCount++;
      listeners.forEach((listener) => listener());
    },
  };
}
