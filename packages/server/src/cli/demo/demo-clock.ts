import type { Clock } from "../../base/ports.ts";
import { beginDemo, endDemo, setClockBack } from "../../store/postgres/demo.ts";
import { inOwnerTransaction, type OwnerDatabase } from "../../store/postgres/database.ts";

/**
 * The clock of the demo and of its database: behind the clock of the machine until the demo ends. It stops nowhere, and
 * is only moved forward.
 */
export class DemoClock implements Clock {
  #behindMs = 0;

  now(): number {
    return Date.now() - this.#behindMs;
  }

  /** Marks the installation as a demo. @param at the time at which the demo begins */
  async begin(owner: OwnerDatabase, at: number): Promise<void> {
    const behindMs = Date.now() - at;
    await inOwnerTransaction(owner, async (transaction) => {
      await beginDemo(transaction);
      await setClockBack(transaction, behindMs);
    });
    this.#behindMs = behindMs;
  }

  /** Moves both clocks to a time, unless they are past it. */
  async advanceTo(owner: OwnerDatabase, at: number): Promise<void> {
    const behindMs = Math.max(0, Date.now() - at);
    if (behindMs >= this.#behindMs) return;
    await inOwnerTransaction(owner, (transaction) => setClockBack(transaction, behindMs));
    this.#behindMs = behindMs;
  }

  /** Gives the database its own clock again. */
  async end(owner: OwnerDatabase): Promise<void> {
    await inOwnerTransaction(owner, endDemo);
    this.#behindMs = 0;
  }
}
