/** Messages by which the processes of one server tell each other how many requests their throttles admitted. */
import type { SharedBuckets, SharedRate } from "../ingest/throttle.ts";

export type ThrottleName = "account" | "comparison" | "failure";

/**
 * Names of throttles' buckets, each with the number of requests that a process took from the bucket since its last
 * report.
 */
export type Taken = readonly (readonly [throttle: ThrottleName, name: string, requests: number])[];

/** The levels of buckets. */
export type Levels = readonly (readonly [throttle: ThrottleName, name: string, level: number])[];

/**
 * How long a process collects changes before it reports them. At this interval the messages cost little, and the other
 * processes still learn of requests early enough.
 */
const REPORT_AFTER_MS = 50;

export const soon = (work: () => void): void => void setTimeout(work, REPORT_AFTER_MS).unref();

/** Reports to the other processes what this process has taken from the buckets, and adds what they have taken. */
export class ThrottleExchange {
  readonly #send: (taken: Taken) => void;
  readonly #later: (work: () => void) => void;
  readonly #buckets = new Map<ThrottleName, SharedBuckets>();
  #unreported = new Map<ThrottleName, Map<string, number>>();

  /** @param later runs the work after a short time. */
  constructor(send: (taken: Taken) => void, later = soon) {
    this.#send = send;
    this.#later = later;
  }

  of(throttle: ThrottleName): SharedRate {
    return {
      publish: (name, requests) => this.#collect(throttle, name, requests),
      register: (buckets) => void this.#buckets.set(throttle, buckets),
    };
  }

  /** Adds the requests that another process has reported to the buckets of this process. */
  receive(taken: Taken): void {
    for (const [throttle, name, requests] of taken) this.#buckets.get(throttle)?.add(name, requests);
  }

  /** The levels of this process, for another process that starts. */
  levels(): Levels {
    return [...this.#buckets].flatMap(([throttle, buckets]) =>
      buckets.levels().map(([name, level]) => [throttle, name, level] as const),
    );
  }

  /** Raises the levels to those of another process. A second call with the same levels changes nothing. */
  raise(levels: Levels): void {
    for (const [throttle, name, level] of levels) this.#buckets.get(throttle)?.raise(name, level);
  }

  #collect(throttle: ThrottleName, name: string, requests: number): void {
    if (this.#unreported.size === 0) this.#later(() => this.#report());
    const names = this.#unreported.get(throttle) ?? new Map<string, number>();
    this.#unreported.set(throttle, names.set(name, (names.get(name) ?? 0) + requests));
  }

  #report(): void {
    const taken = [...this.#unreported].flatMap(([throttle, names]) =>
      [...names].map(([name, requests]) => [throttle, name, requests] as const),
    );
    this.#unreported = new Map();
    this.#send(taken);
  }
}
