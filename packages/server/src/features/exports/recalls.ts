/**
 * Recalls of exported rows: of data that was erased after its export, and of all rows of an export whose period is over.
 * The recipient is asked to delete these rows.
 */
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { instant, instantOf } from "../../store/postgres/instant.ts";
import { query, sql } from "../../store/postgres/statement.ts";

const RECALLED = `data_export x join export_subject s on s.export_id = x.export_id
  join erasure e on e.subject_mac = s.subject_mac and e.sequence > x.erasures`;

const FIND_RECALLED_ROWS = sql(
  `select distinct s.row_number from ${RECALLED} where x.export_id = $1 order by s.row_number`,
  ["uuid"],
  { row_number: "int4" },
);

/** The numbers of the rows of an export whose data was erased after the export began. */
export async function findRecalledRows(executor: Executor, exportId: string): Promise<readonly number[]> {
  return (await query(executor, FIND_RECALLED_ROWS, [exportId])).rows.map(({ row_number }) => row_number);
}

const FIND_RECALLED_OF = sql(
  `select distinct s.row_number from ${RECALLED} where x.export_id = $1 and s.row_number between $2 and $3`,
  ["uuid", "int4", "int4"],
  { row_number: "int4" },
);

/** The numbers of the rows from `first` to `last` of an export whose data was erased after the export began. */
export async function findRecalledRowsBetween(
  executor: Executor,
  exportId: string,
  first: number,
  last: number,
): Promise<ReadonlySet<number>> {
  const { rows } = await query(executor, FIND_RECALLED_OF, [exportId, first, last]);
  return new Set(rows.map(({ row_number }) => row_number));
}

/** The acknowledgement of a period covers every row, and so the rows of each erasure. */
const ACKNOWLEDGED = `acknowledged_recall a left join erasure o on o.sequence = a.sequence
  where a.export_id = x.export_id and (a.sequence is null or o.subject_mac = e.subject_mac)`;
const PERIOD_END = "x.oldest_received_at + p.derived_retention";
// guard: an export is recalled when the period of its oldest values is over
const IS_OVER = `${PERIOD_END} <= transaction_time()`;

const FIND_RECALLS = sql(
  `select x.export_id, x.recipient, e.erasure_id, e.sequence, ${instant("e.began_at", "erased_at")},
      null::text as period_ended_at, array_agg(distinct s.row_number order by s.row_number) as rows,
      ${instant("a.acknowledged_at", "acknowledged_at")}, a.reason
    from ${RECALLED}
    left join lateral (select a.sequence, a.acknowledged_at, a.reason from ${ACKNOWLEDGED}
      order by (a.sequence = e.sequence) desc nulls last, a.sequence limit 1) a on true
    where ($1::uuid is null or x.export_id = $1) and ($2::uuid is null or e.erasure_id = $2)
    group by x.export_id, e.sequence, a.acknowledged_at, a.reason
    union all select x.export_id, x.recipient, null, null, null, ${instantOf(PERIOD_END)},
      array(select distinct s.row_number from export_subject s where s.export_id = x.export_id order by s.row_number),
      ${instantOf("a.acknowledged_at")}, a.reason
    from data_export x join purpose p on p.code = x.purpose
      left join acknowledged_recall a on a.export_id = x.export_id and a.sequence is null
    where x.export_id = $1 and ${IS_OVER}
    order by sequence, export_id`,
  ["uuid?", "uuid?"],
  {
    export_id: "uuid",
    recipient: "text",
    erasure_id: "uuid?",
    sequence: "int8?",
    erased_at: "text?",
    period_ended_at: "text?",
    rows: "int4[]",
    acknowledged_at: "text?",
    reason: "text?",
  },
);

export type RecallFilter = { readonly exportId: string } | { readonly erasureId: string };

/**
 * Finds recalls by the order of their erasures. There is one recall for each erasure and export, and one at the end of
 * an export's period. A recall is open until the recipient has acknowledged it, or has acknowledged another recall of
 * the same rows.
 */
export async function findRecalls(executor: Executor, filter: RecallFilter) {
  const ids = "exportId" in filter ? ([filter.exportId, null] as const) : ([null, filter.erasureId] as const);
  return (await query(executor, FIND_RECALLS, ids)).rows;
}

export type Recall = Awaited<ReturnType<typeof findRecalls>>[number];

export const isOpen = ({ acknowledged_at }: Recall): boolean => acknowledged_at === null;

/** The numbers of the rows that recalls name. */
export const rowsOf = (recalls: readonly Recall[]): readonly number[] =>
  [...new Set(recalls.flatMap(({ rows }) => rows))].toSorted((a, b) => a - b);

const COUNT_RECALLED = sql(
  `select x.export_id, case
      when ${IS_OVER} and not exists (select 1 from acknowledged_recall a
          where a.export_id = x.export_id and a.sequence is null)
        -- An export that did not end has no count of labels without values.
        then coalesce((x.manifest -> 'labels' ->> 'rows')::int8 - (x.manifest ->> 'empty_rows')::int8, x.label_rows)
      else (select count(distinct s.row_number) from export_subject s
          join erasure e on e.subject_mac = s.subject_mac and e.sequence > x.erasures
        where s.export_id = x.export_id and not exists (select 1 from ${ACKNOWLEDGED})) end as rows
    from data_export x left join purpose p on p.code = x.purpose where x.export_id = any ($1::uuid[])`,
  ["uuid[]"],
  { export_id: "uuid", rows: "int8" },
);

/** Counts the rows of each export whose recall is open, without reading the numbers of all rows of ended exports. */
export async function countRecalledRows(
  executor: Executor,
  exportIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await query(executor, COUNT_RECALLED, [exportIds]);
  return new Map(rows.map((row) => [row.export_id, row.rows]));
}

const ACKNOWLEDGE = sql(
  "insert into acknowledged_recall (export_id, sequence, acknowledged_by, reason) values ($1, $2, $3, $4)",
  ["uuid", "int8?", "text", "text"],
);

/** Records that the recipient has deleted the recalled rows. @param sequences `null`: of the period's recall. */
export async function acknowledgeRecalls(
  owner: OwnerTransaction,
  exportId: string,
  sequences: readonly (number | null)[],
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<void> {
  for (const sequence of sequences) await query(owner, ACKNOWLEDGE, [exportId, sequence, actor, reason]);
}
