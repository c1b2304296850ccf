import { host, type HostAbortSignal } from "./host-globals.ts";

export interface Bounds {
  /** The signal for `fetch`; `undefined` where the platform has no `AbortController`. */
  readonly signal: unknown;
  /** Whether the caller has stopped waiting. The work must then not start another step. */
  isOver(): boolean;
}

/**
 * Waits for `work` until `ms` have passed or the caller's signal is aborted. Then it aborts the signal of the work and
 * returns at once, so that a `fetch` that ignores its signal can't block the caller.
 */
export function bounded<Value>(
  work: (bounds: Bounds) => Promise<Value>,
  ms: number,
  signal: HostAbortSignal | undefined,
): Promise<Value | "timeout" | "aborted"> {
  if (signal?.aborted) return Promise.resolve("aborted");
  const controller = host.AbortController && new host.AbortController();
  let isOver = false;
  return new Promise<Value | "timeout" | "aborted">((resolve, reject) => {
    const end = (): void => {
      isOver = true;
      host.clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const stop = (why: "timeout" | "aborted"): void => {
      end();
      resolve(why);
      controller?.abort();
    };
    const onAbort = (): void => stop("aborted");
    const timer = host.setTimeout(() => stop("timeout"), ms);
    signal?.addEventListener("abort", onAbort);
    work({ signal: controller?.signal, isOver: () => isOver })
      .finally(end)
      .then(resolve, reject);
  });
}

/** Waits. Returns `timeout` after the whole pause, or `aborted` if the signal ended it. */
export function pause(ms: number, signal: HostAbortSignal | undefined): Promise<"timeout" | "aborted"> {
  return bounded(() => new Promise<never>(() => {}), ms, signal);
}
