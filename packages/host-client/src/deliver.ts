import { attempt } from "./attempt.ts";
import { backOffMs } from "./back-off.ts";
import { pause } from "./bounded.ts";
import type { ClientSettings } from "./client-options.ts";
import type { HostAbortSignal } from "./host-globals.ts";
import { later, type SendResult, type Verdict } from "./send-result.ts";
import type { SignalRequest } from "./signal-request.ts";

const EXPIRED: Verdict = { outcome: "refused", reason: "expired", errors: [] };

/**
 * Asks until the event is settled, its freshness is over, or there is no sense in asking on for now. Freshness goes by
 * the device's clock, which may be set back at any time; the number of attempts is bounded whatever it says.
 */
export async function deliver(
  settings: ClientSettings,
  request: SignalRequest,
  signal?: HostAbortSignal,
): Promise<SendResult> {
  let attempts = 0;
  let refreshed = false;
  const ask = (refresh: boolean): Promise<Verdict> => {
    attempts++;
    return attempt(settings, request, refresh, signal);
  };
  for (let round = 1; ; round++) {
    if (Date.now() >= request.expiresAt) return { ...EXPIRED, attempts };
    let verdict = await ask(false);
    if (isTokenRefused(verdict) && !refreshed) {
      refreshed = true;
      verdict = await ask(true);
    }
    if (!isWorthAnother(verdict) || round >= settings.maxAttempts) return { ...verdict, attempts };
    const { retryAfterMs = 0 } = verdict;
    if (retryAfterMs > settings.maxDelayMs) return { ...verdict, attempts };
    // For the spread of many devices in time, not for anything that must not be guessed.
    const waitMs = retryAfterMs + backOffMs(round, Math.random(), settings);
    if (!(await pause(waitMs, signal))) return { ...later("aborted"), attempts };
  }
}

function isTokenRefused(verdict: Verdict): boolean {
  return verdict.outcome === "later" && verdict.status === 401;
}

function isWorthAnother(verdict: Verdict): verdict is Extract<Verdict, { outcome: "later" }> {
  return verdict.outcome === "later" && verdict.reason !== "signed-out" && verdict.reason !== "aborted";
}
