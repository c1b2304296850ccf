/** Calls a function of the host: an error or a rejection in it is no reason to lose an event. */
export function quietly(work: () => unknown): void {
  try {
    Promise.resolve(work()).catch(() => {});
  } catch {
    // Ignored: see above.
  }
}
