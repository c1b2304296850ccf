import { randomUUID } from "node:crypto";
import { type AttestPorts, attestExpiry } from "../receipts/attest.ts";
import type { Executor } from "../store/database.ts";
import { type Partition, PARTITION_COLUMNS, queryPartitions } from "../store/partition-slices.ts";
import type { Counts, Expired } from "./expiry.ts";
import { instant } from "../store/instant.ts";

/** A pass that let go of something, or that a person asked for. */
export async function recordRun(
  executor: Executor,
  attest: AttestPorts,
  run: Expired & { readonly actor: string; readonly startedAt: number },
): Promise<void> {
  const { startedAt, ...told } = run;
  const started_at = new Date(startedAt).toISOString();
  const run_id = randomUUID();
  const receipt = await attestExpiry(attest, { ...told, run_id, started_at });
  await executor.query(
    `insert into retention_run (run_id, started_at, finished_at, actor, partitions, rows, bytes, secrets, keys, copies, receipt)
      values ($1, $2, clock_timestamp(), $3, $4, $5, $6, $7, $8, $9, $10)`,
    [run_id, started_at, run.actor, run.partitions, run.rows, run.bytes, run.secrets, run.keys, run.copies, receipt],
  );
}

/** Adds what a pass dropped that was killed before it was recorded: it has no receipt yet. */
export async function addUnrecorded(executor: Executor, expired: Expired): Promise<void> {
  const { rows } = await executor.query<Pick<Expired, "partitions" | "rows" | "bytes">>(
    `select count(*) as partitions, coalesce(sum(dropped_rows), 0)::int8 as rows, coalesce(sum(dropped_bytes), 0)::int8 as bytes
      from event_partition where dropped_at > coalesce(
        (select finished_at from retention_run order by started_at desc limit 1), '-infinity')`,
  );
  const [found] = rows;
  expired.partitions += found?.partitions ?? 0;
  expired.rows += found?.rows ?? 0;
  expired.bytes += found?.bytes ?? 0;
}

export interface RunRow extends Counts {
  readonly run_id: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly actor: string;
}

export async function listRuns(executor: Executor, limit: number): Promise<readonly RunRow[]> {
  const text = `select run_id, ${instant("started_at")}, ${instant("finished_at")}, actor, partitions, rows, bytes, secrets, keys, copies
    from retention_run order by retention_run.started_at desc limit $1`;
  return (await executor.query<RunRow>(text, [limit])).rows;
}

export interface RetentionState {
  /** Partitions that are past their period and not dropped. */
  readonly overdue_partitions: number;
  /** How long the oldest of them has been past it. */
  readonly lag_seconds: number;
  /** Dropped partitions whose secret is not destroyed. */
  readonly secrets_to_destroy: number;
  readonly last_run_at: string | null;
}

/** Expired events that no hold covers, in partitions that are too long to wait for: they go row by row. */
export async function overdueRows(executor: Executor): Promise<number> {
  const { rows: partitions } = await executor.query<Partition>(
    `select ${PARTITION_COLUMNS} from partly_expired_partition p`,
  );
  const counts = queryPartitions<{ overdue: number }>(
    executor,
    partitions,
    [],
    (within) => `select count(*) as overdue from event e join purpose u on u.code = e.purpose where ${within("e")}
      and e.received_at <= now() - u.raw_retention
      and not is_erased(e.key_id) and not is_held(e.account, e.action_id, e.event_id)`,
  );
  let total = 0;
  for await (const { overdue } of counts) total += overdue;
  return total;
}

export async function retentionState(executor: Executor): Promise<RetentionState> {
  const { rows } = await executor.query<RetentionState>(
    `select count(*) filter (where dropped_at is null) as overdue_partitions,
        coalesce(extract(epoch from max(now() - expired_at) filter (where dropped_at is null)), 0)::float8 as lag_seconds,
        count(*) filter (where dropped_at is not null) as secrets_to_destroy,
        (select ${instant("max(started_at)", "at")} from retention_run) as last_run_at
      from (select p.dropped_at, p.upper_bound + u.raw_retention as expired_at
        from event_partition p join purpose u on u.code = p.purpose
        where (p.dropped_at is null and p.upper_bound + u.raw_retention <= now())
          or (p.dropped_at is not null and p.secret_destroyed_at is null)) unfinished`,
  );
  if (!rows[0]) throw new Error("the database gave no row");
  return rows[0];
}
