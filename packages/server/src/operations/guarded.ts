/**
 * A host's callback for errors, made safe to call from anywhere: what it throws, or rejects with, is dropped, because
 * there is no one left to report it to.
 */
export function guarded(onFault: (fault: unknown) => unknown): (fault: unknown) => void {
  return (fault) => {
    try {
      Promise.resolve(onFault(fault)).catch(() => {});
    } catch {
      // As above.
    }
  };
}
