/** What the throttles of the processes of one server took, by messages between them. */
import type { SharedRate } from "../ingest/throttle.ts";

export type ThrottleName = "account" | "comparison" | "failure";

/** Names, each with the number of requests that a process took since its last report. */
export type Taken = readonly (readonly [throttle: ThrottleName, name: string, requests: number])[];

/** How long a process collects before it reports: the messages cost little, and each process still decides in time. */
const REPORT_AFTER_MS = 50;

export const soon = (work: () => void): void => void setTimeout(work, REPORT_AFTER_MS).unref();

/** Reports what this process took to the others, and adds what they took. */
export class ThrottleExchange {
  readonly #send: (taken: Taken) => void;
  readonly #later: (work: () => void) => void;
  readonly #listeners = new Map<ThrottleName, (name: string, requests: number) => void>();
  #unreported = new Map<ThrottleName, Map<string, number>>();

  /** @param later runs the work after a moment. */
  constructor(send: (taken: Taken) => void, later = soon) {
    this.#send = send;
    this.#later = later;
  }

  of(throttle: ThrottleName): SharedRate {
    return {
      publish: (name, requests) => this.#collect(throttle, name, requests),
      subscribe: (listener) => void this.#listeners.set(throttle, listener),
    };
  }

  /** Adds what another process took. */
  receive(taken: Taken): void {
    for (const [throttle, name, requests] of taken) this.#listeners.get(throttle)?.(name, requests);
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
