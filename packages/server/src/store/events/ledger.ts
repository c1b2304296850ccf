/** Finds the event that holds an idempotency key, and deletes events and their idempotency keys. */
import type { Executor, OwnerTransaction } from "../postgres/executor.ts";
import { groupByPartition, type Partition, SAMPLE_PARTITION, withinOf } from "./partition-slices.ts";
import { receivedAtOf } from "./read-events.ts";
import type { LedgerRow } from "./tombstones.ts";
import { composed, query, queryComposed, sql } from "../postgres/statement.ts";

export interface FullLedgerRow extends LedgerRow {
  readonly purpose: number;
  readonly received_at: string;
}

const FIND_KEY_HOLDER = sql(
  `select event_id from idempotency_key
      where account = $1 and key = $2
        -- guard(true): an erased event is not named from the moment of its erasure
        and not is_account_key_erased(key_id)`,
  ["text", "text"],
  { event_id: "uuid" },
);

/** The id of the event that holds an idempotency key; `undefined` if the event is erased. */
export async function findKeyHolder(executor: Executor, account: string, key: string): Promise<string | undefined> {
  return (await query(executor, FIND_KEY_HOLDER, [account, key])).rows[0]?.event_id;
}

const DELETE_LEDGER_ROWS = sql(
  `delete from idempotency_key i
      using unnest($1::uuid[], $2::timestamptz[]) as named (event_id, received_at) cross join purpose u
      where i.purpose = u.code and i.event_id = named.event_id and i.received_at = named.received_at
      returning i.account, i.key, i.event_id, i.request_mac, i.purpose, i.received_at`,
  ["uuid[]", "timestamptz[]"],
  { account: "text", key: "text", event_id: "uuid", request_mac: "bytea", purpose: "int4", received_at: "timestamptz" },
);

/** Deletes the idempotency keys of events. @returns their rows, from which tombstones are made. */
export async function deleteLedgerRows(
  executor: OwnerTransaction,
  eventIds: readonly string[],
): Promise<readonly FullLedgerRow[]> {
  const { rows } = await query(executor, DELETE_LEDGER_ROWS, [
    eventIds,
    eventIds.map((id) => receivedAtOf(id).toISOString()),
  ]);
  return rows;
}

const DELETE_EVENTS = composed(
  (partition: Partition, keys: readonly FullLedgerRow[]) => {
    const values: unknown[] = [
      keys.map(({ account }) => account),
      keys.map(({ received_at }) => received_at),
      keys.map(({ event_id }) => event_id),
    ];
    const within = withinOf(partition, (value) => `$${values.push(value)}`);
    const text = `delete from event e using unnest($1::text[], $2::timestamptz[], $3::uuid[]) named (account, received_at, event_id)
        where ${within("e")} and e.account = named.account and e.received_at = named.received_at
          and e.event_id = named.event_id returning e.event_id`;
    return { text, values };
  },
  { event_id: "uuid" },
  [[SAMPLE_PARTITION, []]],
);

/** Deletes events by their full keys, one partition in each statement. @returns the ids of the deleted events. */
export async function deleteEvents(
  executor: OwnerTransaction,
  keys: readonly FullLedgerRow[],
): Promise<readonly string[]> {
  const deleted: string[] = [];
  // guard(drop): a single event's row is deleted
  for (const [partition, found] of await groupByPartition(executor, keys)) {
    const { rows } = await queryComposed(executor, DELETE_EVENTS(partition, found));
    deleted.push(...rows.map(({ event_id }) => event_id));
  }
  return deleted;
}

const SCHEDULE_KEY_DELETION = sql(
  `update event_partition p set idempotency_keys_deleted_at = null
      from unnest($1::integer[], $2::timestamptz[]) as named (purpose, received_at)
      where p.purpose = named.purpose and p.lower_bound <= named.received_at and named.received_at < p.upper_bound`,
  ["int4[]", "timestamptz[]"],
);

/**
 * If the partition of these events was dropped, makes the next retention pass delete the idempotency keys of the
 * partition again.
 */
export async function scheduleIdempotencyKeyDeletion(
  executor: OwnerTransaction,
  events: readonly { readonly purpose: number; readonly received_at: string }[],
): Promise<void> {
  await query(executor, SCHEDULE_KEY_DELETION, [
    events.map(({ purpose }) => purpose),
    events.map(({ received_at }) => received_at),
  ]);
}
