import type { Work } from "../../base/work.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { queryRow, sql } from "../../store/postgres/statement.ts";
import { readRetentionState } from "./run-table.ts";

/** What work waits for that a retention pass does. */
export const NEXT_PASS = "the next retention pass: a worker runs it, or drs retention run";

/** Effects without a receipt are of a pass that runs or was killed. */
const READ_EFFECTS = sql(
  `select count(*) as effects, ${instant("min(at)", "since")}, (extract(epoch from transaction_time()) * 1000)::float8 as now
    from retention_effect`,
  [],
  { effects: "int8", since: "text?", now: "float8" },
);

/**
 * What is overdue, and what a killed pass has left, as one piece of work.
 * @param isMaintained whether a process has the maintenance lock.
 */
export async function listRetentionWork(executor: Executor, isMaintained: boolean): Promise<readonly Work[]> {
  const { overdue_partitions, secrets_to_destroy, lag_seconds } = await readRetentionState(executor);
  const { effects, since, now } = await queryRow(executor, READ_EFFECTS);
  const steps = overdue_partitions + secrets_to_destroy + effects;
  if (steps === 0) return [];
  const overdueSince = lag_seconds > 0 ? new Date(now - lag_seconds * 1_000).toISOString() : undefined;
  return [
    {
      kind: "retention",
      id: null,
      state: isMaintained ? "running" : "waiting",
      done: null,
      of: steps,
      unit: "partitions to drop, secrets to destroy and deletions without a receipt",
      started_at: [overdueSince, since].filter((at) => typeof at === "string").sort()[0] ?? null,
      started_by: null,
      waits_for: isMaintained ? null : NEXT_PASS,
    },
  ];
}
