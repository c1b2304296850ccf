/** Effects of an erasure on copies of held events. */
import { scheduleIdempotencyKeyDeletion } from "../../store/events/ledger.ts";
import { receivedAtOf } from "../../store/events/read-events.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import { insertTombstones, type KeyName, renewTombstones } from "../../store/events/tombstones.ts";
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";

/** Whether no active hold covers the copy `c`, as `is_held` says it, in a form for statements that delete. */
const IS_UNHELD = `not exists (select 1 from legal_hold h where h.lifted_at is null and h.account = c.account)
      and not exists (select 1 from legal_hold h where h.lifted_at is null and h.action_id = c.action_id)
      and not exists (select 1 from legal_hold h where h.lifted_at is null and h.event_id = c.event_id)`;

/** The events `$1`, received at `$2`. With `IS_NAMED`, a statement finds their copies `c`. */
const NAMED = `unnest($1::uuid[], $2::timestamptz[]) as named (event_id, received_at)`;
const IS_NAMED = "c.event_id = named.event_id and c.received_at = named.received_at";

const valuesOf = (eventIds: readonly string[]): readonly [readonly string[], readonly string[]] => [
  eventIds,
  eventIds.map((id) => receivedAtOf(id).toISOString()),
];

const MARK_COPIES_OF_KEYS_ERASED = sql(
  `update held_event c set erased_by = $1 from account_key k, idempotency_key i
      where k.key_id = any ($2::uuid[]) and c.account = k.account and c.purpose = k.purpose and c.erased_by is null
        and i.account = c.account and i.key = c.idempotency_key and i.event_id = c.event_id and i.key_id = k.key_id`,
  ["int8", "uuid[]"],
);

/**
 * Marks the copies of all events under these keys as erased. When the last hold on its event has ended, the next
 * retention pass deletes a marked copy.
 */
export async function markCopiesOfKeysErased(
  executor: OwnerTransaction,
  keyIds: readonly string[],
  sequence: number,
): Promise<void> {
  await query(executor, MARK_COPIES_OF_KEYS_ERASED, [sequence, keyIds]);
}

const MARK_COPIES_ERASED = sql(
  `update held_event c set erased_by = $3 from ${NAMED} where ${IS_NAMED} and c.erased_by is null`,
  ["uuid[]", "timestamptz[]", "int8"],
);

/** Marks the copies of single events as erased. */
export async function markCopiesErased(
  executor: OwnerTransaction,
  eventIds: readonly string[],
  sequence: number,
): Promise<void> {
  await query(executor, MARK_COPIES_ERASED, [...valuesOf(eventIds), sequence]);
}

const DELETE_UNHELD_COPIES = sql(
  `delete from held_event c using ${NAMED} where ${IS_NAMED} and ${IS_UNHELD}
      returning c.event_id, c.account, c.idempotency_key as key`,
  ["uuid[]", "timestamptz[]"],
  { event_id: "uuid", account: "text", key: "text" },
);

/** Deletes those copies of the events that no hold covers any more. */
export async function deleteUnheldCopies(
  executor: OwnerTransaction,
  eventIds: readonly string[],
): Promise<readonly (KeyName & { readonly event_id: string })[]> {
  const { rows } = await query(executor, DELETE_UNHELD_COPIES, valuesOf(eventIds));
  return rows;
}

const FIND_COPIES = sql(
  `select c.event_id from held_event c join ${NAMED} on ${IS_NAMED}`,
  ["uuid[]", "timestamptz[]"],
  { event_id: "uuid" },
);

/** @returns the ids of those events that have a held copy. */
export async function findCopies(executor: Executor, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await query(executor, FIND_COPIES, valuesOf(eventIds));
  return new Set(rows.map(({ event_id }) => event_id));
}

const FIND_COPIES_OF_ACCOUNT = sql(
  `select event_id from held_event
    where account = $1 and ($2::integer is null or purpose = $2) and erased_by is null`,
  ["text", "int4?"],
  { event_id: "uuid" },
);

/**
 * @returns ids of the account's events that have a copy which no erasure has marked yet. Without a purpose, searches
 * all purposes.
 */
export async function findCopiesOfAccount(executor: Executor, account: string, purpose?: number): Promise<string[]> {
  const { rows } = await query(executor, FIND_COPIES_OF_ACCOUNT, [account, purpose ?? null]);
  return rows.map(({ event_id }) => event_id);
}

const COUNT_COPIES_ERASED_BY = sql("select count(*) as count from held_event where erased_by = $1", ["int8"], {
  count: "int8",
});

export async function countCopiesErasedBy(executor: Executor, sequence: number): Promise<number> {
  return (await query(executor, COUNT_COPIES_ERASED_BY, [sequence])).rows[0]?.count ?? 0;
}

const END_HOLD = sql(
  `update legal_hold set lifted_at = coalesce(lifted_at, (select transaction_time())), lifted_by = coalesce(lifted_by, $2),
        lift_reason = coalesce(lift_reason, $3),
        secret_destroyed_at = case when (hold_id || later_secrets) <@ $4::uuid[] then (select transaction_time()) end
      where hold_id = $1 and secret_destroyed_at is null`,
  ["uuid", "text", "text", "uuid[]"],
);

const DELETE_COPIES_OF_HOLD = sql(
  `with deleted as (
        delete from held_event c where hold_id = $1 and ${IS_UNHELD}
          returning c.account, c.idempotency_key, c.event_id, c.purpose, c.received_at)
      select d.account, d.idempotency_key as key, d.event_id, d.purpose, d.received_at, i.request_mac from deleted d
        left join idempotency_key i on i.account = d.account and i.key = d.idempotency_key and i.event_id = d.event_id`,
  ["uuid"],
  {
    account: "text",
    key: "text",
    event_id: "uuid",
    purpose: "int4",
    received_at: "timestamptz",
    /** Null if the event is erased: then its tombstone has the MAC. */
    request_mac: "bytea?",
  },
);

export interface HoldEnd {
  readonly actor: string;
  readonly reason: string;
  /** Ids of the destroyed secrets. */
  readonly destroyed: readonly string[];
}

/**
 * Ends a hold as the journal says, and deletes the copies that no other hold covers. Their idempotency keys become
 * tombstones, and existing tombstones are renewed. If a replay has created a secret for the hold, the next pass
 * destroys this secret and records its destruction in the journal.
 * @returns the number of deleted copies.
 */
export async function endHold(
  executor: OwnerTransaction,
  pseudonymizer: Pseudonymizer,
  holdId: string,
  { actor, reason, destroyed }: HoldEnd,
): Promise<number> {
  await query(executor, END_HOLD, [holdId, actor, reason, destroyed]);
  const { rows } = await query(executor, DELETE_COPIES_OF_HOLD, [holdId]);
  const ledger = rows.flatMap((row) => (row.request_mac ? [{ ...row, request_mac: row.request_mac }] : []));
  // guard(drop): a late retry of a copy that a replay deletes is answered
  await insertTombstones(executor, pseudonymizer, ledger);
  await renewTombstones(executor, pseudonymizer, rows);
  // Schedules the deletion of idempotency keys that were kept only for these copies.
  await scheduleIdempotencyKeyDeletion(executor, rows);
  return rows.length;
}
