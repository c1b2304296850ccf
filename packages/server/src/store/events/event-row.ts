import type { StoredEvent } from "../../base/ports.ts";
import { exactInstantOf, instant } from "../postgres/instant.ts";

/** Promoted attributes as columns, in the order of the contract. */
export const EVENT_COLUMNS = `event_id, idempotency_key, account, purpose, action_id, action_type, session_id, event_type,
  schema_version, sdk_version, platform, app_version,
  ${exactInstantOf("collected_at")} as collected_at,
  ${instant("received_at")}`;

/** The types of `EVENT_COLUMNS`. */
export const EVENT_TYPES = {
  event_id: "uuid",
  idempotency_key: "text",
  account: "text",
  purpose: "int4",
  action_id: "text",
  action_type: "text",
  session_id: "text",
  event_type: "text",
  schema_version: "int4",
  sdk_version: "text",
  platform: "text",
  app_version: "text",
  collected_at: "text",
  received_at: "text",
} as const;

/** An expression that is true if a hold covers the event `e`, in its partition or as a copy. */
export const HELD_COLUMN = "is_held(e.account, e.action_id, e.event_id) as held";

/** Account, purpose, time of receipt and id of an event. */
export type FullKey = readonly [account: string, purpose: number, receivedAt: string, eventId: string];

/** A full key that sorts before the key of every event. */
export const BEFORE_ALL: FullKey = ["", 0, "-infinity", "00000000-0000-0000-0000-000000000000"];

export interface EventRow {
  readonly event_id: string;
  readonly idempotency_key: string;
  readonly account: string;
  readonly purpose: number;
  readonly action_id: string;
  readonly action_type: string;
  readonly session_id: string;
  readonly event_type: string;
  readonly schema_version: number;
  readonly sdk_version: string;
  readonly platform: string;
  readonly app_version: string;
  readonly collected_at: string;
  readonly received_at: string;
}

/** A row with the columns that are needed to open its payload, in addition to the promoted attributes. */
export interface SealedRow extends EventRow {
  /** The hold under whose secret the payload is sealed. */
  readonly hold_id: string | null;
  /** The account key of an event that is not sealed under the secret of a hold. */
  readonly key_id: string | null;
  readonly payload: Buffer;
}

export function storedEvent(row: SealedRow): StoredEvent {
  return {
    account: row.account,
    eventId: row.event_id,
    purpose: row.purpose,
    receivedAt: Date.parse(row.received_at),
    schemaVersion: row.schema_version,
    idempotencyKey: row.idempotency_key,
    actionId: row.action_id,
    actionType: row.action_type,
    sessionId: row.session_id,
    eventType: row.event_type,
    sdkVersion: row.sdk_version,
    platform: row.platform,
    appVersion: row.app_version,
    collectedAt: row.collected_at,
    payload: row.payload,
    sealedUnder: row.hold_id === null ? { keyId: row.key_id ?? "" } : { holdId: row.hold_id },
  };
}
