/** The events whose features are due, one row for each commit batch. */
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { query, queryRow, sql } from "../store/postgres/statement.ts";

/** An event, without its account. */
export interface DueEvent {
  readonly eventId: string;
  readonly purpose: number;
  /** Milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

export interface DueBatch {
  readonly dueIds: readonly number[];
  /** How often the batch failed before. */
  readonly tries: number;
  readonly events: readonly DueEvent[];
}

/** The time, once for a statement. */
export const NOW = "(select wall_clock_time())";

/** An expression: when something that failed is tried again. The wait doubles with each failure, up to a minute. */
export const retryAt = (seconds: string): string =>
  `(select ${NOW} + make_interval(secs => least(power(2, least(tries, 10)) * ${seconds}, 60)))`;

/**
 * A condition: whether the time until which something waits has come. No wait is as long as five minutes, so a time that
 * is farther away shows that the clock was set back.
 */
export const hasCome = (time: string): string => `(${time} <= ${NOW} or ${time} > ${NOW} + interval '5 minutes')`;

/** A condition: whether what was received at a time has expired. It never expires if `retention` is null. */
export const hasExpired = (receivedAt: string, retention: string): string =>
  `coalesce(${receivedAt} + ${retention} <= wall_clock_time(), false)`;

/** Maximum number of rows that one transaction claims. */
const MAX_ROWS = 16;

/** An event whose values would have expired is left out: there is no partition for them. */
const COLUMNS = `due_id, tries, purposes, event_ids::text[] as event_ids,
  array(select ${hasExpired("r.at", "p.derived_retention")}
    from unnest(received_at, purposes) with ordinality r (at, purpose, place) left join purpose p on p.code = r.purpose
    order by place) as expired,
  array(select (extract(epoch from at) * 1000)::float8 from unnest(received_at) with ordinality r (at, place)
    order by place) as received_ms`;
const TYPES = {
  due_id: "int8",
  tries: "int4",
  purposes: "int4[]",
  event_ids: "text[]",
  received_ms: "float8[]",
  expired: "bool[]",
} as const;
const CLAIM = sql(
  `select ${COLUMNS} from extraction_due where tries = 0 order by due_id limit ${MAX_ROWS} for update skip locked`,
  [],
  TYPES,
);
const CLAIM_FAILED = sql(
  `select ${COLUMNS} from extraction_due where tries > 0 and ${hasCome("not_before")}
    order by not_before limit 1 for update skip locked`,
  [],
  TYPES,
);

/**
 * Claims rows until the end of the transaction; other workers skip them. A row that failed before is claimed alone, so
 * that no other row waits for it.
 */
export async function claimDue(transaction: Transaction): Promise<DueBatch | undefined> {
  const fresh = (await query(transaction, CLAIM)).rows;
  const rows = fresh.length > 0 ? fresh : (await query(transaction, CLAIM_FAILED)).rows;
  if (rows.length === 0) return undefined;
  return {
    dueIds: rows.map(({ due_id }) => due_id),
    tries: rows[0]?.tries ?? 0,
    events: rows.flatMap(({ event_ids, purposes, received_ms, expired }) =>
      event_ids.flatMap((eventId, at) => {
        // guard(false): an event without a partition for its values does not delay other events
        if (expired[at]) return [];
        return [{ eventId, purpose: purposes[at] ?? 0, receivedAt: received_ms[at] ?? 0 }];
      }),
    ),
  };
}

const IS_WORK_WAITING = sql(
  `select exists (select 1 from extraction_due where tries = 0 or ${hasCome("not_before")})
    or exists (select 1 from feature_run where state = 'running' and ${hasCome("next_at")}) as is_waiting`,
  [],
  { is_waiting: "bool" },
);

/** Whether something is due, or a backfill runs. */
export async function isWorkWaiting(executor: Executor): Promise<boolean> {
  return (await queryRow(executor, IS_WORK_WAITING)).is_waiting;
}

const DELETE = sql("delete from extraction_due where due_id = any ($1::int8[]) and not event_ids && $2::uuid[]", [
  "int8[]",
  "uuid[]",
]);
const KEEP = sql(
  `update extraction_due d set (purposes, received_at, event_ids) = (
      select array_agg(purpose order by place), array_agg(at order by place), array_agg(id order by place)
        from unnest(d.purposes, d.received_at, d.event_ids) with ordinality r (purpose, at, id, place)
        where id = any ($2))
    where due_id = any ($1::int8[]) and event_ids && $2::uuid[]`,
  ["int8[]", "uuid[]"],
);

/** @param rest events of the batch that are still due. */
export async function deleteDue(
  transaction: Transaction,
  { dueIds }: DueBatch,
  rest: readonly DueEvent[] = [],
): Promise<void> {
  const kept = rest.map(({ eventId }) => eventId);
  await query(transaction, DELETE, [dueIds, kept]);
  if (kept.length > 0) await query(transaction, KEEP, [dueIds, kept]);
}

const POSTPONE = sql(
  `update extraction_due set tries = tries + 1,
      not_before = ${retryAt("$2")}
    where due_id = any ($1::int8[])`,
  ["int8[]", "float8"],
);

/** Counts a failure. Workers claim the rows again, one by one, after a time that doubles with each failure. */
export async function postponeDue(executor: Executor, { dueIds }: DueBatch, seconds: number): Promise<void> {
  await query(executor, POSTPONE, [dueIds, seconds]);
}

/**
 * An expression: the seconds for which something waits that needs an operator or the machine.
 * @param seconds the first delay after a failure.
 */
export const waitSeconds = (seconds: string): string => `least(30 * ${seconds}, 60)`;

const DELAY = sql(
  `update extraction_due set tries = greatest(tries, 1),
      not_before = ${NOW} + make_interval(secs => ${waitSeconds("$2::float8")})
    where due_id = any ($1::int8[]) and event_ids && $3::uuid[]`,
  ["int8[]", "float8", "uuid[]"],
);

/** Lets workers claim the rows of waiting events again later, one by one. The delay counts as no failure. */
export async function delayDue(
  executor: Executor,
  { dueIds }: DueBatch,
  waiting: readonly string[],
  seconds: number,
): Promise<void> {
  await query(executor, DELAY, [dueIds, seconds, waiting]);
}

export interface DueState {
  readonly batches: number;
  /** Seconds since the oldest of them was stored. */
  readonly lag_seconds: number;
}

const STATE = sql(
  `select count(*) as batches,
      coalesce(extract(epoch from transaction_time() - min(stored_at)), 0)::float8 as lag_seconds from extraction_due`,
  [],
  { batches: "int8", lag_seconds: "float8" },
);

export async function readDueState(executor: Executor): Promise<DueState> {
  return (await query(executor, STATE)).rows[0] ?? { batches: 0, lag_seconds: 0 };
}

const FIND = sql(
  `select distinct id as event_id from extraction_due cross join unnest(event_ids) id
    where event_ids && $1::uuid[] and id = any ($1)`,
  ["uuid[]"],
  { event_id: "uuid" },
);

/** Finds which of these events are due. */
export async function findDue(executor: Executor, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set((await query(executor, FIND, [eventIds])).rows.map(({ event_id }) => event_id));
}
