import { compareText } from "./compare-text.ts";
import { EVENT_COLUMNS, EVENT_TYPES, type EventRow, HELD_COLUMN, storedEvent } from "./event-row.ts";
import type { StoredEvent } from "../../base/ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { queryRevealed } from "../postgres/query-revealed.ts";
import {
  joinAdjacent,
  branchesOf,
  findPartitions,
  inLedgerOf,
  partitionQuery,
  type PartitionQuery,
  queryPartitions,
  SAMPLE_PARTITION,
  slicesOf,
  type Span,
  spansOf,
} from "./partition-slices.ts";
import {
  type Columns,
  composed,
  query,
  queryComposed,
  queryRow,
  type RowOf,
  sql,
  type Statement,
} from "../postgres/statement.ts";

export interface ReadOptions {
  /**
   * Whether restricted events are read, too. They may be read only for the person whom they are about and for legal
   * claims, by the role `privacy`.
   */
  readonly includeRestricted?: boolean;
}

/** The events that a list contains. */
export interface EventFilter extends ReadOptions {
  readonly account?: string;
  readonly actionId?: string;
  readonly actionType?: string;
  readonly sdkVersion?: string;
  readonly schemaVersion?: number;
  readonly sessionId?: string;
  readonly idempotencyKey?: string;
  readonly platform?: string;
  /** The code of the purpose. */
  readonly purpose?: number;
  /** Includes events that were received at or after this time; milliseconds since the Unix epoch. */
  readonly from?: number;
  /** Includes events that were received before this time; milliseconds since the Unix epoch. */
  readonly to?: number;
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
type EventView = "live_event" | "unrestricted_event";

// guard(true): only a read that asks for restricted events gets them
const viewOf = ({ includeRestricted = false }: ReadOptions): EventView =>
  includeRestricted ? "live_event" : "unrestricted_event";

/** Matches copies that holds keep, which are in no partition. */
const IS_HELD_COPY = "partition_purpose = -1";
const SEALED_COLUMNS = `${EVENT_COLUMNS}, key_id, hold_id, payload`;
const SEALED_TYPES = { ...EVENT_TYPES, key_id: "uuid?", hold_id: "uuid?", payload: "bytea" } as const;
const STATE_COLUMNS = `${HELD_COLUMN}, e.restricted`;
const STATE_TYPES = { held: "bool", restricted: "bool" } as const;
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
  "select payload, key_id, hold_id from reveal_event($1, $2, $3, $4)",
  ["uuid", "text", "int4", "timestamptz"],
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

/** The columns that a list reads of an event. They contain no payload, which a login of the admin API may not read. */
const LISTED_COLUMNS = `e.event_id, e.idempotency_key, e.account, e.purpose, e.action_id, e.action_type, e.session_id, e.event_type,
  e.schema_version, e.sdk_version, e.platform, e.app_version, e.collected_at, e.received_at`;
/** No event of `unrestricted_event` is restricted. The constant saves PostgreSQL a subquery for each event. */
const LISTED_STATE = { live_event: "e.restricted", unrestricted_event: "false as restricted" } as const;
const NEWEST_FIRST = "order by e.received_at desc, e.event_id desc limit";

/**
 * The filters by action, action type and SDK version each have an index, and the ledger has one by account. The other
 * filters narrow the result.
 */
function composeList(
  filter: EventFilter,
  span: Span,
  limit: number,
  after?: string,
): { text: string; values: unknown[] } {
  const view = viewOf(filter);
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  const account = filter.account === undefined ? undefined : bind(filter.account);
  // guard(drop): an export holds the account's events only
  if (account !== undefined) conditions.push(`e.account = ${account}`);
  if (filter.actionId !== undefined) conditions.push(`e.action_id = ${bind(filter.actionId)}`);
  if (filter.actionType !== undefined) conditions.push(`e.action_type = ${bind(filter.actionType)}`);
  if (filter.sdkVersion !== undefined) {
    conditions.push(
      `e.sdk_version = ${bind(filter.sdkVersion)}`,
      `e.schema_version = ${bind(filter.schemaVersion ?? 1)}`,
    );
  }
  if (filter.sessionId !== undefined) conditions.push(`e.session_id = ${bind(filter.sessionId)}`);
  if (filter.idempotencyKey !== undefined) conditions.push(`e.idempotency_key = ${bind(filter.idempotencyKey)}`);
  if (filter.platform !== undefined) conditions.push(`e.platform = ${bind(filter.platform)}`);
  if (filter.purpose !== undefined) conditions.push(`e.purpose = ${bind(filter.purpose)}`);
  if (filter.from !== undefined) conditions.push(`e.received_at >= ${bind(new Date(filter.from).toISOString())}`);
  if (filter.to !== undefined) conditions.push(`e.received_at < ${bind(new Date(filter.to).toISOString())}`);
  if (span.from !== undefined) conditions.push(`e.received_at >= ${bind(new Date(span.from).toISOString())}`);
  if (span.to !== undefined) conditions.push(`e.received_at < ${bind(new Date(span.to).toISOString())}`);
  if (after !== undefined) {
    conditions.push(`(e.received_at, e.event_id) < (${bind(receivedAtOf(after).toISOString())}, ${bind(after)}::uuid)`);
  }
  const columns = `${LISTED_COLUMNS}, ${LISTED_STATE[view]}`;
  const page = `${NEWEST_FIRST} ${bind(limit)}`;
  const and = conditions.map((condition) => ` and ${condition}`).join("");
  const copies = `(select ${columns} from ${view} e where e.${IS_HELD_COPY}${and} ${page})`;
  const branches = branchesOf(joinAdjacent(span.partitions), bind, (within) => {
    const found = account === undefined ? "" : ` and ${inLedgerOf(account, within, "e")}`;
    return `select ${columns} from ${view} e where ${within("e", "view")}${found}${and} ${page}`;
  });
  const all = branches === "" ? copies : `${copies} union all ${branches}`;
  return { text: `select ${EVENT_COLUMNS}, ${STATE_COLUMNS} from (${all}) e ${page}`, values };
}

const SAMPLE_SPAN: Span = { from: 0, to: 1, partitions: [SAMPLE_PARTITION] };

/**
 * The query for a page of events of a span, newest first, after the event `after`.
 * @param span a span with at most one slice of partitions.
 */
export const listQuery = composed(composeList, { ...EVENT_TYPES, ...STATE_TYPES }, [
  [{}, { partitions: [] }, 1, undefined],
  [{ includeRestricted: true }, SAMPLE_SPAN, 1, undefined],
  [{ account: "" }, SAMPLE_SPAN, 1, SAMPLE_PARTITION.partition_id],
  [{ actionId: "" }, SAMPLE_SPAN, 1, undefined],
  [{ actionType: "" }, SAMPLE_SPAN, 1, undefined],
  [{ sdkVersion: "" }, SAMPLE_SPAN, 1, undefined],
  [{ sessionId: "", idempotencyKey: "", platform: "", purpose: 1, from: 0, to: 1 }, SAMPLE_SPAN, 1, undefined],
]);

/**
 * Number of partitions in which a page is searched first. PostgreSQL plans each of them, and a page often ends there.
 * An account or an action has few events in a partition, so the search for such a page begins with a whole slice.
 */
const FIRST_PARTITIONS = 4;

/**
 * Lists a page of events, newest first, after the event `after`. Reads partitions from the newest on, until the page is
 * full.
 */
export async function listEvents(
  executor: Executor,
  filter: EventFilter,
  limit: number,
  after?: string,
): Promise<readonly ListedEvent[]> {
  const ends = [filter.to, after === undefined ? undefined : receivedAtOf(after).getTime()].filter(
    (end) => end !== undefined,
  );
  const partitions = await findPartitions(executor, {
    ...(filter.account !== undefined && { account: filter.account }),
    ...(filter.purpose !== undefined && { purpose: filter.purpose }),
    ...(filter.from !== undefined && { from: filter.from }),
    ...(ends.length > 0 && { to: Math.min(...ends) }),
  });
  const rows: ListedEvent[] = [];
  const first = filter.account === undefined && filter.actionId === undefined ? FIRST_PARTITIONS : undefined;
  for (const span of spansOf(partitions, first)) {
    rows.push(...(await listSpan(executor, filter, span, limit - rows.length, after)));
    if (rows.length === limit) break;
  }
  return rows;
}

/** Lists a page of the copies that holds keep, newest first, after the event `after`. */
export const listCopies = (
  executor: Executor,
  filter: EventFilter,
  limit: number,
  after?: string,
): Promise<readonly ListedEvent[]> => listSpan(executor, filter, { partitions: [] }, limit, after);

/**
 * Lists the events of a span. With many purposes, the partitions of a span may be more than one slice. Then each slice
 * gives a page.
 */
async function listSpan(
  executor: Executor,
  filter: EventFilter,
  span: Span,
  limit: number,
  after: string | undefined,
): Promise<readonly ListedEvent[]> {
  const rows = new Map<string, ListedEvent>();
  const slices = span.partitions.length === 0 ? [[]] : slicesOf(span.partitions);
  for (const partitions of slices) {
    const page = await queryComposed(executor, listQuery(filter, { ...span, partitions }, limit, after));
    for (const row of page.rows) rows.set(row.event_id, row);
  }
  return [...rows.values()].toSorted(newestFirst).slice(0, limit);
}

export const newestFirst = (a: EventRow, b: EventRow): number =>
  compareText(b.received_at, a.received_at) || compareText(b.event_id, a.event_id);
