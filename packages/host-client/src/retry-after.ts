/** The longest wait that `readRetryAfter` returns: a day. */
const MAX_DELAY_MS = 86_400_000;

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3), which has seconds or an HTTP date, as milliseconds, at most a day. Returns
 * `undefined` for any other text. A date is counted from the answer's `Date`, because the device's clock may be wrong;
 * `now` counts only if the answer has no valid `Date`.
 */
export function readRetryAfter(retryAfter: string | null, date: string | null, now: number): number | undefined {
  const text = retryAfter?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : httpDate(text) - (httpDate(date) || now);
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_DELAY_MS);
}

function httpDate(text: string | null): number {
  return text?.endsWith("GMT") ? Date.parse(text) : Number.NaN;
}
