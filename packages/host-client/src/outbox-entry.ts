import type { SignalRequest } from "./signal-request.ts";

const VERSION = 1;

/**
 * Maximum number of rounds for one event, over all starts of the app. A round is one call of the client's `deliver`. If
 * the clock never advances, the event does not expire, and only this number ends the retries.
 */
export const MAX_ROUNDS = 500;

/** An event in the outbox. */
export interface OutboxEntry {
  readonly request: SignalRequest;
  /** Number of rounds that ended without a final result, over all starts of the app. */
  readonly rounds: number;
}

export function writeEntry({ request, rounds }: OutboxEntry): string {
  return JSON.stringify([VERSION, rounds, request]);
}

/** @returns `undefined` if the text is no entry of this version, for example because it was cut */
export function readEntry(text: string): OutboxEntry | undefined {
  try {
    const [version, rounds, request] = JSON.parse(text) as [unknown, number, SignalRequest];
    const isEntry =
      version === VERSION &&
      Number.isInteger(rounds) &&
      rounds >= 0 &&
      rounds < MAX_ROUNDS &&
      typeof request.key === "string" &&
      /^[!-~]{1,128}$/.test(request.key) &&
      Number.isFinite(request.expiresAt) &&
      typeof request.body === "string";
    return isEntry ? { request, rounds } : undefined;
  } catch {
    return undefined;
  }
}
