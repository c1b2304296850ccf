import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import { findErasureOrder } from "../../audit/search-audit.ts";
import { applyHoldOrder } from "../holds/hold-orders.ts";
import { destroySecrets } from "../holds/destroy-hold-secrets.ts";
import { type CopySealers, moveCopies } from "../holds/move-copies.ts";
import { renewDestroyedHolds } from "../holds/renew-hold-secrets.ts";
import type { OnUnreadable } from "../holds/copy-held-events.ts";
import { resolveHolds } from "../holds/resolve-holds.ts";
import type { SearchBackoff } from "../holds/search-backoff.ts";
import { applyRestrictionOrder } from "../restrictions/restriction-orders.ts";
import { Unavailable } from "../../base/ports.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import { withMaintenanceLock } from "../../store/postgres/maintenance-lock.ts";
import { type DatabaseOptions, inTransactionOn, type OwnerDatabase, withOwner } from "../../store/postgres/database.ts";
import { sqlState } from "../../store/postgres/errors.ts";
import type { Executor, OwnerConnection, OwnerTransaction } from "../../store/postgres/executor.ts";
import { SQL_STATES } from "../../store/postgres/sql-states.ts";
import { releasingLocks } from "../../store/events/partition-slices.ts";
import { ensureFormerAccountId } from "../../store/accounts/accounts.ts";
import { applyErasure, copyHeldOf } from "../erasure/apply-erasure.ts";
import { ErasedSubjectSearch } from "../erasure/erased-subjects.ts";
import { findIdsToErase } from "../erasure/find-ids-to-erase.ts";
import { findErasedSecrets } from "../erasure/erasure-table.ts";
import { type EntryLink, type Link, type LostLink, readChain } from "../journal/chain.ts";
import { type Comparison, type ComparisonPorts, compareWithJournal } from "./compare-with-journal.ts";
import { destroyedSecrets, refusingLost, requireDestroyed, secretsOf } from "./destroyed-secrets.ts";
import { lostOfHolds } from "./lost-secrets.ts";
import { destroyRestoredSecrets, findUndestroyed, undestroyedOf } from "./destroyed-partitions.ts";
import { excludeIngestion } from "../../store/events/exclude-ingestion.ts";
import {
  findApplied,
  findLatestApplied,
  listUnappliedLosses,
  recordAcceptedLoss,
  recordApplied,
} from "../journal/applied-entries.ts";
import { readWatermark, writeWatermark } from "../journal/key-store-watermark.ts";
import {
  type ErasureEntry,
  type ErasureJournal,
  isErasure,
  isHoldOrder,
  type OrderEntry,
  REPLAYED,
} from "../journal/journal.ts";
import { lockHolds, lockJournal } from "../../store/postgres/advisory-locks.ts";

export interface ReplayPorts extends ComparisonPorts, CopySealers {
  /**
   * Connection options of a login that may take the maintenance lock. `administration` has those of the owner's login,
   * which may erase.
   */
  readonly database: DatabaseOptions;
  readonly administration: OwnerDatabase;
  readonly secrets: Secrets;
  readonly pseudonymizer: Pseudonymizer;
  /**
   * Increases the time between searches for the names of replayed holds. The caller must pass the same object to each
   * call.
   */
  readonly holdSearch: SearchBackoff;
}

export interface Replayed {
  /** Number of erasures that the database lacked, because it was restored from a backup. */
  readonly erasures: number;
  /** Number of orders about holds that the database lacked. */
  readonly holdOrders: number;
  /** Number of orders about restrictions that the database lacked. */
  readonly restrictionOrders: number;
  /** Number of erasures that the key store lacked. It may still have had their secrets. */
  readonly keyStore: number;
}

type Applied = Omit<Replayed, "keyStore">;

/**
 * Applies the entries of the journal that the database or the key store lacks: erasures, and orders about holds and
 * restrictions. Before this replay, a server could show erased or restricted events, or delete held ones. The replay
 * also destroys again the secrets of dropped partitions, and the audit secrets of erased accounts, that the key store
 * still has.
 *
 * @param from as for `compareWithJournal`.
 * @throws the same errors as `compareWithJournal`; journal-owner-needed if the configured login may not apply entries
 * that the database lacks; key-store-outdated if an entry would erase a held event that only another copy of the key
 * store opens. In this case neither this entry nor a later one is applied.
 */
export async function replayJournal(ports: ReplayPorts, from: "start" | "head"): Promise<Replayed> {
  const compared = await compareWithJournal(ports, from);
  const applied = ports.journal ? await replayIntoDatabase(ports, compared) : NOTHING;
  return { ...applied, keyStore: await replayIntoKeyStore(ports, compared, from) };
}

async function replayIntoDatabase(ports: ReplayPorts, compared: Comparison): Promise<Applied> {
  const { missing, found, unrecorded } = compared;
  if (unrecorded.length > 0) await asOwner(ports, (owner) => recordLosses(owner, unrecorded));
  const lackingCount = missing.length + found.length;
  // guard(false): entries that the database lacks are applied
  // guard(false): running servers apply what the journal has
  const applied = lackingCount > 0 ? await asOwner(ports, (owner) => applyAll(owner, ports, compared)) : NOTHING;
  await resolveHolds(ports.executor, ports.pseudonymizer, {
    asOwner: (work) => nameAsOwner(ports, work),
    backoff: ports.holdSearch,
  });
  return applied;
}

/** @returns the number of erasures that the key store lacked. */
async function replayIntoKeyStore(
  ports: ReplayPorts,
  { latest, missing, watermark }: Comparison,
  from: "start" | "head",
): Promise<number> {
  const { executor, secrets, journal } = ports;
  const lastSequence = missing.at(-1)?.sequence ?? latest.sequence;
  const undestroyed = [
    ...(await findUndestroyed(executor, secrets, from === "start" ? "all" : "latest")),
    ...(await undestroyedOf(secrets, await findErasedSecrets(executor, { unfinished: true }))),
  ];
  // guard(left): secrets of dropped partitions that a restored key store has are destroyed again
  if (watermark >= lastSequence && undestroyed.length === 0) return 0;
  return withMaintenanceLock(ports.database, async () => {
    await destroyRestoredSecrets(executor, secrets);
    return destroyErasedSecrets(ports, journal);
  });
}

const NOTHING = { erasures: 0, holdOrders: 0, restrictionOrders: 0 };

async function recordLosses(owner: Executor, links: readonly LostLink[]): Promise<void> {
  for (const { sequence, acceptedAt: at } of links) await recordAcceptedLoss(owner, { sequence, at, ...REPLAYED });
}

function asOwner<T>({ administration }: ReplayPorts, work: (owner: OwnerConnection) => Promise<T>): Promise<T> {
  return withOwner(administration, work).catch((error: unknown) => {
    if (sqlState(error) !== SQL_STATES.insufficientPrivilege) throw error;
    throw new OperatorError(
      "journal-owner-needed",
      "the database lacks entries of the erasure journal, and its login may not apply them: " +
        "run drs erase replay with DRS_MIGRATION_DATABASE_URL naming the owner's login, then start again",
      { cause: error },
    );
  });
}

/**
 * Records the names of replayed holds, which needs the owner's login. Without this login, a pass deletes nothing, but
 * servers continue to store events.
 */
async function nameAsOwner(ports: ReplayPorts, work: (owner: OwnerConnection) => Promise<void>): Promise<void> {
  return asOwner(ports, work).catch((error: unknown) => {
    if (!hasCode(error, "journal-owner-needed")) throw error;
    throw new Unavailable(
      "the account or action of a replayed hold is known now, and the owner's login must record it before anything is " +
        "deleted: run drs erase replay with DRS_MIGRATION_DATABASE_URL naming it",
      { cause: error },
    );
  });
}

/** @returns the number of orders of each kind that the database lacked. */
async function applyAll(connection: OwnerConnection, ports: ReplayPorts, compared: Comparison): Promise<Applied> {
  const applied = { ...NOTHING };
  const destroyed = destroyedSecrets(compared);
  const onUnreadable = refusingLost(ports.secrets, destroyed);
  const lackingLinks = [...compared.found, ...compared.missing];
  const erasures = lackingLinks.flatMap(({ entry }) => (entry && isErasure(entry) ? [entry] : []));
  const subjects = new ErasedSubjectSearch(ports.pseudonymizer, erasures);
  await inTransactionOn(connection, async (owner) => {
    await lockHolds(owner);
    await renewDestroyedHolds(owner, ports.secrets, destroyed);
    // guard(drop): nothing is replayed while the key store lacks the secret of a hold
    requireDestroyed(destroyed, await lostOfHolds(owner, ports.secrets));
  });
  for (const link of lackingLinks) {
    await inTransactionOn(connection, async (owner) => {
      await lockHolds(owner);
      await lockJournal(owner);
      // The entry may be applied already: its writer committed in the meantime, or another server applied it.
      if (await isApplied(owner, link)) return;
      if (link.entry === undefined) await recordLoss(owner, link);
      else if (isErasure(link.entry)) {
        const entry = await addIdsInDatabase(owner, subjects, link.entry);
        await replayErasure(owner, ports, { ...link, entry }, onUnreadable);
        applied.erasures++;
      } else {
        await applyOrder(owner, ports, link.entry);
        await recordApplied(owner, link, link.entry.kind);
        applied[isHoldOrder(link.entry) ? "holdOrders" : "restrictionOrders"]++;
        // guard(drop): an order that is found does not undo what later ones ordered
        for (const later of laterOrders(compared, link.entry)) await applyOrder(owner, ports, later);
      }
    });
  }
  return applied;
}

async function isApplied(owner: OwnerTransaction, { sequence, entry }: Link): Promise<boolean> {
  if ((await findLatestApplied(owner)).sequence < sequence) return false;
  return entry === undefined || !(await listUnappliedLosses(owner)).has(sequence);
}

async function applyOrder(owner: OwnerTransaction, { secrets }: ReplayPorts, entry: OrderEntry): Promise<void> {
  // guard(drop): orders of the journal about holds are applied
  if (isHoldOrder(entry)) return applyHoldOrder(owner, secrets, entry);
  // guard(drop): orders of the journal about restrictions are applied
  await applyRestrictionOrder(owner, entry);
}

/** Finds later orders about the same hold or restriction, which the database has already applied. */
function laterOrders({ applied }: Comparison, order: OrderEntry): readonly OrderEntry[] {
  return applied.flatMap(({ entry }) =>
    entry && !isErasure(entry) && entry.sequence > order.sequence && subjectOf(entry) === subjectOf(order)
      ? [entry]
      : [],
  );
}

const subjectOf = (order: OrderEntry): string => (isHoldOrder(order) ? order.hold_id : order.restriction_id);

/**
 * Adds to an entry the ids of all keys, accounts and events of its subject that this database has from before the
 * erasure, even under ids that the entry does not contain.
 */
async function addIdsInDatabase(
  owner: OwnerTransaction,
  subjects: ErasedSubjectSearch,
  entry: ErasureEntry,
): Promise<ErasureEntry> {
  const reading = releasingLocks(owner);
  const subject = await subjects.find(reading, entry);
  // guard(true): a backup of another history is erased by the subject's name
  if (!subject) return entry;
  if (subject.kind === "account") await ensureFormerAccountId(owner, subject.account, entry.at);
  const found = await findIdsToErase(reading, subject, entry.at);
  const union = (one: readonly string[], other: readonly string[]): string[] => [...new Set([...one, ...other])];
  return {
    ...entry,
    keys: union(entry.keys, found.keys),
    accounts: union(entry.accounts, found.accounts),
    events: union(entry.events, found.events),
  };
}

async function replayErasure(
  owner: OwnerTransaction,
  { secrets, sealer, featureSealer, pseudonymizer }: ReplayPorts,
  { entry, digest }: EntryLink & { readonly entry: ErasureEntry },
  onUnreadable: OnUnreadable,
): Promise<void> {
  // A hold of an earlier entry may keep events that this entry erases, so its subject must be found first.
  await resolveHolds(owner, pseudonymizer, {
    reading: releasingLocks(owner),
    asOwner: (work) => work(owner),
  });
  const sealers = { sealer, featureSealer, secrets };
  const unreadable = new Set(await copyHeldOf(owner, sealers, entry, { onUnreadable }));
  // guard(right): the order of an erasure that was killed is found again
  const order =
    // If an erasure was killed after it wrote the journal, the audit still has its actor and reason.
    (await findErasureOrder(owner, secrets, entry.subject, entry.at)) ?? REPLAYED;
  await excludeIngestion(owner);
  for (const id of await copyHeldOf(owner, sealers, entry, { onlyRecent: true, onUnreadable })) unreadable.add(id);
  for (const holdId of entry.holds) await moveCopies(owner, sealers, holdId);
  await applyErasure(owner, pseudonymizer, entry, digest, { ...order, unreadable: unreadable.size });
}

/**
 * Records a loss that an operator accepted before the database was restored. Only the audit of the lost database had
 * the reason.
 */
async function recordLoss(owner: OwnerTransaction, link: LostLink): Promise<void> {
  await recordApplied(owner, link, "loss");
  await recordLosses(owner, [link]);
}

/**
 * Destroys the secrets of erasures that the database has applied and the key store has not. The journal names most of
 * these secrets. Only the database names those of an entry whose loss was accepted, and those of a subject that has
 * other ids in a backup of another history.
 *
 * @returns the number of erasures in the journal that the key store lacked.
 */
export async function destroyErasedSecrets(
  { executor, keyStore, secrets, codec }: Pick<ReplayPorts, "executor" | "keyStore" | "secrets" | "codec">,
  journal: ErasureJournal | undefined,
): Promise<number> {
  // guard(drop): secrets of unfinished erasures are destroyed, although the journal does not name all of them
  await destroyUndestroyed(secrets, await findErasedSecrets(executor, { unfinished: true }));
  if (!journal) return 0;
  const watermark = await readWatermark(keyStore);
  const { sequence: latestApplied } = await findLatestApplied(executor);
  const after = await findApplied(executor, watermark);
  const links = (await readChain(journal, codec, [], after)).filter(({ sequence }) => sequence > watermark);
  const missing = links.filter(({ sequence }) => sequence <= latestApplied);
  const erasures = missing.flatMap(({ entry }) => (entry && isErasure(entry) ? [entry] : []));
  // guard(drop): the secrets of erasures that the key store lacks are destroyed
  await destroySecrets(secrets, erasures.flatMap(secretsOf));
  // guard(drop): secrets that only the database names for a lost entry are destroyed
  await destroyUndestroyed(secrets, await findErasedSecrets(executor, { after: watermark, until: latestApplied }));
  await writeWatermark(keyStore, missing.at(-1)?.sequence ?? watermark);
  return erasures.length;
}

async function destroyUndestroyed(secrets: Secrets, names: readonly string[]): Promise<void> {
  for (const name of await undestroyedOf(secrets, names)) await secrets.destroy(name);
}
