/** Why this request can't store the event any more. */
export type RefusedReason =
  /** The event is too old by the device's clock. An attempt whose answer was lost may have stored the event. */
  | "expired"
  /** 409: the idempotency key belongs to another request. */
  | "conflict"
  /** The server rejected the event, or a proxy found it too large (413): see `status`, `code` and `errors`. */
  | "rejected";

/** Why the event is neither stored nor rejected yet. */
export type LaterReason =
  /** `fetch` failed: no network, no such host, connection lost. */
  | "network"
  /** The attempt, from the token to the answer, took longer than `timeoutMs`. */
  | "timeout"
  /** The server can't store the event now: 407, 408, 425, 429, 5xx, or a body that arrived damaged. */
  | "busy"
  /**
   * Another system answered, such as a captive portal. A 4xx without a problem document of the server counts as this,
   * except 413.
   */
  | "unintelligible"
  /** The function `token` failed: no token is available at the moment. */
  | "no-token"
  /** No user is signed in, or the server also rejected the refreshed token. */
  | "signed-out"
  /** The caller's signal was aborted, or the outbox was cleared. */
  | "aborted";

/** One violation that the server reports. */
export interface RequestError {
  /** JSON Pointer (RFC 6901) into the transport request, cut at 1,024 characters. */
  readonly pointer: string;
  readonly code: string;
}

/**
 * May be logged: the result has neither the event nor the token, unless a hostile endpoint repeats them in a pointer or
 * an event id.
 */
export type SendResult =
  /**
   * This call stored the event. `attempts` counts the attempts of this call, including attempts that sent no request.
   */
  | { readonly outcome: "stored"; readonly eventId: string; readonly attempts: number }
  /** The event was stored before, by an attempt whose answer was lost or by an earlier call. */
  | { readonly outcome: "replayed"; readonly eventId: string; readonly attempts: number }
  /** The event is rejected or expired, so it would not help to send it again. */
  | {
      readonly outcome: "refused";
      readonly reason: RefusedReason;
      readonly status?: number | undefined;
      /** A code of the server's error registry, such as `action-refused`. Absent when the event expired, and for a proxy's 413. */
      readonly code?: string | undefined;
      readonly errors: readonly RequestError[];
      readonly attempts: number;
    }
  /** Try later, with the same event object. The event may be stored already; a retry does not store it twice. */
  | {
      readonly outcome: "later";
      readonly reason: LaterReason;
      readonly status?: number | undefined;
      readonly code?: string | undefined;
      /** The wait that the server asked for. */
      readonly retryAfterMs?: number | undefined;
      readonly attempts: number;
    };

type WithoutAttempts<Result> = Result extends unknown ? Omit<Result, "attempts"> : never;

/** The result of one attempt. */
export type AttemptResult = WithoutAttempts<SendResult>;

type Later = Extract<AttemptResult, { outcome: "later" }>;

export const EXPIRED: AttemptResult = { outcome: "refused", reason: "expired", errors: [] };

export function later(reason: LaterReason, more?: Omit<Later, "outcome" | "reason">): AttemptResult {
  return { outcome: "later", reason, ...more };
}
