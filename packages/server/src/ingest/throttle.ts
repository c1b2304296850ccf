import type { Clock } from "../ports.ts";
import type { AnswerHeaders } from "./request.ts";

/** Names that one throttle remembers; past it the longest unused go first. */
const MOST_NAMES = 100_000;

export interface Turn {
  readonly ok: boolean;
  readonly retryAfterSeconds: number;
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers); empty where the throttle is off. */
  readonly headers: AnswerHeaders;
}

export interface RateThrottle {
  take(account: string): Turn;
}

export interface FailureThrottle {
  /** @returns 0 where the failure may be answered as such, or the seconds to wait. */
  take(peer: string): number;
}

/** Requests by account and process. A rate of 0 is no throttle at all. */
export function accountThrottle(rate: number, burst: number, clock: Clock): RateThrottle {
  const off: Turn = { ok: true, retryAfterSeconds: 0, headers: {} };
  if (rate === 0) return { take: () => off };
  const bucket = new LeakyBuckets(rate, burst, clock);
  const policy = `"account";q=${burst};w=${Math.max(1, Math.ceil(burst / rate))}`;
  return {
    take(account) {
      const { ok, left, waitMs } = bucket.take(account);
      const reset = ok ? Math.ceil(1 / rate) : Math.max(1, Math.ceil(waitMs / 1000));
      return {
        ok,
        retryAfterSeconds: reset,
        headers: { RateLimit: `"account";r=${left};t=${reset}`, "RateLimit-Policy": policy },
      };
    },
  };
}

/** Failed authentications by source address. An IPv6 address counts with its /64, which is one customer's. */
export function failureThrottle(rate: number, burst: number, clock: Clock): FailureThrottle {
  const bucket = new LeakyBuckets(rate, burst, clock);
  return {
    take(peer) {
      const { ok, waitMs } = bucket.take(sourceOf(peer));
      return ok ? 0 : Math.max(1, Math.ceil(waitMs / 1000));
    },
  };
}

/** The part of an address that failures are counted by. */
export function sourceOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const left = head.split(":").filter((group) => group !== "");
  const right = (tail ?? "").split(":").filter((group) => group !== "");
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":")}::/64`;
}

/** The generic cell rate algorithm (ITU-T I.371): one number per name says when its bucket will be empty again. */
class LeakyBuckets {
  readonly #emptyAt = new Map<string, number>();
  readonly #intervalMs: number;
  readonly #toleranceMs: number;
  readonly #clock: Clock;

  constructor(rate: number, burst: number, clock: Clock) {
    this.#intervalMs = 1000 / rate;
    this.#toleranceMs = this.#intervalMs * burst;
    this.#clock = clock;
  }

  take(name: string): { ok: boolean; left: number; waitMs: number } {
    const now = this.#clock.now();
    const known = this.#emptyAt.get(name) ?? 0;
    const emptyAt = Math.min(Math.max(known, now), now + this.#toleranceMs);
    const next = emptyAt + this.#intervalMs;
    const room = now + this.#toleranceMs - next;
    if (room < -1e-6) {
      // Further ahead than a burst: the clock has jumped back, and the wait must end all the same.
      if (emptyAt < known) this.#emptyAt.set(name, emptyAt);
      return { ok: false, left: 0, waitMs: -room };
    }
    this.#emptyAt.delete(name);
    this.#emptyAt.set(name, next);
    if (this.#emptyAt.size > MOST_NAMES) this.#forgetOldest();
    return { ok: true, left: Math.floor(room / this.#intervalMs + 1e-6), waitMs: 0 };
  }

  #forgetOldest(): void {
    for (const name of this.#emptyAt.keys()) {
      this.#emptyAt.delete(name);
      return;
    }
  }
}
