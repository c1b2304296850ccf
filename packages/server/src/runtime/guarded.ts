/**
 * Makes a host's callback safe to call from anywhere. What the callback throws, or rejects with, is dropped, because
 * nothing else could report it.
 */
export function guarded<Values extends readonly unknown[]>(
  callback: (...values: Values) => unknown,
): (...values: Values) => void {
  return (...values) => {
    try {
      Promise.resolve(callback(...values)).catch(() => {});
    } catch {
      // An exception is dropped like a rejection.
    }
  };
}
