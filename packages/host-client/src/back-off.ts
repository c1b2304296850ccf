/**
 * The pause after the given attempt (from 1), in milliseconds: full jitter, any length up to a bound that doubles, so
 * that devices which failed together don't retry together. `random` is 0 to 1.
 */
export function backOffMs(
  attempt: number,
  random: number,
  { baseDelayMs, maxDelayMs }: { readonly baseDelayMs: number; readonly maxDelayMs: number },
): number {
  return random * Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
}
