/** Calls what is not ours: that it throws, or rejects, is no reason to lose an event. */
export function quietly(work: () => unknown): void {
  try {
    Promise.resolve(work()).catch(() => {});
  } catch {
    // As if it had done nothing.
  }
}
