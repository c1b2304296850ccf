import { startedBy, type Work, WORK_READ } from "../base/work.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { narrowed, query, sql } from "../store/postgres/statement.ts";
import { PROGRESS } from "./backfill-runs.ts";

const LIST = sql(
  `select run_id, state, ${instant("started_at")}, ${startedBy("started_by")}, events, computed, is_split
    from (select * from feature_run where state in ('running', 'paused') order by started_at, run_id limit ${WORK_READ}) r
      ${PROGRESS}
    order by r.started_at, run_id`,
  [],
  {
    run_id: "uuid",
    state: narrowed<"running" | "paused">("text"),
    started_at: "text",
    started_by: "text",
    events: "int8",
    computed: "int8",
    is_split: "bool?",
  },
);

/** Backfills that have not ended. */
export async function listBackfillWork(executor: Executor): Promise<readonly Work[]> {
  const { rows } = await query(executor, LIST);
  return rows.map(({ run_id, state, started_at, started_by, events, computed, is_split }) => ({
    kind: "backfill",
    id: run_id,
    state: state === "running" ? "running" : "waiting",
    done: computed,
    of: is_split ? events : null,
    unit: "events",
    started_at,
    started_by,
    waits_for:
      state === "running"
        ? "workers, which compute it: a server, or drs feature work"
        : `a person who resumes it: drs feature backfill resume ${run_id}`,
  }));
}
