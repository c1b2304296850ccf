/** Exports of feature values: what was handed out, to whom, why and until when, and whose values were in it. */
import type { Executor, OwnerTransaction } from "../postgres/executor.ts";
import { byteaArray, int4Array } from "../postgres/binary-array.ts";
import { instant } from "../postgres/instant.ts";
import { narrowed, query, queryRow, sql } from "../postgres/statement.ts";

export const CLOCKS = ["received", "known"] as const;
/** `received`: values of events received up to the label's time; `known`: of those, values computed up to it. */
export type ExportClock = (typeof CLOCKS)[number];

export const FORMATS = ["csv", "jsonl", "parquet"] as const;
export type ExportFormat = (typeof FORMATS)[number];

/** What an export is asked for. */
export interface ExportOrder {
  /** Code of the purpose. */
  readonly purpose: number;
  /** `id@version`, in the order of the columns. */
  readonly features: readonly string[];
  readonly clock: ExportClock;
  readonly format: ExportFormat;
  readonly recipient: string;
  readonly reason: string;
  /** A date: `2027-01-31`. */
  readonly expiresOn: string;
}

export interface ExportColumn {
  readonly name: string;
  readonly feature: string;
  /** SHA-256 of the identity of the feature version. */
  readonly hash: string;
  readonly meaning: string;
  /** Number of rows by state. */
  readonly states: Readonly<Record<string, number>>;
}

/** What the file `….manifest.json` says. It is written last: an export without it is not whole. */
export interface ExportManifest {
  readonly manifest_version: 1;
  readonly export_id: string;
  readonly purpose: string;
  readonly clock: ExportClock;
  readonly format: ExportFormat;
  readonly recipient: string;
  readonly expires_on: string;
  readonly watermark: string;
  readonly labels: { readonly sha256: string; readonly rows: number };
  readonly file: { readonly sha256: string; readonly bytes: number; readonly rows: number };
  /** Number of rows for which no values were found. */
  readonly empty_rows: number;
  readonly columns: readonly ExportColumn[];
}

const INSERT_EXPORT = sql(
  `insert into feature_export (export_id, purpose, features, clock, format, recipient, reason, expires_on, labels_sha256,
      label_rows, watermark, erasures, started_by)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, wall_clock_time(),
      (select coalesce(max(sequence), 0) from erasure), $11)`,
  ["uuid", "int4", "text[]", "text", "text", "text", "text", "date", "text", "int8", "text"],
);

/** Records an export that begins; values that are stored afterwards are not in it, as no batch is under way. */
export async function insertExport(
  owner: OwnerTransaction,
  exportId: string,
  { purpose, features, clock, format, recipient, reason, expiresOn }: ExportOrder,
  labels: { readonly sha256: string; readonly rows: number },
  actor: string,
): Promise<void> {
  await query(owner, INSERT_EXPORT, [
    exportId,
    purpose,
    features,
    clock,
    format,
    recipient,
    reason,
    expiresOn,
    labels.sha256,
    labels.rows,
    actor,
  ]);
}

const EXPORT_COLUMNS = `x.export_id, p.id as purpose, x.purpose as purpose_code, x.features, x.clock, x.format, x.recipient,
  x.reason, x.expires_on::text as expires_on, x.expires_on < transaction_time()::date as is_expired, x.labels_sha256,
  x.label_rows, x.watermark, ${instant("x.started_at", "started_at")}, x.started_by,
  ${instant("x.finished_at", "finished_at")}, x.manifest`;
const EXPORT_TYPES = {
  export_id: "uuid",
  purpose: "text",
  purpose_code: "int4",
  features: "text[]",
  clock: narrowed<ExportClock>("text"),
  format: narrowed<ExportFormat>("text"),
  recipient: "text",
  reason: "text",
  expires_on: "text",
  is_expired: "bool",
  labels_sha256: "text",
  label_rows: "int8",
  watermark: "timestamptz",
  started_at: "text",
  started_by: "text",
  finished_at: "text?",
  manifest: narrowed<ExportManifest | null>("jsonb?"),
} as const;

const FIND_EXPORT = sql(
  `select ${EXPORT_COLUMNS} from feature_export x join purpose p on p.code = x.purpose where x.export_id = $1`,
  ["uuid"],
  EXPORT_TYPES,
);

export type ExportRecord = NonNullable<Awaited<ReturnType<typeof findExport>>>;

export async function findExport(executor: Executor, exportId: string) {
  return (await query(executor, FIND_EXPORT, [exportId])).rows[0];
}

const LIST_EXPORTS = sql(
  `select ${EXPORT_COLUMNS} from feature_export x join purpose p on p.code = x.purpose
    order by x.started_at desc, x.export_id limit $1`,
  ["int8"],
  EXPORT_TYPES,
);

/** Exports, newest first. */
export async function listExports(executor: Executor, limit: number) {
  return (await query(executor, LIST_EXPORTS, [limit])).rows;
}

const FINISH_EXPORT = sql(
  `update feature_export set finished_at = transaction_time(), manifest = $2 where export_id = $1 returning export_id`,
  ["uuid", "jsonb"],
  { export_id: "uuid" },
);

export async function finishExport(executor: Executor, manifest: ExportManifest): Promise<void> {
  await queryRow(executor, FINISH_EXPORT, [manifest.export_id, manifest]);
}

/** A row that has values of a subject, by its keyed MAC. */
export interface ExportedSubject {
  readonly row: number;
  readonly mac: Buffer;
}

const INSERT_SUBJECTS = sql(
  `insert into export_subject (export_id, row_number, subject_mac)
    select $1, row_number, subject_mac from unnest($2::int4[], $3::bytea[]) as named (row_number, subject_mac)
    on conflict do nothing`,
  ["uuid", "int4[]", "bytea[]"],
);

/** Records whose values are in rows, before they are written: a later erasure finds them. */
export async function insertSubjects(
  executor: Executor,
  exportId: string,
  subjects: readonly ExportedSubject[],
): Promise<void> {
  if (subjects.length === 0) return;
  await query(executor, INSERT_SUBJECTS, [
    exportId,
    int4Array(subjects.map(({ row }) => row)),
    byteaArray(subjects.map(({ mac }) => mac)),
  ]);
}

const FIND_TO_RECALL = sql(
  `select x.export_id, x.recipient, count(*)::int as rows
    from export_subject s join feature_export x on x.export_id = s.export_id
    where s.subject_mac = $1
      and not exists (select from export_subject o join erasure e on e.subject_mac = o.subject_mac
        where o.export_id = s.export_id and o.row_number = s.row_number and e.sequence > x.erasures)
    group by x.export_id order by x.started_at, x.export_id`,
  ["bytea"],
  { export_id: "uuid", recipient: "text", rows: "int4" },
);

/** Exports whose rows of a subject, by its keyed MAC, no erasure has recalled yet, oldest first. */
export async function findExportsToRecall(executor: Executor, mac: Buffer) {
  return (await query(executor, FIND_TO_RECALL, [mac])).rows;
}

const LIST_OF_SUBJECT = sql(
  `select x.export_id, p.id as purpose, x.features, x.recipient, ${instant("x.started_at", "exported_at")},
      x.expires_on::text as expires_on, count(*)::int as rows
    from export_subject s join feature_export x on x.export_id = s.export_id join purpose p on p.code = x.purpose
    where s.subject_mac = $1 group by x.export_id, p.id order by x.started_at, x.export_id`,
  ["bytea"],
  {
    export_id: "uuid",
    purpose: "text",
    features: "text[]",
    recipient: "text",
    exported_at: "text",
    expires_on: "text",
    rows: "int4",
  },
);

/** Exports that have rows of a subject, by its keyed MAC, oldest first. */
export async function listExportsOf(executor: Executor, mac: Buffer) {
  return (await query(executor, LIST_OF_SUBJECT, [mac])).rows;
}
