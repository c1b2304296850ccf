/** How long records about an account are kept, other than events and values: those have the periods of purposes. */

import { REJECTIONS_KEPT_MS } from "../../ingest/recent-rejections/recent-rejection-table.ts";

export interface RecordPeriods {
  /** Milliseconds for which an idempotency key is kept after its event is deleted. */
  readonly replayWindowMs: number;
  /** Milliseconds for which an entry of the audit is kept. */
  readonly auditRetentionMs: number;
  /** Milliseconds for which the operator keeps backups, as declared. */
  readonly backupMs: number | undefined;
}

/** A file of the export or `backups`. The period is in ISO 8601; `null`: none is set. */
export interface RecordPeriod {
  readonly record: string;
  readonly period: string | null;
}

export const recordPeriods = ({
  replayWindowMs,
  auditRetentionMs,
  backupMs,
}: RecordPeriods): readonly RecordPeriod[] => [
  { record: "idempotency-keys.ndjson", period: durationOf(replayWindowMs) },
  { record: "actions.ndjson", period: null },
  { record: "tokens.ndjson", period: null },
  { record: "rejections.ndjson", period: durationOf(REJECTIONS_KEPT_MS) },
  { record: "exports.ndjson", period: null },
  { record: "requests.ndjson", period: null },
  { record: "restrictions.ndjson", period: null },
  { record: "accesses.ndjson", period: durationOf(auditRetentionMs) },
  { record: "backups", period: backupMs === undefined ? null : durationOf(backupMs) },
];

const DAY_MS = 86_400_000;

function durationOf(ms: number): string {
  const seconds = Math.ceil((ms % DAY_MS) / 1_000);
  const days = Math.floor(ms / DAY_MS);
  return `P${days > 0 ? `${days}D` : ""}${seconds > 0 ? `T${seconds}S` : ""}`;
}
