import type { HostAbortSignal } from "./host-globals.ts";
import { refuseSignal } from "./misuse.ts";

/**
 * Ends everything that is under way in an outbox at once, so that no event of one account is sent with the session of
 * the next. Its signals join the caller's: there is no `AbortSignal.any` in React Native, nor everywhere a controller.
 */
export function openGeneration() {
  const cuts = new Set<() => void>();
  let generation = 0;
  return {
    /** Aborted with the caller's, or when the generation ends. @throws TypeError where the caller's is no signal. */
    join(signal: HostAbortSignal | undefined): HostAbortSignal {
      refuseSignal(signal);
      const own = generation;
      return {
        get aborted() {
          return own !== generation || !!signal?.aborted;
        },
        addEventListener(type, cut) {
          cuts.add(cut);
          signal?.addEventListener(type, cut);
        },
        removeEventListener(type, cut) {
          cuts.delete(cut);
          signal?.removeEventListener(type, cut);
        },
      };
    },
    end(): void {
      generation++;
      cuts.forEach((cut) => cut());
    },
  };
}
