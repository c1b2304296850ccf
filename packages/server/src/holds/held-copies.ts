import type { Sealer } from "../ports.ts";
import { openIfReadable } from "../seal/open-if-readable.ts";
import type { Executor } from "../store/database.ts";
import { EVENT_COLUMNS, type SealedRow, storedEvent } from "../store/event-row.ts";

/** Events whose payloads are in memory at once. */
const PAGE = 100;

/** Which of the events under a hold are copied. */
export interface Held {
  /** SQL about `u`, an event under a hold. */
  readonly where: string;
  readonly values: readonly unknown[];
}

/**
 * Copies events that a hold covers and that have no copy yet, each re-sealed under the key of a hold, in the transaction
 * of the executor, which holds the holds' lock.
 *
 * @param onUnreadable called with what can't be opened, and so not be copied; without it, that is thrown.
 * @returns how many.
 * @throws KeysGone, SealBroken
 */
export async function copyHeldEvents(
  executor: Executor,
  sealer: Sealer,
  { where, values }: Held,
  onUnreadable?: (eventId: string) => void,
): Promise<number> {
  const passedOver: string[] = [];
  const text = `select ${EVENT_COLUMNS}, payload, event.key_id, u.hold_id as under from event
    join (select distinct on (account, purpose, received_at, event_id) * from event_under_hold u
      where ${where} and not exists (select from held_event c where c.account = u.account and c.purpose = u.purpose
        and c.received_at = u.received_at and c.event_id = u.event_id)
        and u.event_id <> all ($${values.length + 1}::uuid[])
      order by account, purpose, received_at, event_id, hold_id limit ${PAGE}) u
    using (account, purpose, received_at, event_id)`;
  let copies = 0;
  for (;;) {
    const { rows } = await executor.query<Omit<SealedRow, "hold_id"> & { under: string }>(text, [
      ...values,
      passedOver,
    ]);
    for (const { under, ...row } of rows) {
      const event = storedEvent({ ...row, hold_id: null });
      const exact = onUnreadable
        ? await openIfReadable(sealer, event)
        : await sealer.open(event, event.sealedUnder, event.payload);
      if (exact === undefined) {
        onUnreadable?.(event.eventId);
        passedOver.push(event.eventId);
        continue;
      }
      const payload = await sealer.sealCopy(event, under, exact);
      await executor.query(INSERT, [under, payload, event.account, event.purpose, row.received_at, event.eventId]);
      copies++;
    }
    if (rows.length < PAGE) return copies;
  }
}

const ATTRIBUTES = `account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id,
  action_type, session_id, event_type, sdk_version, platform, app_version`;
const INSERT = `insert into held_event (${ATTRIBUTES}, hold_id, payload)
  select ${ATTRIBUTES}, $1, $2 from event where account = $3 and purpose = $4 and received_at = $5 and event_id = $6`;
