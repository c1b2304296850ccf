/**
 * The pause after an attempt, in milliseconds, with full jitter: a random length up to a bound, which doubles with each
 * attempt. So devices that fail at the same time don't retry at the same time.
 *
 * @param attempt the number of the attempt, from 1
 * @param random a number from 0 to 1
 */
export function backOffMs(
  attempt: number,
  random: number,
  { baseDelayMs, maxDelayMs }: { readonly baseDelayMs: number; readonly maxDelayMs: number },
): number {
  return random * Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
}
