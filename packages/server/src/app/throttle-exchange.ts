/** Messages by which the processes of one server tell each other what their throttles took. */
import type { SharedBuckets, SharedRate } from "../ingest/throttle.ts";

export type ThrottleName = "account" | "comparison" | "failure";

/** Names, each with the number of requests that a process has taken since its last report. */
export type Taken = readonly (readonly [throttle: ThrottleName, name: string, requests: number])[];

/** The levels of buckets. */
export type Levels = readonly (readonly [throttle: ThrottleName, name: string, level: number])[];

/** How long a process collects before it reports: the messages cost little, and each process still decides in time. */
const REPORT_AFTER_MS = 50;

export const soon = (work: () => void): void => void setTimeout(work, REPORT_AFTER_MS).unref();

/** Reports what this process has taken to the other processes, and adds what they have taken. */
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

  /** Adds what another process has taken. */
  receive(taken: Taken): void {
    for (const [throttle, name, requests] of taken) this.#buckets.get(throttle)?.add(name, requests);
  }

  /** The levels of this process, which a process that starts needs to know. */
  levels(): Levels {
    return [...this.#buckets].flatMap(([throttle, buckets]) =>
      buckets.levels().map(([name, level]) => [throttle, name, level] as const),
    );
  }

  /** Takes over the levels that another process knows. A second call with the same levels changes nothing. */
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
