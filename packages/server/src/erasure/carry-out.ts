import { copyHeldEvents } from "../holds/held-copies.ts";
import type { Sealer } from "../ports.ts";
import { type LedgerNames, uuidBytes } from "../seal/ledger-names.ts";
import type { Executor } from "../store/database.ts";
import { receivedAtOf } from "../store/read-events.ts";
import type { ErasureEntry } from "./journal.ts";
import { recordApplied } from "./journal-head.ts";

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
    `update held_event c set erased_by = $1 from event e where e.key_id = any ($2::uuid[]) and c.erased_by is null
      and c.account = e.account and c.purpose = e.purpose and c.received_at = e.received_at and c.event_id = e.event_id`,
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
  const { rows: ledger } = await executor.query<LedgerRow>(
    `delete from idempotency_key i using ${gone} cross join purpose u where i.purpose = u.code and ${of("i")}
      returning i.account, i.key, i.event_id, i.request_mac`,
    values,
  );
  await insertTombstones(executor, names, ledger);
  await executor.query(`update held_event c set erased_by = $3 from ${gone} where ${of("c")} and c.erased_by is null`, [
    ...values,
    sequence,
  ]);
  const { rows } = await executor.query<{ event_id: string; copy: boolean }>(
    `with released as (delete from held_event c using ${gone}
        where ${of("c")} and not is_held(c.account, c.action_id, c.event_id) returning c.event_id),
      deleted as (delete from event e using ${gone} where ${of("e")} returning e.event_id)
      select event_id, bool_or(copy) as copy
        from (select event_id, true as copy from released union all select event_id, false from deleted) let_go
        group by event_id`,
    values,
  );
  const { rows: kept } = await executor.query<{ event_id: string }>(
    `select c.event_id from held_event c join ${gone} on ${of("c")}`,
    values,
  );
  const held = new Set(kept.map((row) => row.event_id));
  const letGo = rows.filter((row) => !held.has(row.event_id));
  await executor.query(
    `update erasure set events = events + $2, idempotency_keys = idempotency_keys + $3, copies = copies + $4
      where sequence = $1`,
    [sequence, letGo.length, ledger.length, letGo.filter(({ copy }) => copy).length],
  );
}

async function endHold(executor: Executor, holdId: string, actor: string, reason: string): Promise<void> {
  await executor.query("delete from held_event where hold_id = $1", [holdId]);
  await executor.query(
    `update legal_hold set lifted_at = coalesce(lifted_at, now()), lifted_by = coalesce(lifted_by, $2),
        lift_reason = coalesce(lift_reason, $3), secret_destroyed_at = now()
      where hold_id = $1 and secret_destroyed_at is null`,
    [holdId, actor, reason],
  );
}

export interface LedgerRow {
  readonly account: string;
  readonly key: string;
  readonly event_id: string;
  readonly request_mac: Buffer;
}

export async function insertTombstones(
  executor: Executor,
  names: LedgerNames,
  rows: readonly LedgerRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await executor.query(
    `insert into tombstone (name_mac, masked_event_id, request_mac)
      select * from unnest($1::bytea[], $2::bytea[], $3::bytea[]) on conflict do nothing`,
    [
      rows.map(({ account, key }) => names.nameOf(account, key)),
      rows.map(({ account, key, event_id }) => names.mask(account, key, uuidBytes(event_id))),
      rows.map(({ request_mac }) => request_mac),
    ],
  );
}

/**
 * Copies what holds cover of an entry, before it is carried out.
 * @returns ids of events that can't be opened: their payloads are lost, and no reason to keep all else.
 */
export async function copyHeldOf(
  executor: Executor,
  sealer: Sealer,
  { keys, events }: Pick<ErasureEntry, "keys" | "events">,
): Promise<readonly string[]> {
  const unreadable: string[] = [];
  const tell = (eventId: string): void => void unreadable.push(eventId);
  await copyHeldEvents(executor, sealer, { where: "u.key_id = any ($1::uuid[])", values: [keys] }, tell);
  const where = "u.event_id = any ($1::uuid[]) and u.received_at = any ($2::timestamptz[])";
  const receivedAt = events.map((id) => receivedAtOf(id).toISOString());
  await copyHeldEvents(executor, sealer, { where, values: [events, receivedAt] }, tell);
  return unreadable;
}
