import { LimitedMap } from "../base/caches/limited-map.ts";
import type { MonotonicClock } from "../base/ports.ts";
import type { AnswerHeaders } from "./request.ts";
import { sourceOf } from "../base/identifiers/source-address.ts";

/**
 * Maximum number of accounts or source addresses that one throttle remembers. It first forgets the name that was unused
 * for longest.
 */
const MAX_NAMES = 100_000;

export interface RateDecision {
  readonly isAllowed: boolean;
  readonly retryAfterSeconds: number;
  /** `RateLimit` and `RateLimit-Policy` (`draft-ietf-httpapi-ratelimit-headers`); empty when the throttle is off. */
  readonly headers: AnswerHeaders;
}

export interface RateThrottle {
  /** Takes 1 of the account's allowance, before a request is read. */
  take(account: string): RateDecision;
  /**
   * Charges the account for the cost of a request beyond 1, after the request was read. The request passes, and may
   * raise the level of the account above the burst: the account is then in debt, and later requests are rejected until
   * the level has fallen. If the account is in debt already, the request is rejected and not charged, so that
   * concurrent requests can't all exceed the burst.
   */
  charge(account: string, additionalCost: number): RateDecision;
}

export interface FailureThrottle {
  /**
   * Counts a failure of a source address.
   * @returns 0 if the answer may report the failure, or the number of seconds for which the client must wait.
   */
  take(peer: string): number;
}

/** The other processes of the server, which limit the same names at the same rate. */
export interface SharedRate {
  /**
   * Reports to the other processes that this process counted requests for a name.
   */
  publish(name: string, requests: number): void;
  /** Registers the buckets of this process. */
  register(buckets: SharedBuckets): void;
}

/** The buckets of a throttle, as other processes read and change them. */
export interface SharedBuckets {
  /** The names whose level is above 0. */
  levels(): readonly (readonly [name: string, level: number])[];
  /** Adds requests that another process counted. */
  add(name: string, requests: number): void;
  /** Raises a bucket to the level that it has in another process, if that level is higher. */
  raise(name: string, level: number): void;
}

/** Limits requests by account. A rate of 0 turns the throttle off. */
export function accountThrottle(rate: number, burst: number, clock: MonotonicClock, shared?: SharedRate): RateThrottle {
  const off: RateDecision = { isAllowed: true, retryAfterSeconds: 0, headers: {} };
  if (rate === 0) return { take: () => off, charge: () => off };
  const buckets = new LeakyBuckets(rate, burst, clock, shared);
  const policy = `"account";q=${burst};w=${Math.max(1, Math.ceil(burst / rate))}`;
  const decide = ({ ok, left, waitMs }: BucketLevel): RateDecision => {
    const seconds = Math.max(ok ? Math.ceil(1 / rate) : 1, Math.ceil(waitMs / 1000));
    const headers = { RateLimit: `"account";r=${left};t=${seconds}`, "RateLimit-Policy": policy };
    return { isAllowed: ok, retryAfterSeconds: seconds, headers };
  };
  return {
    take: (account) => decide(buckets.take(account)),
    charge: (account, additionalCost) => decide(buckets.charge(account, additionalCost)),
  };
}

/**
 * Limits failed authentications by source address. All addresses of an IPv6 /64 count as one source, because a provider
 * gives a whole /64 to one customer.
 */
export function failureThrottle(
  rate: number,
  burst: number,
  clock: MonotonicClock,
  shared?: SharedRate,
): FailureThrottle {
  const buckets = new LeakyBuckets(rate, burst, clock, shared);
  return {
    take(peer) {
      const { ok, waitMs } = buckets.take(sourceOf(peer));
      return ok ? 0 : Math.max(1, Math.ceil(waitMs / 1000));
    },
  };
}

interface BucketLevel {
  readonly ok: boolean;
  /** Number of requests that the throttle would admit now. */
  readonly left: number;
  /** Milliseconds until the throttle admits a request; 0 if it would admit one now. */
  readonly waitMs: number;
}

interface LeakyBucket {
  /** Number of requests in the bucket. The part beyond a burst is debt. */
  level: number;
  /** The time at which the bucket had that level. */
  at: number;
}

/** Tolerance for rounding errors. */
const ROUNDING_TOLERANCE = 1e-6;

/**
 * A leaky bucket for each name, whose level falls at the rate. When another process reports the requests that it
 * admitted, they are added. No decision waits for such a report. Therefore a bucket may overflow by the requests that
 * other processes admitted meanwhile, and is then in debt.
 */
class LeakyBuckets {
  readonly #buckets = new LimitedMap<LeakyBucket>(MAX_NAMES);
  readonly #intervalMs: number;
  readonly #burst: number;
  readonly #clock: MonotonicClock;
  readonly #shared: SharedRate | undefined;

  constructor(rate: number, burst: number, clock: MonotonicClock, shared: SharedRate | undefined) {
    this.#intervalMs = 1000 / rate;
    this.#burst = burst;
    this.#clock = clock;
    this.#shared = shared;
    shared?.register({
      levels: () =>
        [...this.#buckets].flatMap(([name]) => {
          const { level } = this.#bucket(name);
          return level > 0 ? [[name, level] as const] : [];
        }),
      add: (name, requests) => this.#add(name, this.#bucket(name), requests),
      raise: (name, level) => {
        const bucket = this.#bucket(name);
        this.#add(name, bucket, Math.max(0, level - bucket.level));
      },
    });
  }

  take(name: string): BucketLevel {
    const bucket = this.#bucket(name);
    const ok = bucket.level + 1 <= this.#burst + ROUNDING_TOLERANCE;
    if (ok) this.#take(name, bucket, 1);
    return this.#describe(ok, bucket);
  }

  charge(name: string, additionalCost: number): BucketLevel {
    const bucket = this.#bucket(name);
    const ok = bucket.level <= this.#burst + ROUNDING_TOLERANCE;
    if (ok) this.#take(name, bucket, additionalCost);
    return this.#describe(ok, bucket);
  }

  /** Returns the bucket of a name, after updating its level to the present time. */
  #bucket(name: string): LeakyBucket {
    const at = this.#clock.now();
    const bucket = this.#buckets.get(name) ?? { level: 0, at };
    bucket.level = Math.max(0, bucket.level - (at - bucket.at) / this.#intervalMs);
    bucket.at = at;
    return bucket;
  }

  #take(name: string, bucket: LeakyBucket, requests: number): void {
    this.#add(name, bucket, requests);
    this.#shared?.publish(name, requests);
  }

  #add(name: string, bucket: LeakyBucket, requests: number): void {
    bucket.level = Math.max(0, bucket.level + requests);
    this.#buckets.set(name, bucket);
  }

  #describe(ok: boolean, { level }: LeakyBucket): BucketLevel {
    const left = this.#burst - level;
    return {
      ok,
      left: Math.max(0, Math.floor(left + ROUNDING_TOLERANCE)),
      waitMs: Math.max(0, 1 - left - ROUNDING_TOLERANCE) * this.#intervalMs,
    };
  }
}
