import { isDeepStrictEqual } from "node:util";
import type { Executor } from "../store/postgres/executor.ts";
import { query, sql } from "../store/postgres/statement.ts";
import type { SignedEntry } from "../store/audit-record/lane.ts";
import type { AuditRecord } from "../store/audit-record/record.ts";
import { ACCEPTED } from "../store/audit-record/surfaces.ts";

const INSERT_ENTRIES = sql(
  `insert into audit_entry (entry_id, at, actor, via, roles, operation, outcome, subject, event_id, occurrences, reason,
        event_ids, detail, category, ticket, case_id, approval_id, secret_id, record, mac, lane, lane_number)
      select entry_id, at, actor, via, roles, operation, outcome, subject, event_id, occurrences, reason,
        event_ids, detail, category, ticket, case_id, approval_id, secret_id, record, mac, lane, lane_number
      from jsonb_to_recordset($1::jsonb) as r (entry_id uuid, at timestamptz, actor text, via text, roles text[],
        operation text, outcome text, subject bytea, event_id uuid, occurrences bigint, reason text, event_ids uuid[],
        detail jsonb, category text, ticket text, case_id uuid, approval_id uuid, secret_id uuid, record bytea, mac bytea, lane uuid,
        lane_number bigint)`,
  ["jsonb"],
);

/** Writes entries: their records, and the columns that copy values of the records. */
export async function insertEntries(executor: Executor, entries: readonly SignedEntry[]): Promise<void> {
  const rows = entries.map(({ record, bytes, mac }) => ({
    ...columnsOf(record),
    record: byteaText(bytes),
    mac: byteaText(mac),
  }));
  await query(executor, INSERT_ENTRIES, [JSON.stringify(rows)]);
}

const byteaText = (bytes: Buffer): string => `\\x${bytes.toString("hex")}`;

/** The names of the columns that copy values of a record, in the order of `columnsOf`. */
const COPIED_COLUMNS = [
  "entry_id",
  "at",
  "actor",
  "via",
  "roles",
  "operation",
  "outcome",
  "subject",
  "subjects",
  "event_id",
  "event_ids",
  "occurrences",
  "reason",
  "detail",
  "category",
  "ticket",
  "case_id",
  "approval_id",
  "secret_id",
  "lane",
  "lane_number",
];

/** Columns whose JSON would depend on a setting of the session, as bytes do on `bytea_output`. */
const COPY_EXPRESSIONS: Readonly<Record<string, string>> = {
  at: "(extract(epoch from e.at) * 1000)::int8",
  subject: String.raw`'\x' || encode(e.subject, 'hex')`,
  subjects: String.raw`(select array_agg('\x' || encode(one, 'hex') order by n)
    from unnest(e.subjects) with ordinality as s (one, n))`,
};

/** SQL for the text of a JSON object with these columns of the entry `e`. The time is in milliseconds. */
export const COPIES = `(select row_to_json(c)::text from (select ${COPIED_COLUMNS.map(
  (name) => `${COPY_EXPRESSIONS[name] ?? `e.${name}`} as ${name}`,
).join(", ")}) c)`;

/**
 * The columns that copy a record, in PostgreSQL's notation. The entry of a commit batch has lists of subjects and
 * events. Any other entry has a single event id or several event ids, for which there are separate columns with an
 * index each.
 */
export function columnsOf(record: AuditRecord): Readonly<Record<string, unknown>> {
  const { subjects = [], eventIds = [], detail, place } = record;
  const isBatch = record.surface === "ingest" && record.outcome === ACCEPTED;
  const isOne = !isBatch && eventIds.length === 1;
  return {
    entry_id: record.entryId,
    at: new Date(record.at).toISOString(),
    actor: record.actor,
    via: record.via,
    roles: record.roles ?? null,
    operation: record.operation,
    outcome: record.outcome,
    subject: (isBatch ? undefined : subjects.map(byteaText)[0]) ?? null,
    subjects: isBatch ? subjects.map(byteaText) : null,
    event_id: (isOne ? eventIds[0] : undefined) ?? null,
    event_ids: isOne || eventIds.length === 0 ? null : eventIds,
    occurrences: record.occurrences,
    reason: record.reason ?? null,
    detail: detail === undefined ? null : (JSON.parse(detail) as unknown),
    category: record.category ?? null,
    ticket: record.ticket ?? null,
    case_id: record.caseId ?? null,
    approval_id: record.approvalId ?? null,
    secret_id: record.secretId ?? null,
    lane: place?.lane ?? null,
    lane_number: place?.number ?? null,
  };
}

/**
 * @param copies the result of `COPIES` for an entry. @returns the names of columns that differ from the entry's record.
 */
export function differingColumns(record: AuditRecord, copies: string): readonly string[] {
  let expected: Readonly<Record<string, unknown>>;
  try {
    expected = { ...columnsOf(record), at: record.at };
  } catch {
    // guard: a record that a login of the database made, without a valid time or detail, ends no verification
    return ["record"];
  }
  // Most texts are equal. PostgreSQL may write equal JSON differently, if it contains objects or escapes.
  if (JSON.stringify(expected) === copies) return [];
  const stored = JSON.parse(copies) as Readonly<Record<string, unknown>>;
  return Object.entries(expected)
    .filter(([name, value]) => !isDeepStrictEqual(stored[name], value))
    .map(([name]) => name);
}
