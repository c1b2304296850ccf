import { type Work, WORK_READ } from "../../base/work.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { query, sql } from "../../store/postgres/statement.ts";

const LIST = sql(
  `select hold_id, ${instant("placed_at")}, placed_by from legal_hold h
    where lifted_at is null and num_nonnulls(account, action_id, event_id) = 0
    order by h.placed_at, hold_id limit ${WORK_READ}`,
  [],
  { hold_id: "uuid", placed_at: "text", placed_by: "text" },
);

/** Holds that a replay placed, and whose account or action is not found yet. */
export async function listHoldWork(executor: Executor): Promise<readonly Work[]> {
  const { rows } = await query(executor, LIST);
  return rows.map(({ hold_id, placed_at, placed_by }) => ({
    kind: "hold",
    id: hold_id,
    state: "waiting",
    done: null,
    of: null,
    unit: "names searched",
    started_at: placed_at,
    started_by: placed_by,
    waits_for: "an event of its account or action: workers search for the name, see drs hold list",
  }));
}
