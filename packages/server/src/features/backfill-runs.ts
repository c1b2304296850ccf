/** Starts, lists, pauses, resumes and cancels backfills. */
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { narrowed, query, type RowOf, sql } from "../store/postgres/statement.ts";
import { readReceivedEnd } from "./received-end.ts";
import { BALANCE } from "./backfill-chunks.ts";
import { listLayers } from "./decisions.ts";

export interface BackfillOrder {
  readonly runId: string;
  readonly purpose: { readonly code: number; readonly id: string };
  /** The layer to compute. Default: all active layers of the purpose. */
  readonly layer?: number;
  /** Limits the run to events that were received at or after `from` and before `to`, both in RFC 3339. */
  readonly from?: string;
  readonly to?: string;
  /** Maximum number of events per second. */
  readonly rate?: number;
  readonly actor: string;
  readonly reason: string;
}

const INSERT_RUN = sql(
  `insert into feature_run (run_id, purpose, layers, from_at, to_at, rate, started_by, reason)
    select $1, $2, $3, from_at, to_at, $6, $7, $8
      from (select coalesce($4, 'epoch'::timestamptz) as from_at,
        least(coalesce($5, 'infinity'::timestamptz), $9) as to_at) span where from_at < to_at`,
  ["uuid", "int4", "int4[]", "timestamptz?", "timestamptz?", "int4?", "text", "text", "timestamptz"],
);
const NO_EVENT = "00000000-0000-0000-0000-000000000000";
const INSERT_CHUNKS = sql(
  `with part as materialized (select r.run_id, greatest(r.from_at, p.lower_bound) as from_at, least(r.to_at, p.upper_bound) as to_at
      from feature_run r join event_partition p on p.purpose = r.purpose and p.dropped_at is null
        and p.lower_bound < r.to_at and p.upper_bound > r.from_at
      where r.run_id = $1)
    insert into feature_chunk (run_id, from_at, from_event, to_at, to_event, at_time, at_event)
      select run_id, from_at, $2, to_at, $2, from_at, $2 from part`,
  ["uuid", "uuid"],
);

/** Orders a backfill, which workers compute. @returns its layers. @throws not-found, input-invalid */
export async function startBackfill(transaction: Transaction, order: BackfillOrder): Promise<readonly number[]> {
  const { runId, purpose, layer: onlyLayer, from = null, to = null, rate = null, actor, reason } = order;
  const active = (await listLayers(transaction)).filter(
    (layer) => layer.ended_at === null && layer.purpose === purpose.code,
  );
  const layers = active.map(({ layer }) => layer).filter((layer) => onlyLayer === undefined || layer === onlyLayer);
  if (layers.length === 0) {
    const which = onlyLayer === undefined ? "an active layer" : `the active layer ${onlyLayer}`;
    throw new OperatorError("not-found", `${purpose.id} does not have ${which}: see drs feature layers.`);
  }
  const { rowCount } = await query(transaction, INSERT_RUN, [
    runId,
    purpose.code,
    layers,
    from,
    to,
    rate,
    actor,
    reason,
    await readReceivedEnd(transaction, purpose.code),
  ]);
  if (rowCount === 0) throw new OperatorError("input-invalid", "The range ends before it begins, or is in the future.");
  await query(transaction, INSERT_CHUNKS, [runId, NO_EVENT]);
  return layers;
}

export type BackfillState = "running" | "paused" | "cancelled" | "done";

const CHANGE = sql(
  `update feature_run set state = $2, ended_at = case when $2 = 'cancelled' then (select wall_clock_time()) end
    where run_id = $1 and state = any ($3::text[])`,
  ["uuid", "text", "text[]"],
);
/** For each new state, the states from which a run may change into it. */
const BEFORE = { paused: ["running"], running: ["paused"], cancelled: ["running", "paused"] } as const;

/** Pauses, resumes or cancels a run. Events that are being computed are stored. @throws not-found, state-conflict */
export async function changeBackfill(
  transaction: Transaction,
  runId: string,
  state: keyof typeof BEFORE,
): Promise<void> {
  if ((await query(transaction, CHANGE, [runId, state, BEFORE[state]])).rowCount === 1) return;
  const [run] = await listBackfills(transaction, 1, runId);
  if (!run) throw new OperatorError("not-found", `There is no backfill ${runId}.`);
  throw new OperatorError("state-conflict", `The backfill is ${run.state}, and can't be ${state} now.`);
}

const RUN_TYPES = {
  run_id: "uuid",
  purpose: "text",
  layers: "int4[]",
  from: "text",
  to: "text",
  rate: "int4?",
  state: narrowed<BackfillState>("text"),
  started_at: "text",
  started_by: "text",
  reason: "text",
  ended_at: "text?",
  events: "int8",
  computed: "int8",
  remaining_seconds: "float8?",
  balances: narrowed<readonly (Balance & { readonly layer: number })[]>("jsonb"),
} as const;
type Balance = Readonly<Record<(typeof BALANCE)[number], number>>;

/** `balance` has the sums of `balances`. */
export type BackfillRow = RowOf<typeof RUN_TYPES> & { readonly balance: Balance };

/** SQL that joins the progress of a row `r` of `feature_run`. The number of events is known when all chunks are split. */
export const PROGRESS = `cross join lateral (select coalesce(sum(c.events), 0)::int8 as events,
    coalesce(sum(case when step in ('balance', 'done') then c.events else least(c.computed, c.events) end), 0)::int8
      as computed,
    bool_and(step <> 'split') as is_split
  from feature_chunk c where c.run_id = r.run_id) c`;

const LIST_RUNS = sql(
  `select run_id, p.id as purpose, layers, ${instant("from_at", '"from"')}, ${instant("to_at", '"to"')}, rate, state,
      ${instant("started_at")}, started_by, r.reason, ${instant("ended_at")}, events, computed,
      case when state in ('done', 'cancelled') then 0
        when computed > 0 and is_split then extract(epoch from wall_clock_time() - started_at) / computed * (events - computed)
      end::float8 as remaining_seconds, balances
    from (select * from feature_run where $1::uuid is null or run_id = $1 order by started_at desc, run_id limit $2) r
      join purpose p on p.code = r.purpose
      ${PROGRESS}
      cross join lateral (select jsonb_agg(b order by b.layer) as balances from (
          select l.layer, ${BALANCE.map((name) => `coalesce(sum(b.${name}), 0)::int8 as ${name}`).join(", ")}
            from unnest(layers) as l (layer) left join (feature_chunk c cross join lateral jsonb_to_recordset(c.balance)
                as b (layer integer, ${BALANCE.map((name) => `${name} bigint`).join(", ")}))
              on c.run_id = r.run_id and b.layer = l.layer
            group by l.layer) b) b
    order by started_at desc, run_id`,
  ["uuid?", "int8"],
  RUN_TYPES,
);

/**
 * Runs, newest first, with their progress and the balance of each layer. `remaining_seconds` is null while it is not known.
 * @param runId if it is given, lists only this run.
 */
export async function listBackfills(
  executor: Executor,
  limit: number,
  runId?: string,
): Promise<readonly BackfillRow[]> {
  const { rows } = await query(executor, LIST_RUNS, [runId ?? null, limit]);
  return rows.map(({ balances, ...row }) => ({
    ...row,
    balance: sumOf(balances),
    // PostgreSQL orders the members of JSON by their lengths.
    balances: balances.map(({ layer, ...of }) => ({ layer, ...sumOf([of]) })),
  }));
}

const sumOf = (balances: readonly Balance[]): Balance =>
  Object.fromEntries(BALANCE.map((name) => [name, balances.reduce((sum, of) => sum + of[name], 0)])) as Balance;
