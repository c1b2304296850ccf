import { EVENT_COLUMNS, EVENT_TYPES, type EventRow, HELD_COLUMN, storedEvent } from "./event-row.ts";
import type { StoredEvent } from "../../base/ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { queryRevealed } from "../postgres/query-revealed.ts";
import { findPartitions, partitionQuery, type PartitionQuery, queryPartitions } from "./partition-slices.ts";
import { type Columns, query, queryRow, type RowOf, sql, type Statement } from "../postgres/statement.ts";

export interface ReadOptions {
  /**
   * Whether restricted events are read, too. They may be read only for the person whom they are about and for legal
   * claims, by the role `privacy`.
   */
  readonly includeRestricted?: boolean;
}

/** The last millisecond whose year has four digits. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The time at which an event was received, from its id: the millisecond in a UUID of version 7 is that of
 * `received_at`. For an id of another origin the time is arbitrary, but the database accepts it.
 */
export function receivedAtOf(eventId: string): Date {
  return new Date(Math.min(Number.parseInt(eventId.replaceAll("-", "").slice(0, 12), 16), LATEST_MS));
}

/** `live_event` shows the events that may be read. `unrestricted_event` shows those of them that may be analysed. */
export type EventView = "live_event" | "unrestricted_event";

// guard(true): only a read that asks for restricted events gets them
export const viewOf = ({ includeRestricted = false }: ReadOptions): EventView =>
  includeRestricted ? "live_event" : "unrestricted_event";

/** Matches copies that holds keep, which are in no partition. */
export const IS_HELD_COPY = "partition_purpose = -1";
const SEALED_COLUMNS = `${EVENT_COLUMNS}, key_id, hold_id, payload`;
const SEALED_TYPES = { ...EVENT_TYPES, key_id: "uuid?", hold_id: "uuid?", payload: "bytea" } as const;
export const STATE_COLUMNS = `${HELD_COLUMN}, e.restricted`;
export const STATE_TYPES = { held: "bool", restricted: "bool" } as const;
const FOUND_COLUMNS = `${SEALED_COLUMNS}, ${STATE_COLUMNS}`;
const FOUND_TYPES = { ...SEALED_TYPES, ...STATE_TYPES } as const;

interface EventState {
  /**
   * Whether a hold covers the event. If so, the event may have expired, or may be erased except for the hold's copy.
   */
  readonly held: boolean;
  /** Whether the event is excluded from analysis, by a restriction or because it is erased and only a hold keeps it. */
  readonly restricted: boolean;
}

/** A stored event and its state. */
export type FoundEvent = StoredEvent & EventState;

export type ListedEvent = EventRow & EventState;

const IS_SAME_EVENT = "e.received_at = $1 and e.event_id = $2";

/** A search for one event in a view, both in partitions and among the copies that holds keep. */
const findInView = <const Of extends Columns>(view: EventView, columns: string, types: Of): FindOne<RowOf<Of>> => ({
  inPartitions: partitionQuery(
    ["timestamptz", "uuid"],
    types,
    (within) => `select ${columns} from ${view} e where ${within("e", "view")} and ${IS_SAME_EVENT}`,
  ),
  ofCopies: sql(
    `select ${columns} from ${view} e where e.${IS_HELD_COPY} and ${IS_SAME_EVENT}`,
    ["timestamptz", "uuid"],
    types,
  ),
});

interface FindOne<Row> {
  readonly inPartitions: PartitionQuery<readonly [receivedAt: string, eventId: string], Row>;
  readonly ofCopies: Statement<readonly [receivedAt: string, eventId: string], Row>;
}

async function findOne<Row>(
  executor: Executor,
  eventId: string,
  { inPartitions, ofCopies }: FindOne<Row>,
): Promise<(Row & object) | undefined> {
  const at = receivedAtOf(eventId);
  const values = [at.toISOString(), eventId] as const;
  const partitions = await findPartitions(executor, { from: at.getTime(), to: at.getTime() });
  for await (const row of queryPartitions(executor, inPartitions, partitions, values)) return row;
  return (await query(executor, ofCopies, values)).rows[0];
}

const FIND_EVENT = {
  live_event: findInView("live_event", FOUND_COLUMNS, FOUND_TYPES),
  unrestricted_event: findInView("unrestricted_event", FOUND_COLUMNS, FOUND_TYPES),
};

/**
 * Finds an event by its id alone. The id contains the time of receipt, and so determines the possible partition of each
 * purpose.
 */
export async function findEvent(
  executor: Executor,
  eventId: string,
  options: ReadOptions = {},
): Promise<FoundEvent | undefined> {
  const row = await findOne(executor, eventId, FIND_EVENT[viewOf(options)]);
  return row && { ...storedEvent(row), held: row.held, restricted: row.restricted };
}

const ATTRIBUTE_COLUMNS = `${EVENT_COLUMNS}, ${STATE_COLUMNS}`;
const ATTRIBUTE_TYPES = { ...EVENT_TYPES, ...STATE_TYPES } as const;
const FIND_ATTRIBUTES = {
  live_event: findInView("live_event", ATTRIBUTE_COLUMNS, ATTRIBUTE_TYPES),
  unrestricted_event: findInView("unrestricted_event", ATTRIBUTE_COLUMNS, ATTRIBUTE_TYPES),
};

/** Finds an event as `findEvent` does, for a caller that may not read payloads. */
export function findAttributes(
  executor: Executor,
  eventId: string,
  options: ReadOptions = {},
): Promise<ListedEvent | undefined> {
  return findOne(executor, eventId, FIND_ATTRIBUTES[viewOf(options)]);
}

const REVEAL_EVENT = sql(
  "select payload, key_id, hold_id from reveal_event($1, $2, $3, $4, $5)",
  ["uuid", "text", "int4", "timestamptz", "uuid"],
  { payload: "bytea", key_id: "uuid?", hold_id: "uuid?" },
);

/**
 * Reads the payload of an event. The audit entry must be committed, must have been written by this login less than a
 * minute ago, and must name the event.
 * @returns `undefined` if the event was deleted or restricted in the meantime.
 */
export async function revealEvent(
  executor: Executor,
  entryId: string,
  event: ListedEvent,
): Promise<StoredEvent | undefined> {
  const { rows } = await queryRevealed(executor, REVEAL_EVENT, [
    entryId,
    event.account,
    event.purpose,
    event.received_at,
    event.event_id,
  ]);
  return rows[0] && storedEvent({ ...event, ...rows[0] });
}

const READ_TO_COMPARE = sql(
  `select ${SEALED_COLUMNS} from read_payload_to_compare($1, $2)`,
  ["text", "text"],
  SEALED_TYPES,
);

/** Finds the event of an idempotency key, restricted or not, for a login that may read no other payload. */
export async function readToCompare(
  executor: Executor,
  account: string,
  key: string,
): Promise<StoredEvent | undefined> {
  const { rows } = await query(executor, READ_TO_COMPARE, [account, key]);
  return rows[0] && storedEvent(rows[0]);
}

const COUNT_COMPARED_PAYLOADS = sql("select count_compared_payloads() as payloads", [], { payloads: "int8" });

/** The number of payloads that all servers read in this hour in order to compare retries. */
export async function countComparedPayloads(executor: Executor): Promise<number> {
  return (await queryRow(executor, COUNT_COMPARED_PAYLOADS)).payloads;
}

export type EventKey = Pick<StoredEvent, "account" | "purpose" | "receivedAt" | "eventId">;

const READ_EVENT = sql(
  `select ${SEALED_COLUMNS} from live_event e
    where account = $1 and purpose = $2 and received_at = $3 and event_id = $4`,
  ["text", "int4", "timestamptz", "uuid"],
  SEALED_TYPES,
);

/** Finds an event by its full key, restricted or not. */
export async function readEvent(executor: Executor, key: EventKey): Promise<StoredEvent | undefined> {
  const { account, purpose, receivedAt, eventId } = key;
  const { rows } = await query(executor, READ_EVENT, [account, purpose, new Date(receivedAt).toISOString(), eventId]);
  return rows[0] && storedEvent(rows[0]);
}

const READ_EVENTS = partitionQuery(
  ["timestamptz[]", "uuid[]"],
  SEALED_TYPES,
  (within) => `select ${SEALED_COLUMNS} from unrestricted_event e where ${within("e", "view")}
      and (e.received_at, e.event_id) in (select * from unnest($1::timestamptz[], $2::uuid[]))`,
);

/**
 * Reads the events of these keys in their partitions, for analysis. Restricted, erased and expired events are left out,
 * as are events that only a hold keeps.
 */
export async function readEvents(
  executor: Executor,
  keys: readonly Omit<EventKey, "account">[],
): Promise<readonly StoredEvent[]> {
  if (keys.length === 0) return [];
  const times = keys.map(({ receivedAt }) => receivedAt);
  const partitions = await findPartitions(executor, { from: Math.min(...times), to: Math.max(...times) });
  const rows = queryPartitions(executor, READ_EVENTS, partitions, [
    times.map((at) => new Date(at).toISOString()),
    keys.map(({ eventId }) => eventId),
  ]);
  return Array.fromAsync(rows, storedEvent);
}
