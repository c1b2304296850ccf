/** Recovers a restored database or key store before a server starts, and requires this before an order. */
import { SearchBackoff } from "../lifecycle/holds/search-backoff.ts";
import { type Comparison, type ComparisonPorts, requireReplayed } from "../lifecycle/recovery/compare-with-journal.ts";
import { requireKeys } from "../lifecycle/recovery/installation.ts";
import { type Replayed, replayJournal, type ReplayPorts } from "../lifecycle/recovery/replay-journal.ts";
import { plural } from "../base/messages/plural.ts";
import type { Installation } from "./open-installation.ts";

/** The stores that are compared with the journal, and the keys that are then checked. */
export type RecoveryParts = Omit<ComparisonPorts, "executor"> &
  Pick<Installation, "accountKeys" | "database" | "pool" | "secrets">;

/** The stores to which a replay applies entries of the journal. */
export type ReplayParts = Omit<ReplayPorts, "executor" | "holdSearch"> & Pick<Installation, "clock" | "pool">;

export function replayPorts(installation: ReplayParts): ReplayPorts {
  return {
    ...installation,
    executor: installation.pool,
    holdSearch: new SearchBackoff(() => installation.clock.now()),
  };
}

/**
 * Applies the entries of the journal that the database and the key store lack, and then checks that the keys of the
 * events exist.
 * @throws an error with a journal-… code, key-store-outdated, Unavailable
 */
export async function recover(
  installation: RecoveryParts & ReplayParts,
  ports = replayPorts(installation),
): Promise<Replayed> {
  const replayed = await replayJournal(ports, "start");
  await requireKeys(installation.pool, installation.secrets);
  await installation.accountKeys.refresh();
  return replayed;
}

/**
 * Requires that the database lacks no entry of the journal. It is called before an order, because the order becomes the
 * next entry. @throws replay-needed if the database lacks entries. @throws an error with a journal-… code,
 * key-store-outdated, Unavailable
 */
export async function requireReplayedStores(installation: RecoveryParts): Promise<Comparison> {
  const { accountKeys, pool, secrets } = installation;
  const compared = await requireReplayed({ ...installation, executor: pool }, "start");
  await requireKeys(pool, secrets);
  await accountKeys.refresh();
  return compared;
}

/** How the database of a server gets the entries of the journal that it lacks. */
export interface Recovery {
  /**
   * Applies the entries of the erasure journal that this database or key store lacks. A process without a worker
   * applies none, and throws replay-needed if the database lacks entries. @throws an error with a journal-… code,
   * key-store-outdated, Unavailable
   */
  replay(): Promise<Replayed>;
  /** Descriptions of the journal entries that were applied at start because a backup had been restored. */
  readonly replayed: readonly string[];
}

/**
 * Recovers the installation of a server that starts.
 * @param works whether the process is a worker. Another process does not start before a worker has applied the entries.
 * @throws replay-needed; what `recover` throws
 */
export async function openRecovery(
  installation: RecoveryParts & ReplayParts & Pick<Installation, "receipts">,
  works: boolean,
): Promise<Recovery> {
  if (!works) {
    await requireReplayedStores(installation);
    const replay = async (): Promise<Replayed> => {
      await requireReplayed({ ...installation, executor: installation.pool }, "head");
      return { erasures: 0, holdOrders: 0, restrictionOrders: 0, keyStore: 0 };
    };
    return { replayed: [], replay };
  }
  // The first server of an installation creates the receipt key, because a command that only reads must not create it.
  await installation.receipts();
  const ports = replayPorts(installation);
  const replayed = describeReplayed(await recover(installation, ports));
  return { replayed, replay: () => replayJournal(ports, "head") };
}

/** Describes what a replay has applied, as lines for a log or a terminal. */
export function describeReplayed({ erasures, holdOrders, restrictionOrders, keyStore }: Replayed): readonly string[] {
  const lines: string[] = [];
  if (holdOrders > 0) lines.push(`the database lacked ${plural(holdOrders, "order")} about holds: applied again`);
  if (restrictionOrders > 0)
    lines.push(`the database lacked ${plural(restrictionOrders, "order")} about restrictions: applied again`);
  if (erasures > 0) lines.push(`the database lacked ${plural(erasures, "erasure")} of the journal: applied again`);
  if (keyStore > 0)
    lines.push(`the key store lacked ${plural(keyStore, "erasure")} of the journal: secrets destroyed again`);
  return lines;
}
