/**
 * A host's callback for errors, made safe to call from anywhere: what it throws, or rejects with, is dropped, because
 * no other listener is left.
 */
export function guarded(onError: (error: unknown) => unknown): (error: unknown) => void {
  return (cause) => {
    try {
      Promise.resolve(onError(cause)).catch(() => {});
    } catch {
      // As above.
    }
  };
}
