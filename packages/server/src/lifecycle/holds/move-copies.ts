import { openIfReadable } from "../../store/crypto/open-if-readable.ts";
import {
  BEFORE_ALL,
  EVENT_COLUMNS,
  EVENT_TYPES,
  type FullKey,
  type SealedRow,
  storedEvent,
} from "../../store/events/event-row.ts";
import type { FeatureSealer } from "../../store/crypto/feature-sealer.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import type { Sealer } from "../../base/ports.ts";
import type { OwnerTransaction } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";
import { moveFeatures } from "./copy-held-features.ts";

/** Number of copies whose payloads are in memory at once. */
const PAGE = 50;

/** The sealers of events and of feature values, and the key store that knows which secrets were destroyed. */
export interface CopySealers {
  readonly sealer: Sealer;
  readonly featureSealer: FeatureSealer;
  readonly secrets: Pick<Secrets, "findDestroyed">;
}

type Copy = SealedRow & { readonly other: string };

/**
 * Moves copies of a hold that ends to other active holds that cover them: seals them again under a secret of the other
 * hold. The transaction must have the hold lock. A copy that can't be opened stays with its hold, and is kept while
 * another hold covers it.
 */
export async function moveCopies(owner: OwnerTransaction, ports: CopySealers, holdId: string): Promise<void> {
  const { sealer } = ports;
  for await (const { other, ...row } of coveredCopies(owner, holdId)) {
    const event = storedEvent(row);
    const exact = await openIfReadable(sealer, event);
    if (exact === undefined) continue;
    const payload = await sealer.sealCopy(event, other, exact);
    const key: FullKey = [event.account, event.purpose, row.received_at, event.eventId];
    // Deleting the copy of an event also deletes its feature values, so they are stored again with the new copy.
    const storeFeatures = await moveFeatures(owner, ports, key);
    await query(owner, MOVE, [...key, other, payload]);
    await storeFeatures(other);
  }
}

const LIST_COVERED_COPIES = sql(
  `select ${EVENT_COLUMNS}, payload, c.hold_id, null::uuid as key_id, other.hold_id as other
    from held_event c cross join lateral (
      select h.hold_id from legal_hold h where h.lifted_at is null and h.hold_id <> c.hold_id
        and (h.account = c.account or h.action_id = c.action_id or h.event_id = c.event_id)
        order by h.hold_id limit 1) other
    where c.hold_id = $1 and (c.account, c.purpose, c.received_at, c.event_id) > ($2, $3, $4, $5)
    order by c.account, c.purpose, c.received_at, c.event_id limit ${PAGE}`,
  ["uuid", "text", "int4", "timestamptz", "uuid"],
  { ...EVENT_TYPES, payload: "bytea", hold_id: "uuid?", key_id: "uuid?", other: "uuid" },
);

async function* coveredCopies(owner: OwnerTransaction, holdId: string): AsyncGenerator<Copy> {
  let last: FullKey = BEFORE_ALL;
  for (;;) {
    const { rows } = await query(owner, LIST_COVERED_COPIES, [holdId, ...last]);
    yield* rows;
    const newest = rows.at(-1);
    if (!newest || rows.length < PAGE) return;
    last = [newest.account, newest.purpose, newest.received_at, newest.event_id];
  }
}

const ATTRIBUTES = `account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id,
  action_type, session_id, event_type, sdk_version, platform, app_version`;
/** The database allows no update of a copy's payload, so the copy is deleted and inserted again. */
const MOVE = sql(
  `with moved as (
    delete from held_event where account = $1 and purpose = $2 and received_at = $3 and event_id = $4 returning *)
  insert into held_event (${ATTRIBUTES}, erased_by, hold_id, payload)
    select ${ATTRIBUTES}, erased_by, $5, $6 from moved`,
  ["text", "int4", "timestamptz", "uuid", "uuid", "bytea"],
);
