/**
 * Records of exports of feature values and of raw events: what was exported, to whom, why and until when, and whose
 * data it is.
 */
import type { EXPORT_CLOCKS, ExportAttribute, ExportManifest, FEATURE_FORMATS } from "@device-risk-signals/admin-api";
import type { FeatureName } from "../decisions.ts";
import type { Executor, OwnerConnection, OwnerTransaction } from "../../store/postgres/executor.ts";
import { byteaArray, int4Array } from "../../store/postgres/binary-array.ts";
import { instant } from "../../store/postgres/instant.ts";
import { isAfter, type KeysetPage, positionValues } from "../../store/postgres/keyset.ts";
import { narrowed, query, queryRow, sql } from "../../store/postgres/statement.ts";

/**
 * `received`: values of events that were received up to the label's time. `known`: of those values, the ones that were
 * also computed up to that time.
 */
export type ExportClock = (typeof EXPORT_CLOCKS)[number];

export type FeatureFormat = (typeof FEATURE_FORMATS)[number];

/** The person or team that gets the file of an export, and the date until which they may keep it. */
export interface Recipient {
  readonly recipient: string;
  /** A date: `2027-01-31`. */
  readonly expiresOn: string;
}

/** The content of an order for an export of features. */
export interface ExportOrder extends Recipient {
  /** Code of the purpose. */
  readonly purpose: number;
  /** Names `id@version` in the order of the columns. */
  readonly features: readonly string[];
  readonly clock: ExportClock;
  readonly format: FeatureFormat;
  /** Attributes of the events, which are columns in addition to the features. */
  readonly attributes: readonly ExportAttribute[];
  /** Whether each feature has a column with the state of each input. */
  readonly inputStates: boolean;
  /** The file has a row for each event in this time before the label; `null`: for the newest event alone. */
  readonly historyMs: number | null;
  readonly reason: string;
}

/** What an order has beyond the values of the newest event of each label, as its approval and the audit name it. */
export const furtherOf = ({ attributes, inputStates, historyMs }: ExportOrder) => ({
  ...(attributes.length > 0 && { attributes }),
  ...(inputStates && { input_states: true }),
  ...(historyMs !== null && { history_ms: historyMs }),
});

/**
 * An export that begins. When an export of features begins, no batch is running, so the export contains no value that is
 * stored afterwards.
 */
export type NewExport = Recipient & { readonly actor: string } & (
    | (ExportOrder & { readonly labels: { readonly sha256: string; readonly rows: number } })
    | { readonly caseId: string }
  );

const INSERT_EXPORT = sql(
  `with state as materialized (select
      -- Values that are stored after an export are newer than its watermark by a microsecond, even if the clock was
      -- set back.
      greatest(wall_clock_time(),
        -- guard(drop): values that were stored after an attestation are in the export
        (select max(attested_at) from attestation_start),
        (select max(watermark) + interval '2 microseconds' from data_export)) as watermark,
      (select coalesce(max(sequence), 0) from erasure) as erasures)
    insert into data_export (export_id, kind, format, recipient, expires_on, started_by, purpose, features, clock, reason,
      labels_sha256, label_rows, attributes, input_states, history_ms, case_id, watermark, erasures)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, watermark, erasures from state`,
  [
    "uuid",
    "text",
    "text",
    "text",
    "date",
    "text",
    "int4?",
    "text[]?",
    "text?",
    "text?",
    "text?",
    "int8?",
    "text[]?",
    "bool?",
    "int8?",
    "uuid?",
  ],
);

export async function insertExport(owner: OwnerTransaction, exportId: string, newExport: NewExport): Promise<void> {
  const { recipient, expiresOn, actor } = newExport;
  const handedOut = [recipient, expiresOn, actor] as const;
  if ("caseId" in newExport) {
    const none = [null, null, null, null, null, null, null, null, null] as const;
    await query(owner, INSERT_EXPORT, [exportId, "events", "ndjson", ...handedOut, ...none, newExport.caseId]);
    return;
  }
  const { format, purpose, features, clock, reason, labels, attributes, inputStates, historyMs } = newExport;
  const order = [
    purpose,
    features,
    clock,
    reason,
    labels.sha256,
    labels.rows,
    attributes,
    inputStates,
    historyMs,
  ] as const;
  await query(owner, INSERT_EXPORT, [exportId, "features", format, ...handedOut, ...order, null]);
}

const EXPORT_COLUMNS = `x.export_id, x.kind, p.id as purpose, x.purpose as purpose_code, x.features, x.attributes, x.input_states, x.history_ms, x.clock, x.format,
  x.recipient, x.reason, x.case_id, x.expires_on::text as expires_on,
  x.expires_on < transaction_time()::date as is_expired, x.labels_sha256, x.label_rows, x.watermark,
  ${instant("x.started_at", "started_at")}, x.started_by, ${instant("x.finished_at", "finished_at")}, x.manifest`;
const EXPORT_TYPES = {
  export_id: "uuid",
  kind: narrowed<ExportManifest["kind"]>("text"),
  purpose: "text?",
  purpose_code: "int4?",
  features: "text[]?",
  attributes: narrowed<ExportAttribute[] | null>("text[]?"),
  input_states: "bool?",
  history_ms: "int8?",
  clock: narrowed<ExportClock | null>("text?"),
  format: narrowed<FeatureFormat | "ndjson">("text"),
  recipient: "text",
  reason: "text?",
  case_id: "uuid?",
  expires_on: "text",
  is_expired: "bool",
  labels_sha256: "text?",
  label_rows: "int8?",
  watermark: "timestamptz",
  started_at: "text",
  started_by: "text",
  finished_at: "text?",
  manifest: narrowed<ExportManifest | null>("jsonb?"),
} as const;

const FIND_EXPORT = sql(
  `select ${EXPORT_COLUMNS} from data_export x left join purpose p on p.code = x.purpose where x.export_id = $1`,
  ["uuid"],
  EXPORT_TYPES,
);

export type ExportRow = NonNullable<Awaited<ReturnType<typeof findExport>>>;

export async function findExport(executor: Executor, exportId: string) {
  return (await query(executor, FIND_EXPORT, [exportId])).rows[0];
}

/** The record of an export of features. */
export type FeatureExport = Pick<
  ExportRow,
  "export_id" | "recipient" | "expires_on" | "watermark" | "is_expired" | "manifest"
> & {
  readonly purpose: string;
  readonly purpose_code: number;
  readonly features: readonly FeatureName[];
  readonly attributes: readonly ExportAttribute[];
  readonly input_states: boolean;
  readonly history_ms: number | null;
  readonly clock: ExportClock;
  readonly format: FeatureFormat;
  readonly labels_sha256: string;
};

/** The start of an export without microseconds, because the cursor of a page has none. */
const STARTED_AT = "date_trunc('milliseconds', x.started_at)";
const LIST_EXPORTS = sql(
  `select ${EXPORT_COLUMNS} from data_export x left join purpose p on p.code = x.purpose
    where ${isAfter(STARTED_AT, "$1", { "x.export_id": "$2::uuid" })}
    order by ${STARTED_AT} desc, x.export_id limit $3::int4`,
  ["timestamptz?", "uuid?", "int4"],
  EXPORT_TYPES,
);

/** Lists exports, newest first. */
export async function listExports(executor: Executor, page: KeysetPage): Promise<readonly ExportRow[]> {
  const [at = null, id = null] = positionValues(page, 1);
  return (await query(executor, LIST_EXPORTS, [at, id, page.limit])).rows;
}

const RECORD_OLDEST = sql(
  `update data_export set oldest_received_at = $2
    where export_id = $1 and finished_at is null and coalesce(oldest_received_at > $2, true)`,
  ["uuid", "timestamptz"],
);

/** Records when an event was received whose values an export that has not ended is about to get. */
export async function recordOldest(owner: OwnerConnection, exportId: string, receivedAt: string): Promise<void> {
  await query(owner, RECORD_OLDEST, [exportId, receivedAt]);
}

const FINISH_EXPORT = sql(
  `update data_export set finished_at = transaction_time(), manifest = $2 where export_id = $1 returning export_id`,
  ["uuid", "jsonb"],
  { export_id: "uuid" },
);

export async function finishExport(owner: OwnerConnection, manifest: ExportManifest): Promise<void> {
  await queryRow(owner, FINISH_EXPORT, [manifest.export_id, manifest]);
}

/** A row that has data of a subject. A keyed MAC names the subject. */
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

/** Records whose data rows contain, before these rows are written, so that a later erasure finds the rows. */
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

const FIND_SUBJECTS = sql(
  `select s.row_number, s.subject_mac from export_subject s
    join unnest($2::int4[], $3::bytea[]) as named (row_number, subject_mac)
      on s.row_number = named.row_number and s.subject_mac = named.subject_mac
    where s.export_id = $1`,
  ["uuid", "int4[]", "bytea[]"],
  { row_number: "int4", subject_mac: "bytea" },
);

/** A text that is equal for two subjects of the same row and MAC. */
export const identityOfSubject = ({ row, mac }: ExportedSubject): string => `${row} ${mac.toString("base64")}`;

/** Finds which of these subjects an export has. @returns their identities. */
export async function findSubjects(
  executor: Executor,
  exportId: string,
  subjects: readonly ExportedSubject[],
): Promise<ReadonlySet<string>> {
  if (subjects.length === 0) return new Set();
  const rows = int4Array(subjects.map(({ row }) => row));
  const macs = byteaArray(subjects.map(({ mac }) => mac));
  const found = await query(executor, FIND_SUBJECTS, [exportId, rows, macs]);
  return new Set(found.rows.map(({ row_number: row, subject_mac: mac }) => identityOfSubject({ row, mac })));
}

const FIND_TO_RECALL = sql(
  `select x.export_id, x.recipient, count(*)::int as rows
    from export_subject s join data_export x on x.export_id = s.export_id
    where s.subject_mac = $1
      and not exists (select 1 from export_subject o join erasure e on e.subject_mac = o.subject_mac
        where o.export_id = s.export_id and o.row_number = s.row_number and e.sequence > x.erasures)
    group by x.export_id order by x.started_at, x.export_id`,
  ["bytea"],
  { export_id: "uuid", recipient: "text", rows: "int4" },
);

/** Finds exports with rows of a subject, named by its keyed MAC, that no erasure has recalled yet; oldest first. */
export async function findExportsToRecall(executor: Executor, mac: Buffer) {
  return (await query(executor, FIND_TO_RECALL, [mac])).rows;
}

const LIST_OF_SUBJECT = sql(
  `select x.export_id, x.kind, p.id as purpose, x.features, x.attributes, x.recipient,
      ${instant("x.started_at", "exported_at")},
      x.expires_on::text as expires_on, count(*)::int as rows
    from export_subject s join data_export x on x.export_id = s.export_id left join purpose p on p.code = x.purpose
    where s.subject_mac = $1 group by x.export_id, p.id order by x.started_at, x.export_id`,
  ["bytea"],
  {
    export_id: "uuid",
    kind: "text",
    purpose: "text?",
    features: "text[]?",
    attributes: "text[]?",
    recipient: "text",
    exported_at: "text",
    expires_on: "text",
    rows: "int4",
  },
);

/** Lists exports that have rows of a subject, named by its keyed MAC, oldest first. */
export async function listExportsOf(executor: Executor, mac: Buffer) {
  return (await query(executor, LIST_OF_SUBJECT, [mac])).rows;
}
