/** Events and their idempotency keys, found and deleted by event id. */
import type { Executor } from "../postgres/database.ts";
import { groupByPartition, withinOf } from "./partition-slices.ts";
import { receivedAtOf } from "./read-events.ts";
import type { LedgerRow } from "./tombstones.ts";

export interface FullLedgerRow extends LedgerRow {
  readonly purpose: number;
  readonly received_at: string;
}

/** Deletes the idempotency keys of events. @returns their rows, of which tombstones are to be made. */
export async function deleteLedgerRows(
  executor: Executor,
  eventIds: readonly string[],
): Promise<readonly FullLedgerRow[]> {
  const { rows } = await executor.query<FullLedgerRow>(
    `delete from idempotency_key i
      using unnest($1::uuid[], $2::timestamptz[]) as named (event_id, received_at) cross join purpose u
      where i.purpose = u.code and i.event_id = named.event_id and i.received_at = named.received_at
      returning i.account, i.key, i.event_id, i.request_mac, i.purpose, i.received_at`,
    [eventIds, eventIds.map((id) => receivedAtOf(id).toISOString())],
  );
  return rows;
}

/** Deletes events by their full keys, one partition in each statement. @returns the ids of those that existed. */
export async function deleteEvents(executor: Executor, keys: readonly FullLedgerRow[]): Promise<readonly string[]> {
  const deleted: string[] = [];
  // guard(drop): a single event's row is deleted
  // fails: e2e/erasure.test.ts › one event, one action
  for (const [partition, found] of await groupByPartition(executor, keys)) {
    const values: unknown[] = [
      found.map(({ account }) => account),
      found.map(({ received_at }) => received_at),
      found.map(({ event_id }) => event_id),
    ];
    const within = withinOf(partition, (value) => `$${values.push(value)}`);
    const { rows } = await executor.query<{ event_id: string }>(
      `delete from event e using unnest($1::text[], $2::timestamptz[], $3::uuid[]) named (account, received_at, event_id)
        where ${within("e")} and e.account = named.account and e.received_at = named.received_at
          and e.event_id = named.event_id returning e.event_id`,
      values,
    );
    deleted.push(...rows.map(({ event_id }) => event_id));
  }
  return deleted;
}

/** The next retention pass deletes the idempotency keys of these times again, where their partition is dropped. */
export async function reopenIdempotencyKeys(
  executor: Executor,
  events: readonly { readonly purpose: number; readonly received_at: string }[],
): Promise<void> {
  await executor.query(
    `update event_partition p set idempotency_keys_deleted_at = null
      from unnest($1::integer[], $2::timestamptz[]) as named (purpose, received_at)
      where p.purpose = named.purpose and p.lower_bound <= named.received_at and named.received_at < p.upper_bound`,
    [events.map(({ purpose }) => purpose), events.map(({ received_at }) => received_at)],
  );
}
