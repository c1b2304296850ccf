/** Recalls of data that was erased after its export. The recipient is asked to delete these rows. */
import type { Executor, OwnerTransaction } from "../postgres/executor.ts";
import { instant } from "../postgres/instant.ts";
import { query, sql } from "../postgres/statement.ts";

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

const FIND_RECALLS = sql(
  `select x.export_id, x.recipient, e.erasure_id, e.sequence, ${instant("e.began_at", "erased_at")},
      array_agg(distinct s.row_number order by s.row_number) as rows, ${instant("a.acknowledged_at", "acknowledged_at")},
      a.reason
    from ${RECALLED}
    left join lateral (select a.acknowledged_at, a.reason from acknowledged_recall a join erasure o on o.sequence = a.sequence
      where a.export_id = x.export_id and o.subject_mac = e.subject_mac order by (a.sequence = e.sequence) desc, a.sequence limit 1) a on true
    where ($1::uuid is null or x.export_id = $1) and ($2::uuid is null or e.erasure_id = $2)
    group by x.export_id, e.sequence, a.acknowledged_at, a.reason order by e.sequence, x.export_id`,
  ["uuid?", "uuid?"],
  {
    export_id: "uuid",
    recipient: "text",
    erasure_id: "uuid",
    sequence: "int8",
    erased_at: "text",
    rows: "int4[]",
    acknowledged_at: "text?",
    reason: "text?",
  },
);

export interface RecallFilter {
  readonly exportId?: string;
  readonly erasureId?: string;
}

/**
 * Finds recalls. There is one recall for each erasure and export. A recall is open until the recipient has acknowledged
 * it, or has acknowledged the recall of the same rows by another erasure.
 */
export async function findRecalls(executor: Executor, { exportId, erasureId }: RecallFilter) {
  return (await query(executor, FIND_RECALLS, [exportId ?? null, erasureId ?? null])).rows;
}

export type Recall = Awaited<ReturnType<typeof findRecalls>>[number];

export const isOpen = ({ acknowledged_at }: Recall): boolean => acknowledged_at === null;

/** The numbers of the rows that recalls name. */
export const rowsOf = (recalls: readonly Recall[]): readonly number[] =>
  [...new Set(recalls.flatMap(({ rows }) => rows))].toSorted((a, b) => a - b);

const ACKNOWLEDGE = sql(
  `insert into acknowledged_recall (export_id, sequence, acknowledged_by, reason)
    select $1, unnest($2::int8[]), $3, $4`,
  ["uuid", "int8[]", "text", "text"],
);

/** Records that the recipient has deleted the rows that erasures recalled. */
export async function acknowledgeRecalls(
  owner: OwnerTransaction,
  exportId: string,
  sequences: readonly number[],
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<void> {
  await query(owner, ACKNOWLEDGE, [exportId, sequences, actor, reason]);
}
