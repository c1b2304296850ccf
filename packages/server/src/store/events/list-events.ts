import { compareText } from "./compare-text.ts";
import { EVENT_COLUMNS, EVENT_TYPES, type EventRow } from "./event-row.ts";
import type { Executor } from "../postgres/executor.ts";
import {
  type Bind,
  branchesOf,
  findPartitions,
  inLedgerOf,
  joinAdjacent,
  SAMPLE_PARTITION,
  slicesOf,
  type Span,
  spansOf,
} from "./partition-slices.ts";
import {
  type EventView,
  IS_HELD_COPY,
  type ListedEvent,
  type ReadOptions,
  receivedAtOf,
  STATE_COLUMNS,
  STATE_TYPES,
  viewOf,
} from "./read-events.ts";
import {
  composed,
  type ParametersOfStatement,
  prepared,
  query,
  queryComposed,
  queryRow,
} from "../postgres/statement.ts";

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

/** The columns that a list reads of an event. They contain no payload, which a login of the admin API may not read. */
const LISTED_COLUMNS = `e.event_id, e.idempotency_key, e.account, e.purpose, e.action_id, e.action_type, e.session_id, e.event_type,
  e.schema_version, e.sdk_version, e.platform, e.app_version, e.collected_at, e.received_at`;
/** No event of `unrestricted_event` is restricted. The constant saves PostgreSQL a subquery for each event. */
const LISTED_STATE = { live_event: "e.restricted", unrestricted_event: "false as restricted" } as const;
const NEWEST_FIRST = "order by e.received_at desc, e.event_id desc limit";

interface NewestOf {
  readonly filter: EventFilter;
  readonly span: Span;
  /** Maximum number of events of each branch. */
  readonly limit: number;
  /** The events before this one. */
  readonly after?: string | undefined;
  /** Columns of the event `e`, which have the time of receipt and the id. */
  readonly columns: string;
  /** Whether the copies that holds keep are among the events. */
  readonly hasCopies?: boolean;
}

/**
 * SQL for the newest events of a span: of each range of partitions, and of the copies that holds keep. For a moment both
 * may have an event. The filters by action, action type and SDK version each have an index, and the ledger has one by
 * account. The other filters narrow the result.
 * @returns a union, and the end of a query that gives its newest rows.
 */
export function newestOf(
  { filter, span, limit, after, columns, hasCopies = true }: NewestOf,
  bind: Bind,
): { readonly union: string; readonly page: string } {
  const view = viewOf(filter);
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
  const page = `${NEWEST_FIRST} ${bind(limit)}`;
  const and = conditions.map((condition) => ` and ${condition}`).join("");
  const copies = `(select ${columns} from ${view} e where e.${IS_HELD_COPY}${and} ${page})`;
  const branches = branchesOf(joinAdjacent(span.partitions), bind, (within) => {
    const found = account === undefined ? "" : ` and ${inLedgerOf(account, within, "e")}`;
    return `select ${columns} from ${view} e where ${within("e", "view")}${found}${and} ${page}`;
  });
  const parts = [...(hasCopies ? [copies] : []), ...(branches === "" ? [] : [branches])];
  return { union: parts.join(" union all "), page };
}

function composeList(
  filter: EventFilter,
  span: Span,
  limit: number,
  after?: string,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const columns = `${LISTED_COLUMNS}, ${LISTED_STATE[viewOf(filter)]}`;
  const { union, page } = newestOf({ filter, span, limit, after, columns }, (value) => `$${values.push(value)}`);
  return { text: `select ${EVENT_COLUMNS}, ${STATE_COLUMNS} from (${union}) e ${page}`, values };
}

export const SAMPLE_SPAN: Span = { from: 0, to: 1, partitions: [SAMPLE_PARTITION] };

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

/** PostgreSQL keeps a plan over all partitions only up to this number: running it locks each of them. */
const MAX_PLANNED_PARTITIONS = 200;
/** Number of ledger rows of an account that are sorted for a page, at most. */
const MAX_SORTED_ROWS = 10_000;

const IS_SPARSE = prepared(
  "is_sparse",

  `select (select count(*) from event_partition where dropped_at is null) <= ${MAX_PLANNED_PARTITIONS}
    and (select count(*) from (select 1 from idempotency_key where account = $1 limit ${MAX_SORTED_ROWS + 1}) i) <= ${MAX_SORTED_ROWS}
    as sparse`,
  ["text?"],
  { sparse: "bool" },
);

/**
 * The conditions on the page of a sparse list. Each has a value, so that one plan serves all pages. The sum keeps
 * PostgreSQL from reading an index on the time, whose range has no end in most pages.
 */
const pageOf = (row: string): string => `(${row}.received_at + interval '0', ${row}.event_id) < ($2, $3)
  and ${row}.received_at + interval '0' >= $4 and ${row}.received_at + interval '0' < $5
  and ($6::int4 is null or ${row}.purpose = $6)
  order by ${row}.received_at desc, ${row}.event_id desc limit $7::int4`;
const PAGE_TYPES = ["text", "timestamptz", "uuid", "timestamptz", "timestamptz", "int4?", "int4"] as const;

const LEDGER_PAGE = prepared(
  "ledger_page",

  `select i.purpose, i.received_at, i.event_id from idempotency_key i where i.account = $1 and ${pageOf("i")}`,
  PAGE_TYPES,
  { purpose: "int4", received_at: "timestamptz", event_id: "uuid" },
);

const LIST_TYPES = { ...EVENT_TYPES, ...STATE_TYPES } as const;

/** The statements of sparse lists over a view. Planning them takes longer than running them. */
const sparseListsOf = (view: EventView) => {
  const list = (from: string): string =>
    `select ${EVENT_COLUMNS}, ${STATE_COLUMNS} from (select ${LISTED_COLUMNS}, ${LISTED_STATE[view]} from ${from}) e
      order by e.received_at desc, e.event_id desc`;
  return {
    ofAction: prepared(
      `${view}_of_action`,
      list(`${view} e where e.action_id = $1 and ${pageOf("e")}`),
      PAGE_TYPES,
      LIST_TYPES,
    ),
    copies: prepared(
      `${view}_copies`,
      list(`${view} e where e.${IS_HELD_COPY} and e.account = $1 and ${pageOf("e")}`),
      PAGE_TYPES,
      LIST_TYPES,
    ),
    // `offset` keeps PostgreSQL from a join, in which PostgreSQL 15 would look for each key in every partition.
    ofKeys: prepared(
      `${view}_of_keys`,
      list(`unnest($2::int4[], $3::timestamptz[], $4::uuid[]) k (purpose, received_at, event_id) cross join lateral (
          select ${LISTED_COLUMNS}, ${LISTED_STATE[view]} from ${view} e where e.account = $1
            and e.partition_purpose = k.purpose and e.received_at = k.received_at and e.event_id = k.event_id offset 0) e`),
      ["text", "int4[]", "timestamptz[]", "uuid[]"],
      LIST_TYPES,
    ),
  };
};

const SPARSE_LISTS = {
  live_event: sparseListsOf("live_event"),
  unrestricted_event: sparseListsOf("unrestricted_event"),
};

const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * Lists a page of the events of an account or an action: few events in many partitions.
 * @returns `undefined` if there are too many events or partitions, or if the filter has other conditions.
 */
async function listSparse(
  executor: Executor,
  filter: EventFilter,
  limit: number,
  after?: string,
): Promise<readonly ListedEvent[] | undefined> {
  const { account, actionId, purpose, from, to, includeRestricted: _, ...others } = filter;
  const subject = account ?? actionId;
  if (subject === undefined || (account !== undefined && actionId !== undefined)) return undefined;
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  if (!(await queryRow(executor, IS_SPARSE, [account ?? null])).sparse) return undefined;
  const { ofAction, copies, ofKeys } = SPARSE_LISTS[viewOf(filter)];
  const valuesOf = (receivedAt: string, eventId: string, rows: number): ParametersOfStatement<typeof LEDGER_PAGE> => [
    subject,
    receivedAt,
    eventId,
    from === undefined ? "-infinity" : new Date(from).toISOString(),
    to === undefined ? "infinity" : new Date(to).toISOString(),
    purpose ?? null,
    rows,
  ];
  const [afterTime, afterId] = after === undefined ? ["infinity", LAST_ID] : [receivedAtOf(after).toISOString(), after];
  const firstPage = valuesOf(afterTime, afterId, limit);
  if (account === undefined) return onceEach((await query(executor, ofAction, firstPage)).rows, limit);
  const found: ListedEvent[] = [];
  // The ledger also names events that are deleted, expired or restricted. If all are, a few pages end the search.
  let page = valuesOf(afterTime, afterId, 2 * limit);
  for (let rows = 2 * limit; ; rows *= 4) {
    const { rows: keys } = await query(executor, LEDGER_PAGE, page);
    const columns = [
      keys.map((key) => key.purpose),
      keys.map((key) => key.received_at),
      keys.map((key) => key.event_id),
    ] as const;
    found.push(...(await query(executor, ofKeys, [account, ...columns])).rows);
    const last = keys.at(-1);
    if (!last || keys.length < rows || found.length >= limit) break;
    page = valuesOf(last.received_at, last.event_id, rows * 4);
  }
  // Copies come last: an event that is copied and deleted meanwhile is found here.
  found.push(...(await query(executor, copies, firstPage)).rows);
  return onceEach(found, limit);
}

/**
 * Number of partitions in which a page, or a count up to a maximum, is searched first. PostgreSQL plans each of them, and a page often ends there.
 * An account or an action has few events in a partition, so the search for such a page begins with a whole slice.
 */
export const FIRST_PARTITIONS = 4;

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
  const sparse = await listSparse(executor, filter, limit, after);
  if (sparse) return sparse;
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
  const rows: ListedEvent[] = [];
  const slices = span.partitions.length === 0 ? [[]] : slicesOf(span.partitions);
  for (const partitions of slices) {
    const page = await queryComposed(executor, listQuery(filter, { ...span, partitions }, limit, after));
    rows.push(...page.rows);
  }
  return onceEach(rows, limit);
}

/** Each event once, although its partition and a copy may both have it. */
const onceEach = (rows: readonly ListedEvent[], limit: number): readonly ListedEvent[] =>
  [...new Map(rows.map((row) => [row.event_id, row])).values()].toSorted(newestFirst).slice(0, limit);

export const newestFirst = (a: EventRow, b: EventRow): number =>
  compareText(b.received_at, a.received_at) || compareText(b.event_id, a.event_id);
