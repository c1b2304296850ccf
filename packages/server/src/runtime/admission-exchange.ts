/** Messages by which the processes of one server report the memory and permits that their requests hold. */
import type { Held, SharedAdmission } from "../ingest/admission.ts";
import { soon } from "./throttle-exchange.ts";

/**
 * The present numbers of requests and bytes that a process holds for each account whose numbers have changed since the
 * last report.
 */
export type HeldReport = readonly (readonly [account: string, requests: number, bytes: number])[];

const NOTHING_HELD: Held = { requests: 0, bytes: 0 };

/** Reports to the other processes what this process holds, and stores what they hold. */
export class AdmissionExchange implements SharedAdmission {
  readonly #send: (report: HeldReport) => void;
  readonly #later: (work: () => void) => void;
  readonly #changed = new Map<string, Held>();
  readonly #reported = new Map<string, Held>();
  readonly #processes = new Map<number, Map<string, Held>>();
  readonly #byAccount = new Map<string, Held>();
  #all = NOTHING_HELD;

  /** @param later runs the work after a short time. */
  constructor(send: (report: HeldReport) => void, later = soon) {
    this.#send = send;
    this.#later = later;
  }

  get all(): Held {
    return this.#all;
  }

  heldBy(account: string): Held {
    return this.#byAccount.get(account) ?? NOTHING_HELD;
  }

  report(account: string, held: Held): void {
    if (this.#changed.size === 0) this.#later(() => this.#sendReport());
    this.#changed.set(account, held);
  }

  /** @param process the number of the other process. */
  receive(process: number, report: HeldReport): void {
    const heldByAccount = this.#processes.get(process) ?? new Map<string, Held>();
    this.#processes.set(process, heldByAccount);
    for (const [account, requests, bytes] of report) {
      const before = heldByAccount.get(account) ?? NOTHING_HELD;
      const increase = { requests: requests - before.requests, bytes: bytes - before.bytes };
      this.#all = sumOfHeld(this.#all, increase);
      setOrDelete(this.#byAccount, account, sumOfHeld(this.heldBy(account), increase));
      setOrDelete(heldByAccount, account, { requests, bytes });
    }
  }

  /** What this process has reported, for another process that starts. */
  held(): HeldReport {
    return [...this.#reported].map(([account, { requests, bytes }]) => [account, requests, bytes] as const);
  }

  /** Deletes what a process held. Call it when the process has ended. */
  forget(process: number): void {
    const accounts = [...(this.#processes.get(process)?.keys() ?? [])];
    this.receive(
      process,
      accounts.map((account) => [account, 0, 0]),
    );
  }

  /** Sends only changes. Most requests never appear in a report, because they begin and end between two reports. */
  #sendReport(): void {
    const report = [...this.#changed].flatMap(([account, { requests, bytes }]) => {
      const before = this.#reported.get(account) ?? NOTHING_HELD;
      return requests === before.requests && bytes === before.bytes ? [] : [[account, requests, bytes] as const];
    });
    this.#changed.clear();
    for (const [account, requests, bytes] of report) setOrDelete(this.#reported, account, { requests, bytes });
    if (report.length > 0) this.#send(report);
  }
}

const sumOfHeld = (one: Held, other: Held): Held => ({
  requests: one.requests + other.requests,
  bytes: one.bytes + other.bytes,
});

function setOrDelete(held: Map<string, Held>, account: string, value: Held): void {
  if (value.requests === 0) held.delete(account);
  else held.set(account, value);
}
