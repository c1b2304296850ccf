/** Chunks of backfills as workers claim, split, compute and balance them. */
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { narrowed, query, type RowOf, sql } from "../store/postgres/statement.ts";
import { type DueEvent, hasCome, hasExpired, NOW, retryAt, waitSeconds } from "./extraction-due.ts";

/** Maximum number of events of a chunk. */
const CHUNK_SIZE = 5_000;
/** Maximum number of times that a chunk is computed if its balance misses rows. */
const MAX_ROUNDS = 3;

const RUN_TYPES = { run_id: "uuid", purpose: "int4", layers: "int4[]", rate: "int4?" } as const;
export type RunningBackfill = RowOf<typeof RUN_TYPES>;

const LIST_RUNNING = sql(
  `select run_id, purpose, layers, rate from feature_run where state = 'running' and ${hasCome("next_at")}
    order by started_at, run_id`,
  [],
  RUN_TYPES,
);

/** Runs that may continue now, oldest first. */
export async function listRunning(executor: Executor): Promise<readonly RunningBackfill[]> {
  return (await query(executor, LIST_RUNNING)).rows;
}

const CHARGE = sql(
  `update feature_run set next_at = (select make_interval(secs => $2) + case when ${hasCome("next_at")}
      then greatest(least(next_at, ${NOW}), ${NOW} - interval '1 second') else next_at end)
    where run_id = $1`,
  ["uuid", "float8"],
);

/**
 * If the run has a rate, delays its next piece by the time that the computed events take at this rate. The delays of
 * workers that compute at the same time add up.
 */
export async function charge(
  transaction: Transaction,
  { run_id, rate }: RunningBackfill,
  events: number,
): Promise<void> {
  if (rate !== null && events > 0) await query(transaction, CHARGE, [run_id, events / rate]);
}

const CHUNK_TYPES = {
  chunk_id: "int8",
  events: "int4",
  step: narrowed<"split" | "compute" | "balance">("text"),
  tries: "int4",
  rounds: "int4",
  from_at: "timestamptz",
  from_event: "uuid",
  to_at: "timestamptz",
  to_event: "uuid",
  at_time: "timestamptz",
  at_event: "uuid",
} as const;
export type Chunk = RowOf<typeof CHUNK_TYPES>;

const CLAIM = sql(
  `select chunk_id, events, step, tries, rounds, from_at, from_event, to_at, to_event, at_time, at_event
    from feature_chunk c where run_id = $1 and step <> 'done' and ${hasCome("not_before")}
      and exists (select 1 from feature_run r where r.run_id = c.run_id and r.state = 'running')
    order by array_position(array['split', 'compute', 'balance'], step), chunk_id limit 1 for update skip locked`,
  ["uuid"],
  CHUNK_TYPES,
);

/** Claims a chunk until the end of the transaction; other workers skip it. */
export async function claimChunk(transaction: Transaction, runId: string): Promise<Chunk | undefined> {
  return (await query(transaction, CLAIM, [runId])).rows[0];
}

/** The events of the chunk: `$3`, `$4` are its start and `$5`, `$6` its end. */
const within = (event: string, purpose = "purpose"): string =>
  `${event}.${purpose} = $2 and ${event}.received_at >= $3 and ${event}.received_at <= $5
    and (${event}.received_at, ${event}.event_id) > ($3, $4) and (${event}.received_at, ${event}.event_id) <= ($5, $6)`;
const BOUNDS = ["int8", "int4", "timestamptz", "uuid", "timestamptz", "uuid"] as const;

const SPLIT_OFF = sql(
  `with last as (select e.received_at, e.event_id from event e where ${within("e")}
      order by e.received_at, e.event_id offset ${CHUNK_SIZE - 1} limit 1),
    made as (insert into feature_chunk (run_id, step, from_at, from_event, to_at, to_event, at_time, at_event, events)
      select c.run_id, 'compute', c.from_at, c.from_event, l.received_at, l.event_id, c.from_at, c.from_event, ${CHUNK_SIZE}
        from feature_chunk c, last l where c.chunk_id = $1)
    update feature_chunk set from_at = l.received_at, from_event = l.event_id, at_time = l.received_at, at_event = l.event_id
      from last l where chunk_id = $1`,
  BOUNDS,
);
const END_SPLIT = sql(
  `update feature_chunk set step = 'compute', events = (select count(*) from event e where ${within("e")})
    where chunk_id = $1`,
  BOUNDS,
);

/**
 * Moves the first 5,000 events to a new chunk, which is then computed; this chunk keeps the rest, and is split again
 * later. A chunk with fewer events is computed as it is.
 */
export async function splitChunk(transaction: Transaction, { purpose }: RunningBackfill, chunk: Chunk): Promise<void> {
  const { chunk_id, from_at, from_event, to_at, to_event } = chunk;
  const values = [chunk_id, purpose, from_at, from_event, to_at, to_event] as const;
  const { rowCount } = await query(transaction, SPLIT_OFF, values);
  if (rowCount === 0) await query(transaction, END_SPLIT, values);
}

/** The layers of the run in which the event gets a row. */
const LAYERS_OF_EVENT = "from layer l where l.layer = any ($1) and (l.ended_at is null or e.received_at < l.ended_at)";
const ROWS = `feature_row f where f.account = e.account and f.purpose = $2 and f.received_at = e.received_at
  and f.event_id = e.event_id and f.received_at >= $3 and f.received_at <= $5`;
/** Whether rows of the event, in this layer or in others, have the features of the layer. */
const IS_STORED = `(exists (select 1 from ${ROWS} and f.layer = l.layer) or l.members <@ array(
  select unnest(o.members) from layer o where o.layer in (select f.layer from ${ROWS})))`;

const FIND_EVENTS = sql(
  `select e.event_id, e.purpose, (extract(epoch from e.received_at) * 1000)::float8 as received_ms,
      e.received_at
    from unrestricted_event e where ${within("e", "partition_purpose")}
      -- guard(true): nothing is computed of what only a hold keeps
      and not ${hasExpired("e.received_at", "(select p.raw_retention from purpose p where p.code = e.purpose)")}
      -- guard(true): values that would have expired are not computed
      and not ${hasExpired("e.received_at", "(select p.derived_retention from purpose p where p.code = e.purpose)")}
      -- guard(true): what is stored is not computed again
      and exists (select 1 ${LAYERS_OF_EVENT} and (not ${IS_STORED} or exists (select 1 from extraction_failure x
        where x.event_id = e.event_id and x.layer = l.layer and x.reason = 'time-limit')))
    order by e.received_at, e.event_id limit $7`,
  ["int4[]", "int4", "timestamptz", "uuid", "timestamptz", "uuid", "int8"],
  { event_id: "uuid", purpose: "int4", received_ms: "float8", received_at: "timestamptz" },
);

export interface PieceEvent extends DueEvent {
  /** When it was received, to the microsecond. */
  readonly at: string;
}

/** Finds the next events of the chunk that lack a row, or a feature of their row. Restricted, erased and expired events are left out. */
export async function findPiece(
  transaction: Transaction,
  { purpose, layers }: RunningBackfill,
  { at_time, at_event, to_at, to_event }: Chunk,
  limit: number,
): Promise<readonly PieceEvent[]> {
  const { rows } = await query(transaction, FIND_EVENTS, [layers, purpose, at_time, at_event, to_at, to_event, limit]);
  return rows.map(({ event_id, received_ms, received_at, purpose: eventPurpose }) => ({
    eventId: event_id,
    purpose: eventPurpose,
    receivedAt: received_ms,
    at: received_at,
  }));
}

const ADVANCE = sql(
  `update feature_chunk set at_time = coalesce($2, at_time), at_event = coalesce($3, at_event), computed = computed + $4,
      tries = greatest(tries - 1, 0), step = case when $5 then 'balance' else step end where chunk_id = $1`,
  ["int8", "timestamptz?", "uuid?", "int4", "bool"],
);

/**
 * Records the computed events of the chunk. After a failure, the size of its pieces grows again step by step.
 * @param isLast whether no event of the chunk is left.
 */
export async function advanceChunk(
  transaction: Transaction,
  { chunk_id }: Chunk,
  events: readonly PieceEvent[],
  isLast: boolean,
): Promise<void> {
  const last = events.at(-1);
  await query(transaction, ADVANCE, [chunk_id, last?.at ?? null, last?.eventId ?? null, events.length, isLast]);
}

const POSTPONE = sql(
  `update feature_chunk set tries = tries + 1,
      not_before = ${retryAt("$2")} where chunk_id = $1`,
  ["int8", "float8"],
);

/** Counts a failure. The time until a worker may claim the chunk again doubles with each failure. */
export async function postponeChunk(executor: Executor, { chunk_id }: Chunk, seconds: number): Promise<void> {
  await query(executor, POSTPONE, [chunk_id, seconds]);
}

const DELAY = sql(
  `update feature_chunk set not_before = ${NOW} + make_interval(secs => ${waitSeconds("$2::float8")})
    where chunk_id = $1`,
  ["int8", "float8"],
);

/** Lets workers claim the chunk again later. The delay counts as no failure. */
export async function delayChunk(executor: Executor, { chunk_id }: Chunk, seconds: number): Promise<void> {
  await query(executor, DELAY, [chunk_id, seconds]);
}

/** What becomes of an event in a layer. */
const FATES = ["stored", "erased", "expired", "restricted", "unreadable", "failed", "missing"] as const;
/** The numbers of events in a layer: `live` is the sum of the fates. */
export const BALANCE = ["live", ...FATES, "deleted"] as const;

const COUNT = sql(
  `select l.layer, count(fate) as live, ${FATES.map((fate) => `count(*) filter (where fate = '${fate}') as ${fate}`).join(", ")},
      -- If events were stored after the split, this is less than the number of deleted events.
      greatest($7::int8 - (select count(*) from event e where ${within("e")}), 0) as deleted
    from unnest($1::int4[]) as l (layer) left join (select l.layer, case when ${IS_STORED} then 'stored'
          when k.key_id is null or k.erased_by is not null then 'erased'
          when ${hasExpired("e.received_at", "u.raw_retention")}
            or ${hasExpired("e.received_at", "u.derived_retention")} then 'expired'
          when k.restricted then 'restricted'
          when x.reason is null then 'missing' when x.reason = 'unreadable' then 'unreadable' else 'failed' end as fate
        from event e cross join lateral (select l.layer, l.members ${LAYERS_OF_EVENT}) l join purpose u on u.code = e.purpose
          left join account_key k on k.key_id = e.key_id
          left join extraction_failure x on x.event_id = e.event_id and x.layer = l.layer
        where ${within("e")}) counted on counted.layer = l.layer
    group by l.layer order by l.layer`,
  ["int4[]", "int4", "timestamptz", "uuid", "timestamptz", "uuid", "int8"],
  {
    layer: "int4",
    live: "int8",
    stored: "int8",
    erased: "int8",
    expired: "int8",
    restricted: "int8",
    unreadable: "int8",
    failed: "int8",
    missing: "int8",
    deleted: "int8",
  },
);
const SET_BALANCE = sql("update feature_chunk set balance = $2, step = 'done' where chunk_id = $1", ["int8", "jsonb"]);
const COMPUTE_AGAIN = sql(
  `update feature_chunk set step = 'compute', rounds = rounds + 1, at_time = from_at, at_event = from_event, computed = 0
    where chunk_id = $1`,
  ["int8"],
);

/** Counts the result of each event in each layer. A chunk that misses rows is computed again before it ends. */
export async function balanceChunk(
  transaction: Transaction,
  { purpose, layers }: RunningBackfill,
  { chunk_id, events, rounds, from_at, from_event, to_at, to_event }: Chunk,
): Promise<void> {
  const values = [layers, purpose, from_at, from_event, to_at, to_event, events] as const;
  const { rows } = await query(transaction, COUNT, values);
  // guard(false): what was stored late is computed, too
  if (rows.some(({ missing }) => missing > 0) && rounds + 1 < MAX_ROUNDS) {
    return void (await query(transaction, COMPUTE_AGAIN, [chunk_id]));
  }
  await query(transaction, SET_BALANCE, [chunk_id, JSON.stringify(rows)]);
}

const FINISH = sql(
  `update feature_run r set state = 'done', ended_at = ${NOW} where state = 'running'
    and not exists (select 1 from feature_chunk c where c.run_id = r.run_id and c.step <> 'done')`,
);

/** Ends the runs whose chunks are all balanced. */
export async function finishRuns(executor: Executor): Promise<void> {
  await query(executor, FINISH);
}
