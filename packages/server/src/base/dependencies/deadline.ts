import { onAbort } from "./on-abort.ts";

export interface Deadline {
  readonly ms: number;
  /** The error of a call that has expired. */
  readonly expired: () => Error;
  /** When this signal is aborted, every call fails at once with the reason of the signal. */
  readonly stop?: AbortSignal;
  /** Called when the time is over. If it says that the call makes progress, the call gets the same time again. */
  readonly isProgressing?: () => Promise<boolean>;
}

/**
 * Resolves or rejects within the deadline, even if the call never ends. The deadline is extended as long as
 * `isProgressing` says so.
 * @param call gets a signal. When the signal is aborted, the call must close its connection or end its request.
 */
export function withDeadline<T>(
  { ms, expired, stop, isProgressing }: Deadline,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const controller = new AbortController();
  let settled = false;
  let timer: NodeJS.Timeout | undefined;
  let stopListening: (() => void) | undefined;
  const giveUp = (reason: unknown): void => {
    if (settled) return;
    reject(reason);
    controller.abort(reason);
  };
  const stopNow = (): void => giveUp(stop?.reason);
  const expire = (): void => {
    if (settled) return;
    if (!isProgressing) return giveUp(expired());
    void isProgressing()
      .catch(() => false)
      .then((goesOn) => {
        if (settled) return;
        if (goesOn) wait();
        else giveUp(expired());
      });
  };
  const wait = (): void => {
    // If an answer arrived while this process was busy, the answer is read before the call expires.
    timer = setTimeout(() => setImmediate(expire), ms);
  };
  void promise
    .catch(() => {})
    .finally(() => {
      settled = true;
      clearTimeout(timer);
      stopListening?.();
    });
  if (stop?.aborted) stopNow();
  else {
    stopListening = stop && onAbort(stop, stopNow);
    wait();
    call(controller.signal).then(resolve, reject);
  }
  return promise;
}
