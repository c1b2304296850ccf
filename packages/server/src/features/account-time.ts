import type { TimeShare } from "@device-risk-signals/features/runner";
import { LimitedMap } from "../base/caches/limited-map.ts";

/**
 * Milliseconds for the slow events of an account. Even if each feature ends its process, other accounts wait no longer
 * than a second for them.
 */
const FULL_MS = 500;
const PATIENCE_MS = 250;
/** A spent time is back after this number of milliseconds. */
const BACK_AFTER_MS = 60_000;
/** Only accounts with slow events are remembered. */
const MAX_ACCOUNTS = 10_000;

/** Limits the computing time of each account, so that the slow events of one account do not delay those of others. */
export class AccountTime {
  readonly #spent = new LimitedMap<{ readonly share: TimeShare; readonly at: number }>(MAX_ACCOUNTS);

  /** @param accounts of the events that `compute` computes. It gets the time of the account of each event. */
  async spend<Value>(
    accounts: readonly string[],
    compute: (shares: readonly TimeShare[]) => Promise<Value>,
  ): Promise<Value> {
    const shares = new Map([...new Set(accounts)].map((account) => [account, this.#shareOf(account)]));
    try {
      return await compute(accounts.map((account) => shares.get(account) as TimeShare));
    } finally {
      const at = performance.now();
      for (const [account, share] of shares) if (share.spentMs > 0) this.#spent.set(account, { share, at });
    }
  }

  #shareOf(account: string): TimeShare {
    const known = this.#spent.get(account);
    const backMs = known ? ((performance.now() - known.at) * FULL_MS) / BACK_AFTER_MS : 0;
    if (known && known.share.spentMs > backMs) return { ...known.share, spentMs: known.share.spentMs - backMs };
    this.#spent.delete(account);
    return { patienceMs: PATIENCE_MS, fullMs: FULL_MS, spentMs: 0, slow: new Set() };
  }
}
