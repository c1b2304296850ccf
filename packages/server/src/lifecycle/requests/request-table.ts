import { randomUUID } from "node:crypto";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { narrowed, query, queryRow, sql } from "../../store/postgres/statement.ts";

/** The kinds of requests of a data subject (GDPR, articles 15 to 18, 20 and 21). */
export const REQUEST_KINDS = ["access", "rectification", "erasure", "restriction", "portability", "objection"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** `partly`: a hold keeps some of the data that the request asked to erase. */
export const REQUEST_OUTCOMES = ["done", "partly", "refused"] as const;
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

export interface NewRequest {
  readonly account: string;
  readonly subjectMac: Buffer;
  readonly kind: RequestKind;
  /** ISO 8601, not later than now. */
  readonly receivedAt: string;
  /** The way in which the identity of the person was verified. */
  readonly identity: string | undefined;
  readonly actor: string;
}

export interface RequestRow {
  readonly request_id: string;
  /** The name of the account; `null` after the request is closed, because the name is then deleted. */
  readonly account: string | null;
  readonly kind: RequestKind;
  readonly received_at: string;
  readonly due_at: string;
  readonly overdue: boolean;
  readonly identity: string | null;
  readonly extension_ground: string | null;
  readonly closed_at: string | null;
  readonly outcome: RequestOutcome | null;
  /** When a request that was closed in part was completed; `null` otherwise. */
  readonly completed_at: string | null;
  /** The number of events that the erasure of this request erased and that a hold still keeps. */
  readonly still_held: number;
  /**
   * Whether the request was closed in part and no hold keeps data of its erasure any more, so that it can be closed as
   * done.
   */
  readonly completable: boolean;
  readonly ground: string | null;
  readonly erasure_id: string | null;
  readonly export_id: string | null;
  /** The latest restriction that was placed for the request. */
  readonly restriction_id: string | null;
  /** Whether a restriction of the request is active. The person must be informed before the restriction is lifted. */
  readonly restriction_active: boolean;
}

const IS_OVERDUE = "closed_at is null and due_at <= transaction_time()";
const HELD_EVENT_COUNT = `(select count(*) from erasure e join held_event c on c.erased_by = e.sequence
    where e.erasure_id = data_request.erasure_id and is_held(c.account, c.action_id, c.event_id))`;
const COMPLETABLE = `(outcome is not distinct from 'partly' and not exists (select 1 from erasure e
    join held_event c on c.erased_by = e.sequence where e.erasure_id = data_request.erasure_id))`;
const FROM_RESTRICTION = "from restriction r where r.request_id = data_request.request_id";
const COLUMNS = `request_id, account, kind, ${instant("received_at")}, ${instant("due_at")}, ${IS_OVERDUE} as overdue, identity,
  extension_ground, ${instant("closed_at")}, outcome, ground, erasure_id, export_id,
  ${instant("completed_at")}, ${HELD_EVENT_COUNT} as still_held, ${COMPLETABLE} as completable,
  (select r.restriction_id ${FROM_RESTRICTION} order by r.placed_at desc limit 1) as restriction_id,
  exists (select 1 ${FROM_RESTRICTION} and r.lifted_at is null and r.erased_by is null) as restriction_active`;

/** Lets a statement that changes one request return it. The name of its rows is that of the table, for the columns. */
const returning = (change: string): string =>
  `with data_request as (${change} returning *) select ${COLUMNS} from data_request`;

const REQUEST_TYPES = {
  request_id: "uuid",
  account: "text?",
  kind: narrowed<RequestKind>("text"),
  received_at: "text",
  due_at: "text",
  overdue: "bool",
  identity: "text?",
  extension_ground: "text?",
  closed_at: "text?",
  outcome: narrowed<RequestOutcome | null>("text?"),
  ground: "text?",
  erasure_id: "uuid?",
  export_id: "uuid?",
  completed_at: "text?",
  still_held: "int8",
  completable: "bool",
  restriction_id: "uuid?",
  restriction_active: "bool",
} as const;

const ADD_REQUEST = sql(
  returning(`insert into data_request (request_id, subject_mac, account, kind, received_at, due_at, identity, recorded_by)
      values ($1, $2, $3, $4, $5, $5::timestamptz + interval '1 month', $6, $7)`),
  ["uuid", "bytea", "text", "text", "timestamptz", "text?", "text"],
  REQUEST_TYPES,
);

/** Records a request. It is due in one month (GDPR, article 12 (3)) by the calendar of UTC. */
export async function addRequest(executor: Executor, request: NewRequest): Promise<RequestRow> {
  const { account, subjectMac, kind, receivedAt, identity, actor } = request;
  return queryRow(executor, ADD_REQUEST, [
    randomUUID(),
    subjectMac,
    account,
    kind,
    receivedAt,
    identity ?? null,
    actor,
  ]);
}

const LIST_REQUESTS = sql(
  `select ${COLUMNS} from data_request where $1::bytea is null or subject_mac = $1
    order by closed_at is not null, not ${COMPLETABLE}, data_request.due_at, request_id`,
  ["bytea?"],
  REQUEST_TYPES,
);

/** Open requests come first, by due date, and then the requests that can be completed. */
export async function listRequests(executor: Executor, subjectMac?: Buffer): Promise<readonly RequestRow[]> {
  return (await query(executor, LIST_REQUESTS, [subjectMac ?? null])).rows;
}

const FIND_REQUEST = sql(`select ${COLUMNS} from data_request where request_id = $1`, ["uuid"], REQUEST_TYPES);

export async function findRequest(executor: Executor, id: string): Promise<RequestRow | undefined> {
  return (await query(executor, FIND_REQUEST, [id])).rows[0];
}

const IS_REQUESTED = sql("select 1 from data_request where subject_mac = $1 limit 1", ["bytea"]);

/** Whether a request of the account was recorded. @param subjectMac its keyed MAC. */
export async function isRequested(executor: Executor, subjectMac: Buffer): Promise<boolean> {
  return ((await query(executor, IS_REQUESTED, [subjectMac])).rowCount ?? 0) > 0;
}

const EXTEND_REQUEST = sql(
  returning(`update data_request set due_at = (select received_at + interval '3 months'), extension_ground = $2
      where request_id = $1 and closed_at is null and extension_ground is null`),
  ["uuid", "text"],
  REQUEST_TYPES,
);

/**
 * Extends a request by two further months, once. @returns `undefined` if no open request has the id, or if it is
 * extended already.
 */
export async function extendRequest(executor: Executor, id: string, ground: string): Promise<RequestRow | undefined> {
  const { rows } = await query(executor, EXTEND_REQUEST, [id, ground]);
  return rows[0];
}

export interface ClosedRequest {
  readonly outcome: RequestOutcome;
  readonly actor: string;
  readonly ground?: string | undefined;
  readonly identity?: string | undefined;
  readonly erasureId?: string | undefined;
  readonly exportId?: string | undefined;
}

const CLOSE_REQUEST = sql(
  returning(`update data_request set outcome = $2, closed_at = transaction_time(), closed_by = $3, ground = $4,
        identity = coalesce($5, identity), erasure_id = $6,
        -- guard(drop): the name of the account is deleted when a request is closed
        account = null,
        export_id = $7
      where request_id = $1 and closed_at is null`),
  ["uuid", "text", "text", "text?", "text?", "uuid?", "uuid?"],
  REQUEST_TYPES,
);

/** Closes a request, and deletes the name of its account. @returns `undefined` if no open request has the id. */
export async function closeRequest(
  executor: Executor,
  id: string,
  { outcome, actor, ground, identity, erasureId, exportId }: ClosedRequest,
): Promise<RequestRow | undefined> {
  const { rows } = await query(executor, CLOSE_REQUEST, [
    id,
    outcome,
    actor,
    ground ?? null,
    identity ?? null,
    erasureId ?? null,
    exportId ?? null,
  ]);
  return rows[0];
}

const COMPLETE_REQUEST = sql(
  returning(`update data_request set outcome = 'done', completed_at = transaction_time()
      where request_id = $1 and ${COMPLETABLE}`),
  ["uuid"],
  REQUEST_TYPES,
);

/**
 * Changes the outcome of a request that was closed in part to `done`. @returns `undefined` if no request that was
 * closed in part has the id, or if copies of held events of its erasure still exist.
 */
export async function completeRequest(executor: Executor, id: string): Promise<RequestRow | undefined> {
  const { rows } = await query(executor, COMPLETE_REQUEST, [id]);
  return rows[0];
}

export interface DataRequestCounts {
  readonly requests_open: number;
  readonly requests_overdue: number;
  /** Number of requests that were closed in part and can be closed as done. */
  readonly requests_completable: number;
}

// guard(no-rows): overdue requests are reported
const REQUEST_STATE = sql(
  `select count(*) filter (where ${IS_OVERDUE}) as requests_overdue, count(*) filter (where closed_at is null) as requests_open,
        count(*) filter (where ${COMPLETABLE}) as requests_completable
      from data_request where closed_at is null or outcome = 'partly'`,
  [],
  { requests_overdue: "int8", requests_open: "int8", requests_completable: "int8" },
);

export async function readDataRequestCounts(executor: Executor): Promise<DataRequestCounts> {
  return queryRow(executor, REQUEST_STATE);
}
