import { attempt } from "./attempt.ts";
import { backOffMs } from "./back-off.ts";
import { pause } from "./bounded.ts";
import type { ClientSettings } from "./client-options.ts";
import type { HostAbortSignal } from "./host-globals.ts";
import { requireSignal } from "./misuse.ts";
import { type AttemptResult, EXPIRED, later, type SendResult } from "./send-result.ts";
import { isExpired, type SignalRequest } from "./signal-request.ts";

/**
 * Sends until the event is stored, rejected or expired, or until another attempt makes no sense for now. Expiry depends
 * on the device's clock, which may be set back at any time, so the number of attempts has a limit of its own.
 */
export async function deliver(
  settings: ClientSettings,
  request: SignalRequest,
  signal?: HostAbortSignal,
): Promise<SendResult> {
  requireSignal(signal);
  let attempts = 0;
  let hasRefreshedToken = false;
  const attemptOnce = (refresh: boolean): Promise<AttemptResult> => {
    attempts++;
    return attempt(settings, request, refresh, signal);
  };
  for (let round = 1; ; round++) {
    let result = signal?.aborted ? later("aborted") : isExpired(request) ? EXPIRED : await attemptOnce(false);
    if (isTokenRejected(result) && !hasRefreshedToken) {
      hasRefreshedToken = true;
      result = await attemptOnce(true);
    }
    const { retryAfterMs = 0 } = result as { retryAfterMs?: number };
    const isLast = round >= settings.maxAttempts || retryAfterMs > settings.maxDelayMs;
    if (isLast || !isWorthAnother(result)) return { ...result, attempts };
    // The random number distributes the retries of many devices over time. It need not be hard to guess.
    const waitMs = retryAfterMs + backOffMs(round, Math.random(), settings);
    await pause(waitMs, signal);
  }
}

function isTokenRejected(result: AttemptResult): boolean {
  return "status" in result && result.status === 401;
}

function isWorthAnother(result: AttemptResult): boolean {
  return result.outcome === "later" && result.reason !== "signed-out" && result.reason !== "aborted";
}
