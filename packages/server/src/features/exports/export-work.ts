import { type Work, WORK_READ } from "../../base/work.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { query, sql } from "../../store/postgres/statement.ts";

/** An interrupted export never ends. It is shown for a day, and its record stays in `drs export list`. */
const LIST = sql(
  `select export_id, ${instant("started_at")}, started_by, label_rows,
      (select coalesce(max(row_number), 0) from export_subject s where s.export_id = x.export_id) as written
    from data_export x where finished_at is null and x.started_at > transaction_time() - interval '1 day'
    order by x.started_at, export_id limit ${WORK_READ}`,
  [],
  { export_id: "uuid", started_at: "text", started_by: "text", label_rows: "int8?", written: "int4" },
);

/** Exports that have not ended. `done` is the number of the last label, or event, for which something was found. */
export async function listExportWork(executor: Executor): Promise<readonly Work[]> {
  const { rows } = await query(executor, LIST);
  return rows.map(({ export_id, started_at, started_by, label_rows, written }) => ({
    kind: "export",
    id: export_id,
    state: "running",
    done: written,
    of: label_rows,
    unit: label_rows === null ? "events" : "labels",
    started_at,
    started_by,
    waits_for:
      "its caller, who reads the file to its end; if the call was interrupted, the file is incomplete: export again",
  }));
}
