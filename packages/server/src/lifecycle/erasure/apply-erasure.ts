import { deleteActions } from "../../ingest/actions/action-table.ts";
import { deleteRecentRejections } from "../../ingest/recent-rejections/recent-rejection-table.ts";
import { endAuditSecrets } from "../../audit/audit-secrets.ts";
import { deleteCases } from "../../access/cases/case-table.ts";
import { deleteAccountId, markKeysErased, refuseAccount } from "../../store/accounts/accounts.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import { deleteEvents, deleteLedgerRows } from "../../store/events/ledger.ts";
import { insertTombstones, renewTombstones } from "../../store/events/tombstones.ts";
import { deleteFeatures } from "../../features/erase-features.ts";
import { recordApplied } from "../journal/applied-entries.ts";
import type { ErasureEntry } from "../journal/journal.ts";
import type { OwnerTransaction } from "../../store/postgres/executor.ts";
import { deleteTokens } from "../../ingest/sessions/opaque-tokens.ts";
import { copyHeldEvents, type ErasedIds, findHeldOfErasure, type OnUnreadable } from "../holds/copy-held-events.ts";
import {
  countCopiesErasedBy,
  deleteUnheldCopies,
  endHold,
  findCopies,
  markCopiesErased,
  markCopiesOfKeysErased,
} from "../holds/erased-copies.ts";
import { copyFeaturesOfErasure } from "../holds/copy-held-features.ts";
import type { CopySealers } from "../holds/move-copies.ts";
import { endRestrictions } from "../restrictions/restriction-table.ts";
import { addToErasure, type ErasureRecord, insertErasure } from "./erasure-table.ts";

/** Maximum number of events per statement. */
const BATCH = 5_000;

/**
 * Deletes everything in the database that an entry of the journal names, or marks it so that no read finds it. The
 * caller must have copied held events in the same transaction. An erasure that begins and an erasure that a restored
 * database lacks are applied in the same way.
 */
export async function applyErasure(
  executor: OwnerTransaction,
  pseudonymizer: Pseudonymizer,
  entry: ErasureEntry,
  digest: string,
  { actor, reason, unreadable }: ErasureRecord,
): Promise<void> {
  const { sequence, keys } = entry;
  await recordApplied(executor, { sequence, digest }, entry.kind);
  await insertErasure(executor, entry, { actor, reason, unreadable });
  // guard(drop): the erasure of an account ends its restrictions
  await endRestrictions(executor, entry.restrictions ?? [], sequence);
  await markCopiesOfKeysErased(executor, keys, sequence);
  await markKeysErased(executor, keys, sequence);
  for (let at = 0; at < entry.events.length; at += BATCH) {
    await eraseEvents(executor, pseudonymizer, sequence, entry.events.slice(at, at + BATCH));
  }
  await addToErasure(executor, sequence, { held: await countCopiesErasedBy(executor, sequence) });
  // guard(drop): tokens of an erased account are deleted again after a restore
  for (const id of entry.accounts) await eraseAccount(executor, sequence, id);
  // guard(false): the erasure of an account makes its reasons in the audit unreadable
  if (entry.kind === "account" && entry.subject !== null) {
    await endAuditSecrets(executor, pseudonymizer, Buffer.from(entry.subject, "hex"), entry.at);
  }
  for (const mac of entry.refused) await refuseAccount(executor, Buffer.from(mac, "hex"), sequence);
  for (const id of entry.holds) {
    const copies = await endHold(executor, pseudonymizer, id, { actor, reason, destroyed: entry.holds });
    await addToErasure(executor, sequence, { copies });
  }
}

/** Deletes the account's id, tokens, actions, cases and recent rejections. `applyErasure` marks the account's keys, which the entry names. */
async function eraseAccount(executor: OwnerTransaction, sequence: number, accountId: string): Promise<void> {
  const account = await deleteAccountId(executor, accountId);
  if (account === undefined) return;
  const tokens = await deleteTokens(executor, account);
  const actions = await deleteActions(executor, account);
  // guard(drop): the cases of an erased account are deleted
  await deleteCases(executor, account);
  await deleteRecentRejections(executor, account);
  await addToErasure(executor, sequence, { tokens, actions });
}

/**
 * Deletes events and their feature values, but leaves a copy that a hold covers until the hold ends. Replaces ledger
 * rows by tombstones.
 */
async function eraseEvents(
  executor: OwnerTransaction,
  pseudonymizer: Pseudonymizer,
  sequence: number,
  eventIds: readonly string[],
): Promise<void> {
  const ledger = await deleteLedgerRows(executor, eventIds);
  await insertTombstones(executor, pseudonymizer, ledger);
  await markCopiesErased(executor, eventIds, sequence);
  const released = await deleteUnheldCopies(executor, eventIds);
  await renewTombstones(executor, pseudonymizer, released);
  const copies = new Set(released.map(({ event_id }) => event_id));
  const rows = await deleteEvents(executor, ledger);
  const features = await deleteFeatures(executor, eventIds);
  const kept = await findCopies(executor, eventIds);
  const deleted = [...new Set([...copies, ...rows])].filter((id) => !kept.has(id));
  await addToErasure(executor, sequence, {
    events: deleted.length,
    idempotency_keys: ledger.length,
    features,
    copies: deleted.filter((id) => copies.has(id)).length,
  });
}

export interface CopyOptions {
  /** Copies only events of the last hour. An earlier call in the transaction has copied the older ones. */
  readonly onlyRecent?: boolean;
  /** Throws if an event must not be erased without a copy. */
  readonly onUnreadable: OnUnreadable;
}

/**
 * Copies the held events of an entry with their feature values, before the entry is applied.
 * @returns ids of events that can't be opened. Unless `onUnreadable` throws, they get no copy, and the work continues.
 */
export async function copyHeldOf(
  executor: OwnerTransaction,
  sealers: CopySealers,
  entry: ErasedIds,
  { onlyRecent = false, onUnreadable }: CopyOptions,
): Promise<readonly string[]> {
  const unreadable: string[] = [];
  const held = findHeldOfErasure(executor, entry, onlyRecent);
  // guard(drop): events that a hold covers are copied before the erasure
  await copyHeldEvents(executor, sealers, held, async (eventId, reason) => {
    await onUnreadable(eventId, reason);
    unreadable.push(eventId);
  });
  // guard(drop): feature values of events that a hold covers are copied before the erasure
  await copyFeaturesOfErasure(executor, sealers, entry, onUnreadable);
  return unreadable;
}
