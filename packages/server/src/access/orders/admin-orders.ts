/** Orders of the admin API. A process of the admin API places an order, and a worker applies the order and ends it. */
import type { Clock } from "../../base/ports.ts";
import type { Connection, Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { FIRST_PAGE, isAfter, type KeysetPage, positionValues } from "../../store/postgres/keyset.ts";
import { narrowed, query, sql } from "../../store/postgres/statement.ts";
import type { OrderCheck, OrderRecord } from "./order-codec.ts";

/** How an order ends. `changed`: its row is not what the admin API, or the worker that checked it, signed. */
export type EndState = "done" | "failed" | "refused" | "changed";
export type OrderState = "waiting" | "running" | EndState | "expired";

export interface OrderRow {
  readonly order_id: string;
  readonly route: string;
  readonly person: string;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly state: OrderState;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly progress: string | null;
}

/** Maximum number of open orders of one person, so that their number is limited while no worker runs. */
export const MAX_OPEN = 100;

const INSERT = sql(
  `insert into admin_order (order_id, route, person, actor, via, roles, token_id, session_id, input, input_sha256,
      requested_at, expires_at, mac)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
      -- guard(true): a person has a limited number of open orders
      where (select count(*) from admin_order where person = $3 and ended_at is null) < ${MAX_OPEN}`,
  [
    "uuid",
    "text",
    "text",
    "text",
    "text",
    "text[]",
    "uuid?",
    "uuid?",
    "bytea",
    "bytea",
    "timestamptz",
    "timestamptz",
    "bytea",
  ],
);

/** @param input the sealed input. @returns `false` if the person has too many open orders. */
export async function insertOrder(
  executor: Executor,
  order: OrderRecord & { readonly input: Buffer; readonly mac: Buffer },
): Promise<boolean> {
  const { rowCount } = await query(executor, INSERT, [
    order.orderId,
    order.route,
    order.person,
    order.actor,
    order.via,
    [...order.roles],
    order.tokenId,
    order.sessionId,
    order.input,
    order.inputSha256,
    order.requestedAt,
    order.expiresAt,
    order.mac,
  ]);
  return rowCount === 1;
}

const ROW = `order_id, route, person, ${instant("requested_at")}, ${instant("expires_at")},
    case when state = 'waiting' and admin_order.expires_at <= $1 then 'expired' else state end as state,
    ${instant("started_at")}, ${instant("ended_at")}, progress`;
const COLUMNS = {
  order_id: "uuid",
  route: "text",
  person: "text",
  requested_at: "text",
  expires_at: "text",
  state: narrowed<OrderState>("text"),
  started_at: "text?",
  ended_at: "text?",
  progress: "text?",
} as const;

const LIST = sql(
  `select ${ROW} from admin_order
    where ($2::text is null or person = $2)
      and ${isAfter("admin_order.requested_at", "$3", { order_id: "$4::uuid" })}
    order by admin_order.requested_at desc, order_id limit $5::int4`,
  ["timestamptz", "text?", "timestamptz?", "uuid?", "int4"],
  COLUMNS,
);

/** Lists orders, newest first. @param person the person who placed them; `undefined` for the orders of all people. */
export async function listOrders(
  executor: Executor,
  clock: Clock,
  person: string | undefined,
  page: KeysetPage = FIRST_PAGE,
): Promise<readonly OrderRow[]> {
  const [at = null, id = null] = positionValues(page, 1);
  return (await query(executor, LIST, [nowOf(clock), person ?? null, at, id, page.limit])).rows;
}

const FIND = sql(`select ${ROW}, actor, result from admin_order where order_id = $2`, ["timestamptz", "uuid"], {
  ...COLUMNS,
  actor: "text",
  result: "bytea?",
});

export type OrderWithResult = OrderRow & {
  /** The person and the credential of the caller who placed the order. */
  readonly actor: string;
  /** The sealed result. */
  readonly result: Buffer | null;
};

export async function findAdminOrder(
  executor: Executor,
  clock: Clock,
  id: string,
): Promise<OrderWithResult | undefined> {
  return (await query(executor, FIND, [nowOf(clock), id])).rows[0];
}

/** Time in milliseconds after the end of an order in which the person can read a result that is shown once. */
export const SHOWN_WITHIN_MS = 300_000;

const TAKE_RESULT = sql(
  `update admin_order o set result = null
    from (select order_id, result from admin_order where order_id = $1 and result is not null
      -- guard(true): a result that is shown once is not shown late
      and ended_at > $2::timestamptz - interval '${SHOWN_WITHIN_MS} milliseconds'
      for update) r
    where o.order_id = r.order_id returning r.result`,
  ["uuid", "timestamptz"],
  { result: "bytea?" },
);

/** Reads and deletes a result that is shown once. @returns `null` if it was shown before, or has waited too long. */
export async function takeResult(executor: Executor, clock: Clock, orderId: string): Promise<Buffer | null> {
  return (await query(executor, TAKE_RESULT, [orderId, nowOf(clock)])).rows[0]?.result ?? null;
}

const DELETE_RESULTS = sql(
  `update admin_order set result = null where route = any ($1) and state = 'done' and result is not null
    and ended_at <= $2::timestamptz - interval '${SHOWN_WITHIN_MS} milliseconds'`,
  ["text[]", "timestamptz"],
);

/**
 * Deletes results that are shown once and that no person has read in time.
 * @param routes the routes that have such results.
 */
export async function deleteUnreadResults(executor: Executor, clock: Clock, routes: readonly string[]): Promise<void> {
  await query(executor, DELETE_RESULTS, [[...routes], nowOf(clock)]);
}

const FIND_OPEN = sql("select distinct route from admin_order where ended_at is null", [], { route: "text" });

/** Finds the routes that have orders which have not ended. */
export async function findOpenRoutes(executor: Executor): Promise<readonly string[]> {
  return (await query(executor, FIND_OPEN)).rows.map(({ route }) => route);
}

const TAKE = sql(
  `update admin_order set state = 'running', tries = tries + 1, started_at = coalesce(started_at, $2)
    where order_id = (select o.order_id from admin_order o where o.route = $1 and o.ended_at is null
      order by o.requested_at, o.order_id limit 1)
    returning order_id, route, person, actor, via, roles, token_id, session_id, input, input_sha256,
      ${instant("requested_at")}, ${instant("expires_at")}, mac, tries, ${instant("checked_at")}, check_mac`,
  ["text", "timestamptz"],
  {
    order_id: "uuid",
    route: "text",
    person: "text",
    actor: "text",
    via: "text",
    roles: "text[]",
    token_id: "uuid?",
    session_id: "uuid?",
    input: "bytea",
    input_sha256: "bytea",
    requested_at: "text",
    expires_at: "text",
    mac: "bytea",
    tries: "int4",
    checked_at: "text?",
    check_mac: "bytea?",
  },
);

export interface TakenOrder extends OrderRecord {
  /** The sealed input. */
  readonly input: Buffer;
  readonly mac: Buffer;
  /** The number of starts, including this one. */
  readonly tries: number;
  /** A worker's record that the caller may place the order. An order without this record has not taken effect. */
  readonly check: OrderCheck | undefined;
}

/**
 * Begins the oldest open order of a route, or begins it again.
 * @param session a database session that has the lock of the route.
 */
export async function takeOrder(session: Connection, clock: Clock, route: string): Promise<TakenOrder | undefined> {
  const [row] = (await query(session, TAKE, [route, nowOf(clock)])).rows;
  if (!row) return undefined;
  const { order_id, token_id, session_id, input_sha256, requested_at, expires_at, checked_at, check_mac, ...rest } =
    row;
  return {
    ...rest,
    orderId: order_id,
    tokenId: token_id,
    sessionId: session_id,
    inputSha256: input_sha256,
    requestedAt: requested_at,
    expiresAt: expires_at,
    check: checked_at !== null && check_mac ? { checkedAt: checked_at, mac: check_mac } : undefined,
  };
}

const CHECK = sql(
  `update admin_order set checked_at = $3, check_mac = $4
    where order_id = $1 and tries = $2 and ended_at is null and checked_at is null`,
  ["uuid", "int4", "timestamptz", "bytea"],
);

/** Records, before an order is applied, that its caller may place it. @returns whether this call made the record. */
export async function recordChecked(
  executor: Executor,
  { orderId, tries }: Pick<TakenOrder, "orderId" | "tries">,
  { checkedAt, mac }: OrderCheck,
): Promise<boolean> {
  return (await query(executor, CHECK, [orderId, tries, checkedAt, mac])).rowCount === 1;
}

const REPORT = sql("update admin_order set progress = $3 where order_id = $1 and tries = $2 and ended_at is null", [
  "uuid",
  "int4",
  "text",
]);

export async function reportProgress(
  executor: Executor,
  { orderId, tries }: Pick<TakenOrder, "orderId" | "tries">,
  progress: string,
): Promise<void> {
  await query(executor, REPORT, [orderId, tries, progress]);
}

const END = sql(
  `update admin_order set state = $3, ended_at = $4, result = $5, input = null
    where order_id = $1
      -- guard(true): an order that another worker has started again is ended by that worker
      and tries = $2
      and ended_at is null`,
  ["uuid", "int4", "text", "timestamptz", "bytea"],
);

export interface OrderEnd {
  readonly state: EndState;
  /** The sealed result. */
  readonly result: Buffer;
}

/** Ends an order, once. @returns whether this call ended it. */
export async function endOrder(
  executor: Executor,
  clock: Clock,
  { orderId, tries }: Pick<TakenOrder, "orderId" | "tries">,
  { state, result }: OrderEnd,
): Promise<boolean> {
  return (await query(executor, END, [orderId, tries, state, nowOf(clock), result])).rowCount === 1;
}

const DELETE_ENDED = sql("select delete_ended_orders($1)", ["interval"]);

/** Deletes orders a day after their end, because their results may name accounts. Changed orders stay for 30 days. */
export async function deleteEndedOrders(executor: Executor): Promise<void> {
  await query(executor, DELETE_ENDED, ["1 day"]);
}

const COUNT = sql(
  `select count(*) filter (where o.state = 'changed') as changed,
      count(*) filter (where o.state = 'waiting' and o.requested_at < transaction_time() - interval '1 minute'
        and not exists (select from admin_order r where r.route = o.route and r.state = 'running')) as late
    from admin_order o`,
  [],
  { changed: "int8", late: "int8" },
);

/**
 * Counts orders that an operator must examine: changed orders, and orders that have waited for more than a minute
 * although no other order of their route is running.
 */
export async function countOrders(executor: Executor): Promise<{ readonly changed: number; readonly late: number }> {
  return (await query(executor, COUNT)).rows[0] ?? { changed: 0, late: 0 };
}

const nowOf = (clock: Clock): string => new Date(clock.now()).toISOString();
