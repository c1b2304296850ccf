/**
 * Calls a function and ignores its error or rejection: no failure of the host app or of native code prevents an event.
 */
export function quietly(work: () => unknown): void {
  try {
    Promise.resolve(work()).catch(() => {});
  } catch {
    // An error that the function throws is ignored, too.
  }
}
