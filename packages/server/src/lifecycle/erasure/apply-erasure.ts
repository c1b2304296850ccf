import { copyHeldEvents, type ErasedIds, findHeldOfErasure } from "../holds/copy-held-events.ts";
import type { Sealer } from "../../ports.ts";
import type { LedgerNames } from "../../crypto/pseudonymizer.ts";
import type { Executor } from "../../postgres/database.ts";
import { groupByPartition, withinOf } from "../../events/partition-slices.ts";
import { receivedAtOf } from "../../events/read-events.ts";
import type { ErasureEntry } from "../../journal/journal.ts";
import { recordApplied } from "../../journal/applied-entries.ts";
import { insertTombstones, type KeyName, type LedgerRow, renewTombstones } from "../../events/tombstones.ts";

/** Events that one statement takes. */
const BATCH = 5_000;

/** Who asked for it, and why. */
export interface ErasureOrigin {
  readonly actor: string;
  readonly reason: string;
}

export interface ErasureRecord extends ErasureOrigin {
  /** Events under a hold that could not be copied. */
  readonly unreadable: number;
}

/**
 * Takes everything of a journal's entry from the database, or marks it so that no read finds it, in the transaction of
 * the executor, which is the owner's and has copied what holds keep. The same for an erasure that begins and for one that
 * a restored database lacks.
 */
export async function carryOut(
  executor: Executor,
  names: LedgerNames,
  entry: ErasureEntry,
  digest: string,
  { actor, reason, unreadable }: ErasureRecord,
): Promise<void> {
  const { sequence, keys } = entry;
  const subject = entry.subject === null ? null : Buffer.from(entry.subject, "hex");
  await recordApplied(executor, { sequence, digest }, entry.kind);
  await executor.query(
    `insert into erasure (sequence, erasure_id, kind, subject_mac, began_at, actor, reason, keys, unreadable)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [sequence, entry.erasure_id, entry.kind, subject, entry.at, actor, reason, keys, unreadable],
  );
  await executor.query(
    `update held_event c set erased_by = $1 from account_key k, idempotency_key i
      where k.key_id = any ($2::uuid[]) and c.account = k.account and c.purpose = k.purpose and c.erased_by is null
        and i.account = c.account and i.key = c.idempotency_key and i.event_id = c.event_id and i.key_id = k.key_id`,
    [sequence, keys],
  );
  await executor.query("update account_key set erased_by = $1 where key_id = any ($2::uuid[]) and erased_by is null", [
    sequence,
    keys,
  ]);
  for (let at = 0; at < entry.events.length; at += BATCH) {
    await eraseEvents(executor, names, sequence, entry.events.slice(at, at + BATCH));
  }
  await executor.query(
    "update erasure set held = (select count(*) from held_event where erased_by = $1) where sequence = $1",
    [sequence],
  );
  for (const id of entry.accounts) await eraseAccount(executor, sequence, id);
  for (const mac of entry.refused) {
    const insert = "insert into refused_account (account_mac, sequence) values ($1, $2) on conflict do nothing";
    await executor.query(insert, [Buffer.from(mac, "hex"), sequence]);
  }
  for (const id of entry.holds) await endHold(executor, id, actor, reason);
}

/** Its tokens and actions; its keys are in the entry. */
async function eraseAccount(executor: Executor, sequence: number, accountId: string): Promise<void> {
  const { rows } = await executor.query<{ account: string }>(
    "delete from account_identity where account_id = $1 returning account",
    [accountId],
  );
  const [row] = rows;
  if (!row) return;
  const tokens = await executor.query("delete from session_token where account = $1", [row.account]);
  const actions = await executor.query("delete from action where account = $1", [row.account]);
  await executor.query("update erasure set tokens = tokens + $2, actions = actions + $3 where sequence = $1", [
    sequence,
    tokens.rowCount,
    actions.rowCount,
  ]);
}

/** Rows go, or, where a hold covers them, are left to its end; keys become tombstones. */
async function eraseEvents(
  executor: Executor,
  names: LedgerNames,
  sequence: number,
  eventIds: readonly string[],
): Promise<void> {
  const gone = "unnest($1::uuid[], $2::timestamptz[]) as gone (event_id, received_at)";
  const of = (row: string): string => `${row}.event_id = gone.event_id and ${row}.received_at = gone.received_at`;
  const values = [eventIds, eventIds.map((id) => receivedAtOf(id).toISOString())];
  const { rows: ledger } = await executor.query<LedgerRow & FullKey>(
    `delete from idempotency_key i using ${gone} cross join purpose u where i.purpose = u.code and ${of("i")}
      returning i.account, i.key, i.event_id, i.request_mac, i.purpose, i.received_at`,
    values,
  );
  await insertTombstones(executor, names, ledger);
  await executor.query(`update held_event c set erased_by = $3 from ${gone} where ${of("c")} and c.erased_by is null`, [
    ...values,
    sequence,
  ]);
  const { rows: released } = await executor.query<KeyName & { event_id: string }>(
    `delete from held_event c using ${gone} where ${of("c")} and not is_held(c.account, c.action_id, c.event_id)
      returning c.event_id, c.account, c.idempotency_key as key`,
    values,
  );
  await renewTombstones(executor, names, released);
  const copies = new Set(released.map((row) => row.event_id));
  const deleted = new Set([...copies, ...(await deleteRows(executor, ledger))]);
  const { rows: kept } = await executor.query<{ event_id: string }>(
    `select c.event_id from held_event c join ${gone} on ${of("c")}`,
    values,
  );
  for (const { event_id } of kept) deleted.delete(event_id);
  const letGo = [...deleted];
  await executor.query(
    `update erasure set events = events + $2, idempotency_keys = idempotency_keys + $3, copies = copies + $4
      where sequence = $1`,
    [sequence, letGo.length, ledger.length, letGo.filter((id) => copies.has(id)).length],
  );
}

interface FullKey {
  readonly account: string;
  readonly purpose: number;
  readonly received_at: string;
  readonly event_id: string;
}

/** Deletes events by the full keys of their ledger rows, one partition a statement. @returns the ids of those that were there. */
async function deleteRows(executor: Executor, keys: readonly FullKey[]): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (const [partition, found] of await groupByPartition(executor, keys)) {
    const values: unknown[] = [
      found.map(({ account }) => account),
      found.map(({ received_at }) => received_at),
      found.map(({ event_id }) => event_id),
    ];
    const within = withinOf(partition, (value) => `$${values.push(value)}`);
    const { rows } = await executor.query<{ event_id: string }>(
      `delete from event e using unnest($1::text[], $2::timestamptz[], $3::uuid[]) gone (account, received_at, event_id)
        where ${within("e")} and e.account = gone.account and e.received_at = gone.received_at
          and e.event_id = gone.event_id returning e.event_id`,
      values,
    );
    deleted.push(...rows.map(({ event_id }) => event_id));
  }
  return deleted;
}

/** Deletes its copies, except those that another hold covers. */
async function endHold(executor: Executor, holdId: string, actor: string, reason: string): Promise<void> {
  await executor.query(
    `update legal_hold set lifted_at = coalesce(lifted_at, now()), lifted_by = coalesce(lifted_by, $2),
        lift_reason = coalesce(lift_reason, $3), secret_destroyed_at = now()
      where hold_id = $1 and secret_destroyed_at is null`,
    [holdId, actor, reason],
  );
  // The next retention pass deletes the idempotency keys that were kept for these copies alone.
  await executor.query(
    `with deleted as (
        delete from held_event c where hold_id = $1 and not is_held(c.account, c.action_id, c.event_id)
          returning c.purpose, c.received_at)
      update event_partition p set keys_forgotten_at = null from deleted d
        where p.purpose = d.purpose and p.lower_bound <= d.received_at and d.received_at < p.upper_bound`,
    [holdId],
  );
}

/**
 * Copies what holds cover of an entry, before it is carried out.
 * @param onlyRecent copies only what was committed since the transaction began: the rest is copied already.
 * @returns ids of events that can't be opened: their payloads are lost, and no reason to keep all else.
 */
export async function copyHeldOf(
  executor: Executor,
  sealer: Sealer,
  entry: ErasedIds,
  onlyRecent = false,
): Promise<readonly string[]> {
  const unreadable: string[] = [];
  const held = findHeldOfErasure(executor, entry, onlyRecent);
  await copyHeldEvents(executor, sealer, held, (eventId) => void unreadable.push(eventId));
  return unreadable;
}
