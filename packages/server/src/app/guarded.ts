/**
 * A host's callback for errors, made safe to call from anywhere: what it throws, or rejects with, is dropped, because
 * no other listener is left.
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
