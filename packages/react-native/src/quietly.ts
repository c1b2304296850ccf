/** Calls a function of the host app and ignores its error or rejection, which must not prevent an event. */
export function quietly(work: () => unknown): void {
  try {
    Promise.resolve(work()).catch(() => {});
  } catch {
    // The error is ignored, for the reason given above.
  }
}
