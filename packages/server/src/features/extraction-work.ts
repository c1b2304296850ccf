import type { Work } from "../base/work.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { queryRow, sql } from "../store/postgres/statement.ts";

/** Workers compute a batch within a second or so. A batch that is older waits. */
const LATE = "interval '1 minute'";
/** Maximum number of rows that are counted. */
const COUNTED = 10_000;

const READ = sql(
  `select count(*) as batches, coalesce(sum(cardinality(event_ids)), 0)::int8 as events, ${instant("min(stored_at)", "since")},
      coalesce(min(stored_at) < transaction_time() - ${LATE}, false) as is_late
    from (select event_ids, stored_at from extraction_due order by due_id limit ${COUNTED}) due`,
  [],
  { batches: "int8", events: "int8", since: "text?", is_late: "bool" },
);

/** New events whose features wait, as one piece of work. */
export async function listExtractionWork(executor: Executor): Promise<readonly Work[]> {
  const { batches, events, since, is_late: isLate } = await queryRow(executor, READ);
  // guard(false): the batches of a worker that keeps up are no work that waits
  if (!isLate) return [];
  return [
    {
      kind: "extraction",
      id: null,
      state: "waiting",
      done: null,
      of: batches < COUNTED ? events : null,
      unit: "events",
      started_at: since,
      started_by: null,
      waits_for: "workers, which compute their features: a server, or drs feature work; its log says what fails",
    },
  ];
}
