import { isLive } from "./expired.ts";
import { EVENT_COLUMNS, type EventRow, type SealedRow, storedEvent } from "./event-row.ts";
import type { StoredEvent } from "../ports.ts";
import type { Executor } from "./database.ts";

/** One of the four access patterns, or none: everything by received time. */
export interface EventFilter {
  readonly account?: string;
  readonly actionId?: string;
  readonly actionType?: string;
  readonly sdkVersion?: string;
  readonly schemaVersion?: number;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

export const isEventId = (text: string): boolean => UUID.test(text);

/** The last millisecond whose year has four digits. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * When the event was received, as its id says: the millisecond of a UUID of version 7 is that of `received_at`. An id
 * that is none of ours may say anything; what it says stays a time that the database can read.
 */
export function receivedAtOf(eventId: string): Date {
  return new Date(Math.min(Number.parseInt(eventId.replaceAll("-", "").slice(0, 12), 16), LATEST_MS));
}

export async function findEvent(executor: Executor, eventId: string): Promise<StoredEvent | undefined> {
  const text = `select ${EVENT_COLUMNS}, key_id, hold_id, payload from kept_event
    where received_at = $1 and event_id = $2 and ${isLive("kept_event")}`;
  const values = [receivedAtOf(eventId).toISOString(), eventId];
  const { rows } = await executor.query<SealedRow>(text, values);
  const [row] = rows;
  return row && storedEvent(row);
}

/** The query of one page of events, newest first, behind the event `after`. Each filter has an index of its own. */
export function listQuery(filter: EventFilter, limit: number, after?: string): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [isLive("event")];
  if (filter.account !== undefined) conditions.push(`account = ${bind(filter.account)}`);
  if (filter.actionId !== undefined) conditions.push(`action_id = ${bind(filter.actionId)}`);
  if (filter.actionType !== undefined) conditions.push(`action_type = ${bind(filter.actionType)}`);
  if (filter.sdkVersion !== undefined) {
    conditions.push(`sdk_version = ${bind(filter.sdkVersion)}`, `schema_version = ${bind(filter.schemaVersion ?? 1)}`);
  }
  if (after !== undefined) {
    conditions.push(`(received_at, event_id) < (${bind(receivedAtOf(after).toISOString())}, ${bind(after)}::uuid)`);
  }
  const page = `order by received_at desc, event_id desc limit ${bind(limit)}`;
  const where = (extra: readonly string[]): string => `where ${[...conditions, ...extra].join(" and ")}`;
  // The key starts with (account, purpose, received_at): a page of each purpose, then the first of them all.
  const text =
    filter.account === undefined
      ? `select ${EVENT_COLUMNS} from kept_event as event ${where([])} ${page.replaceAll("received_at desc", "event.received_at desc")}`
      : `select ${EVENT_COLUMNS} from (
           select e.* from purpose p cross join lateral (
             select * from kept_event as event ${where(["purpose = p.code"])} ${page}) e) as event
         ${page.replaceAll("received_at desc", "event.received_at desc")}`;
  return { text, values };
}

export async function listEvents(
  executor: Executor,
  filter: EventFilter,
  limit: number,
  after?: string,
): Promise<readonly EventRow[]> {
  const { text, values } = listQuery(filter, limit, after);
  return (await executor.query<EventRow>(text, values)).rows;
}
