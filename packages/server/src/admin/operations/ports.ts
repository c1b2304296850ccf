import type pg from "pg";
import type { Pseudonymizer } from "../../crypto/pseudonymizer.ts";
import type { CachingSealer } from "../../crypto/sealer.ts";
import type { Clock, MonotonicClock } from "../../ports.ts";

/** What the operations of the admin API work on. */
export interface AdminPorts {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  readonly sealer: CachingSealer;
  readonly pseudonymizer: Pseudonymizer;
  /** Minimum length of a reason. */
  readonly reasonMinLength: number;
  /**
   * Compares the database with the erasure journal, so that a restored one shows nothing that was erased.
   * @throws replay-needed
   */
  readonly requireReplayed: () => Promise<void>;
}
