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
 * The time of a call passes in this many turns of the event loop. A process that was busy reads what arrived meanwhile
 * before the call expires, also if the call takes several round trips, as a connection does.
 */
const TURNS = 10;

/**
 * Resolves or rejects within the deadline, even if the call never ends. The deadline is extended while this
 * process is too busy to read answers, and as long as `isProgressing` says so.
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
  const wait = (turns = TURNS): void => {
    const next = turns === 1 ? expire : (): void => wait(turns - 1);
    timer = setTimeout(() => setImmediate(() => settled || next()), ms / TURNS);
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
