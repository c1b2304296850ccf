import type { TimeShare } from "@device-risk-signals/features/runner";
import { LimitedMap } from "../base/caches/limited-map.ts";

/** A spent time is back after this number of milliseconds. */
const BACK_AFTER_MS = 60_000;
/** Only accounts and features with slow events are remembered. */
const MAX_OWNERS = 10_000;

/** Limits the computing time of each account, or of each feature, so that what is slow for one does not delay others. */
export class TimeShares {
  readonly #fullMs: number;
  readonly #spent = new LimitedMap<{ readonly share: TimeShare; readonly at: number }>(MAX_OWNERS);

  /** @param fullMs milliseconds of each owner. The patience with a slow feature is half of them. */
  constructor(fullMs: number) {
    this.#fullMs = fullMs;
  }

  /** @param owners for which `compute` computes. It gets the time of each. */
  async spend<Value>(
    owners: readonly string[],
    compute: (shares: readonly TimeShare[]) => Promise<Value>,
  ): Promise<Value> {
    const shares = new Map([...new Set(owners)].map((owner) => [owner, this.#shareOf(owner)]));
    try {
      return await compute(owners.map((owner) => shares.get(owner) as TimeShare));
    } finally {
      const at = performance.now();
      for (const [owner, share] of shares) if (share.spentMs > 0) this.#spent.set(owner, { share, at });
    }
  }

  #shareOf(owner: string): TimeShare {
    const known = this.#spent.get(owner);
    const backMs = known ? ((performance.now() - known.at) * this.#fullMs) / BACK_AFTER_MS : 0;
    if (known && known.share.spentMs > backMs) return { ...known.share, spentMs: known.share.spentMs - backMs };
    this.#spent.delete(owner);
    return { patienceMs: this.#fullMs / 2, fullMs: this.#fullMs, spentMs: 0, slow: new Set() };
  }
}
