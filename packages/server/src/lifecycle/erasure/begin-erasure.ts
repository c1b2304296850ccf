import { randomUUID } from "node:crypto";
import { escapeLiteral } from "../../base/driver.ts";
import { ensureAccountId } from "../../store/accounts/accounts.ts";
import type { OnUnreadable } from "../holds/copy-held-events.ts";
import type { CopySealers } from "../holds/move-copies.ts";
import { resolveHolds } from "../holds/resolve-holds.ts";
import { findEndingRestrictions } from "../restrictions/restriction-table.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import type { OwnerTransaction, Transaction } from "../../store/postgres/executor.ts";
import {
  branchesOf,
  findPartitions,
  type Partition,
  RECENT_MS,
  releasingLocks,
  SAMPLE_PARTITION,
} from "../../store/events/partition-slices.ts";
import { appendEntry, type AppendEntryPorts } from "../journal/append-entry.ts";
import { applyErasure, copyHeldOf } from "./apply-erasure.ts";
import { findIdsToErase } from "./find-ids-to-erase.ts";
import { composed, queryComposed } from "../../store/postgres/statement.ts";
import { excludeIngestion } from "../../store/events/exclude-ingestion.ts";
import type { ErasureEntry } from "../journal/journal.ts";
import { type ErasurePlan, type ErasureSubject, isNothing, planErasure, subjectMac } from "./plan-erasure.ts";
import { findErasures, requireSubject } from "./erasure-table.ts";
import { lockHolds, lockJournal } from "../../store/postgres/advisory-locks.ts";

export interface ErasePorts extends AppendEntryPorts, CopySealers {
  readonly pseudonymizer: Pseudonymizer;
  /** Throws if an event that a hold keeps must not be erased without a copy. */
  readonly onUnreadable: OnUnreadable;
}

export interface ErasureOrder {
  /**
   * A UUID that no erasure has; default: a new one. The journal contains it, so that the erasure has the same id in a
   * restored database.
   */
  readonly erasureId?: string;
  readonly subject: ErasureSubject;
  readonly actor: string;
  readonly reason: string;
  /** Whether later events of the account are rejected. */
  readonly refuseLater: boolean;
  /** Whether to erase the subject even if the database does not know it, because a backup may contain it. */
  readonly isUnknown?: boolean;
  /**
   * Receives the plan that the erasure's transaction makes. The plan may differ from an earlier plan, because events
   * may have arrived since. To refuse the erasure, the function throws.
   */
  readonly onPlan?: (plan: ErasurePlan) => Promise<void>;
}

/**
 * Begins an erasure: copies held events, waits for running commit batches, writes the journal entry, and applies it.
 * From the commit on, no read finds what was erased, and later events are sealed under another key. If the process is
 * killed after the write of the journal, a replay applies the entry and destroys the secrets. The next retention pass
 * or erasure then deletes the rows and signs the receipt. If the process is killed before the write, nothing is erased.
 *
 * @returns the sequence of the journal entry, or `undefined` if nothing is left to erase.
 * @throws journal-entry-exists, Unavailable, and what `onUnreadable` and `onPlan` throw
 */
export async function beginErasure(
  executor: OwnerTransaction,
  ports: ErasePorts,
  order: ErasureOrder,
): Promise<number | undefined> {
  const { erasureId = randomUUID(), subject, actor, reason, refuseLater, isUnknown = false } = order;
  // guard(drop): an erasure waits for a transaction that places or lifts a hold
  await lockHolds(executor);
  // guard(drop): one erasure at a time begins
  await lockJournal(executor);
  const [begun] = await findErasures(executor, { erasureId });
  if (begun) requireSubject(begun, subjectMac(ports.pseudonymizer, subject));
  // guard(drop): no journal entry has the id of another one, because no replay could apply it
  if (begun) return undefined;
  await resolveHolds(executor, ports.pseudonymizer, {
    reading: releasingLocks(executor),
    asOwner: (work) => work(executor),
  });
  // guard(drop): an erasure that finds nothing writes no journal entry
  const plan = await planErasure(releasingLocks(executor), ports.pseudonymizer, subject);
  if (!refuseLater && !isUnknown && isNothing(plan)) return undefined;
  await order.onPlan?.(plan);
  if (subject.kind === "account") {
    await ensureAccountId(executor, subject.account);
  }
  // The long work is done first, while ingestion continues. Afterwards only the few events that came in the meantime
  // remain.
  const idsFoundBefore = await findIdsToErase(releasingLocks(executor), subject);
  const unreadable = new Set(await copyHeldOf(executor, ports, idsFoundBefore, ports));
  const findRecent = await prepareRecent(executor, subject, ports.clock.now());
  // guard(drop): commit batches end before an erasure
  await excludeIngestion(executor);
  const idsToErase = findRecent
    ? { ...idsFoundBefore, events: [...new Set([...idsFoundBefore.events, ...(await findRecent())])] }
    : await findIdsToErase(executor, subject);
  for (const id of await copyHeldOf(executor, ports, idsToErase, { ...ports, onlyRecent: true })) unreadable.add(id);

  const restrictions =
    subject.kind === "account"
      ? await findEndingRestrictions(executor, ports.pseudonymizer.restrictedAccountOf(subject.account))
      : [];
  const { entry, digest } = await appendEntry<ErasureEntry>(executor, ports, {
    kind: subject.kind,
    erasure_id: erasureId,
    subject: subjectMac(ports.pseudonymizer, subject).toString("hex"),
    ...idsToErase,
    holds: [],
    refused:
      // guard(right): later events are refused only if the order says so
      refuseLater && subject.kind === "account"
        ? [ports.pseudonymizer.subjectOf("account", subject.account).toString("hex")]
        : [],
    ...(restrictions.length > 0 && { restrictions }),
  });
  await applyErasure(executor, ports.pseudonymizer, entry, digest, { actor, reason, unreadable: unreadable.size });
  return entry.sequence;
}

/**
 * The statement contains literals instead of parameters, so that PostgreSQL can plan it in `prepare`, before `execute`.
 */
const FIND_RECENT = composed(
  (partitions: readonly Partition[], actionId: string) => {
    const literal = (value: unknown): string => escapeLiteral(String(value));
    const text = branchesOf(
      partitions,
      literal,
      (within) => `select event_id as id from event e where ${within("e")} and action_id = ${literal(actionId)}
      and not is_account_key_erased(key_id)`,
    );
    return { text, values: [] };
  },
  { id: "uuid" },
  [[[SAMPLE_PARTITION], ""]],
);

/**
 * Prepares a search for recent events of an action, and runs it once while ingestion continues. The second run, while
 * ingestion waits, takes no further locks and costs one index scan of the newest partitions. Returns `undefined` for
 * other subjects, which need no such search.
 */
async function prepareRecent(
  executor: Transaction,
  subject: ErasureSubject,
  now: number,
): Promise<(() => Promise<string[]>) | undefined> {
  if (subject.kind !== "action") return undefined;
  const partitions = await findPartitions(executor, { from: now - RECENT_MS, to: now + RECENT_MS });
  if (partitions.length === 0) return async () => [];
  const recent = FIND_RECENT(partitions, subject.actionId);
  const name = `"recent ${randomUUID()}"`;
  const run = async (): Promise<string[]> =>
    (await queryComposed(executor, { ...recent, text: `execute ${name}` })).rows.map(({ id }) => id);
  await executor.query(`prepare ${name} as ${recent.text}`);
  await run();
  return run;
}
