import { randomUUID } from "node:crypto";
import { inTransactionOn } from "../../store/postgres/database.ts";
import type { Connection, Executor, Transaction } from "../../store/postgres/executor.ts";
import {
  PARTITION_COLUMNS,
  PARTITION_TYPES,
  partitionQuery,
  queryPartitions,
} from "../../store/events/partition-slices.ts";
import { instant } from "../../store/postgres/instant.ts";
import { query, queryRow, sql } from "../../store/postgres/statement.ts";

/**
 * The counts of a pass. `copies` are deleted copies of events that no hold covers any more; `features` are deleted rows
 * of feature values.
 */
export const COUNTS = ["partitions", "rows", "bytes", "secrets", "keys", "copies", "features"] as const;
export type Counts = Readonly<Record<(typeof COUNTS)[number], number>>;

export interface Expired extends Counts {
  /** Number of rows that were deleted singly, because other rows still need their secrets. */
  readonly deleted: number;
  /**
   * Number of events of which a hold keeps copies, although their partitions were dropped. `rows` does not count them.
   */
  readonly held: number;
  /** Ids of partitions and holds whose secrets are destroyed. */
  readonly destroyed_keys: readonly string[];
}

/** The content of a receipt of a pass. */
export interface RunStatement extends Expired {
  readonly run_id: string;
  readonly started_at: string;
  readonly actor: string;
}

interface Run {
  readonly actor: string;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** Whether to record the pass even if it has deleted nothing. */
  readonly always: boolean;
}

const RECORD_RUN = sql(
  `insert into retention_run (run_id, started_at, finished_at, actor, partitions, rows, bytes, secrets, keys, copies, features, receipt)
        values ($1, $2, wall_clock_time(), $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
  ["uuid", "timestamptz", "text", "int4", "int8", "int8", "int4", "int8", "int8", "int8", "text"],
);

/**
 * Signs a receipt for the effects that the database recorded and that no receipt has yet, including those of a killed
 * pass, and records the pass in the same transaction.
 *
 * @param attest signs the receipt.
 * @returns the effects.
 */
export function recordRun(
  connection: Connection,
  attest: (statement: RunStatement) => Promise<string>,
  { actor, startedAt, always }: Run,
): Promise<Expired> {
  return inTransactionOn(connection, async (transaction) => {
    const expired = await takeRetentionEffects(transaction);
    if (!always && COUNTS.every((what) => expired[what] === 0)) return expired;
    const run = { run_id: randomUUID(), started_at: new Date(startedAt).toISOString(), actor };
    const receipt = await attest({ ...expired, ...run });
    const { partitions, rows, bytes, secrets, keys, copies, features } = expired;
    await query(transaction, RECORD_RUN, [
      run.run_id,
      run.started_at,
      actor,
      partitions,
      rows,
      bytes,
      secrets,
      keys,
      copies,
      features,
      receipt,
    ]);
    return expired;
  });
}

const SUMS = ["partitions", "rows", "bytes", "deleted", "held", "copies", "keys", "features"]
  .map((what) => `coalesce(sum(${what}), 0)::int8 as ${what}`)
  .join(", ");

const TAKE_RETENTION_EFFECTS = sql(
  `select ${SUMS}, count(secret_of) as secrets,
        coalesce(array_agg(secret_of::text order by effect_id) filter (where secret_of is not null), '{}') as destroyed_keys
      from take_retention_effects()`,
  [],
  {
    partitions: "int8",
    rows: "int8",
    bytes: "int8",
    deleted: "int8",
    held: "int8",
    copies: "int8",
    keys: "int8",
    features: "int8",
    secrets: "int8",
    destroyed_keys: "text[]",
  },
);

async function takeRetentionEffects(transaction: Transaction): Promise<Expired> {
  return queryRow(transaction, TAKE_RETENTION_EFFECTS);
}

export interface RunRow extends Counts {
  readonly run_id: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly actor: string;
}

const LIST_RUNS = sql(
  `select run_id, ${instant("started_at")}, ${instant("finished_at")}, actor, partitions, rows, bytes, secrets, keys, copies,
      features
    from retention_run order by retention_run.started_at desc limit $1`,
  ["int8"],
  {
    run_id: "uuid",
    started_at: "text",
    finished_at: "text",
    actor: "text",
    partitions: "int4",
    rows: "int8",
    bytes: "int8",
    secrets: "int4",
    keys: "int8",
    copies: "int8",
    features: "int8",
  },
);

export async function listRuns(executor: Executor, limit: number): Promise<readonly RunRow[]> {
  return (await query(executor, LIST_RUNS, [limit])).rows;
}

export interface RetentionState {
  /** Number of expired partitions of events and feature values that are not dropped. */
  readonly overdue_partitions: number;
  /** Time in seconds since the oldest of these partitions expired; 0 if there are none. */
  readonly lag_seconds: number;
  /** Number of dropped partitions whose secret is not destroyed. */
  readonly secrets_to_destroy: number;
  readonly last_run_at: string | null;
}

const COUNT_OVERDUE = partitionQuery(
  [],
  { overdue: "int8" },
  (within) => `select count(*) as overdue from event e join purpose u on u.code = e.purpose where ${within("e")}
      and e.received_at <= transaction_time() - u.raw_retention
      and not is_account_key_erased(e.key_id) and not is_held(e.account, e.action_id, e.event_id)`,
);
const LIST_PARTLY_EXPIRED = sql(`select ${PARTITION_COLUMNS} from partly_expired_partition p`, [], PARTITION_TYPES);

/**
 * Counts expired events that no hold covers, and that are deleted row by row because their partition has not expired as
 * a whole.
 */
export async function countOverdueRows(executor: Executor): Promise<number> {
  const { rows: partitions } = await query(executor, LIST_PARTLY_EXPIRED);
  const counts = queryPartitions(executor, COUNT_OVERDUE, partitions, []);
  let total = 0;
  for await (const { overdue } of counts) total += overdue;
  return total;
}

const RETENTION_STATE = sql(
  `select count(*) filter (where dropped_at is null) as overdue_partitions,
        coalesce(extract(epoch from max(transaction_time() - expired_at) filter (where dropped_at is null)), 0)::float8 as lag_seconds,
        count(*) filter (where dropped_at is not null) as secrets_to_destroy,
        (select ${instant("max(started_at)", "at")} from retention_run) as last_run_at
      from (select p.dropped_at, p.secret_destroyed_at, p.upper_bound + u.raw_retention as expired_at
          from event_partition p join purpose u on u.code = p.purpose
        union all
        select p.dropped_at, p.secret_destroyed_at, p.upper_bound + u.derived_retention
          from feature_partition p join purpose u on u.code = p.purpose) every
      where (dropped_at is null and expired_at <= transaction_time())
        or (dropped_at is not null and secret_destroyed_at is null)`,
  [],
  { overdue_partitions: "int8", lag_seconds: "float8", secrets_to_destroy: "int8", last_run_at: "text?" },
);

export async function readRetentionState(executor: Executor): Promise<RetentionState> {
  return queryRow(executor, RETENTION_STATE);
}

const FIND_RUN_RECEIPT = sql("select receipt from retention_run where run_id = $1 and receipt is not null", ["uuid"], {
  receipt: "text",
});

/** Finds the receipt of a retention pass. */
export async function findRunReceipt(executor: Executor, runId: string): Promise<string | undefined> {
  return (await query(executor, FIND_RUN_RECEIPT, [runId])).rows[0]?.receipt;
}
