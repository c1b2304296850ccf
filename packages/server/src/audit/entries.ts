import { isDeepStrictEqual } from "node:util";
import type { Executor } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";
import type { SignedEntry } from "./log/lane.ts";
import type { AuditRecord } from "./log/record.ts";
import { ACCEPTED } from "./log/surfaces.ts";

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

/** Writes entries with the columns that copy their records. */
export async function insertEntries(executor: Executor, entries: readonly SignedEntry[]): Promise<void> {
  const rows = entries.map(({ record, bytes, mac }) => ({
    ...columnsOf(record),
    record: bytea(bytes),
    mac: bytea(mac),
  }));
  await query(executor, INSERT_ENTRIES, [JSON.stringify(rows)]);
}

const bytea = (bytes: Buffer): string => `\\x${bytes.toString("hex")}`;

/**
 * The columns that copy a record, in PostgreSQL's notation. A commit batch has lists of subjects and events; of other
 * entries, an event id and several have an index each.
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
    roles: record.roles,
    operation: record.operation,
    outcome: record.outcome,
    subject: isBatch ? undefined : subjects.map(bytea)[0],
    subjects: isBatch ? subjects.map(bytea) : undefined,
    event_id: isOne ? eventIds[0] : undefined,
    event_ids: isOne || eventIds.length === 0 ? undefined : eventIds,
    occurrences: record.occurrences,
    reason: record.reason,
    detail: detail === undefined ? undefined : (JSON.parse(detail) as unknown),
    category: record.category,
    ticket: record.ticket,
    case_id: record.caseId,
    approval_id: record.approvalId,
    secret_id: record.secretId,
    lane: place?.lane,
    lane_number: place?.number,
  };
}

/** @param row the columns of an entry as `to_jsonb` writes them. @returns the names of columns that differ from its record. */
export function differingColumns(record: AuditRecord, row: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(columnsOf(record))
    .filter(([name, value]) => {
      const stored = row[name] ?? undefined;
      return name === "at" ? Date.parse(stored as string) !== record.at : !isDeepStrictEqual(stored, value);
    })
    .map(([name]) => name);
}
