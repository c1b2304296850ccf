/** Decisions about paths that the catalog does not have, or that have another type than the published one. */
import type { FieldType, Sensitivity, Unit } from "@device-risk-signals/contract/catalog/declare";
import type { Executor } from "../postgres/executor.ts";
import { instant } from "../postgres/instant.ts";
import { narrowed, query, queryRow, sql } from "../postgres/statement.ts";
import type { DriftRow } from "./drift.ts";

export type AcceptedType = Exclude<FieldType, "object">;

/** What a person decides about a path. */
export type Verdict =
  | { readonly kind: "accepted"; readonly type: AcceptedType; readonly unit?: Unit; readonly sensitivity: Sensitivity }
  | { readonly kind: "classified"; readonly sensitivity: Sensitivity }
  /** `until` is the first day, such as `2027-01-31`, on which the path is listed again. */
  | { readonly kind: "ignored"; readonly until?: string }
  | { readonly kind: "rejected" };

export interface DriftDecision {
  readonly path: string;
  readonly kind: Verdict["kind"];
  readonly type: AcceptedType | null;
  readonly unit: Unit | null;
  readonly sensitivity: Sensitivity | null;
  readonly ignored_until: string | null;
  /** JSON types that had been seen at the path. */
  readonly seen_types: string[];
  readonly decided_at: string;
  readonly decided_by: string;
  readonly reason: string;
}

const DECISION_COLUMNS = `path, kind, type, unit, sensitivity, ignored_until::text as ignored_until, seen_types,
  ${instant("decided_at")}, decided_by, reason`;
const DECISION_TYPES = {
  path: "text",
  kind: narrowed<DriftDecision["kind"]>("text"),
  type: narrowed<DriftDecision["type"]>("text?"),
  unit: narrowed<DriftDecision["unit"]>("text?"),
  sensitivity: narrowed<DriftDecision["sensitivity"]>("text?"),
  ignored_until: "text?",
  seen_types: "text[]",
  decided_at: "text",
  decided_by: "text",
  reason: "text",
} as const;

const INSERT_DECISION = sql(
  `insert into drift_decision (path, kind, type, unit, sensitivity, ignored_until, seen_types, decided_at, decided_by, reason)
    select $1, $2, $3, $4, $5, $6, coalesce(array_agg(distinct json_type order by json_type), '{}'), $7, $8, $9
      from drift where path = $1
    returning ${DECISION_COLUMNS}`,
  ["text", "text", "text?", "text?", "text?", "date?", "timestamptz", "text", "text"],
  DECISION_TYPES,
);

export interface Decided {
  readonly by: string;
  readonly reason: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

export function decideDrift(
  executor: Executor,
  path: string,
  verdict: Verdict,
  { by, reason, at }: Decided,
): Promise<DriftDecision> {
  const { kind } = verdict;
  const [type, unit] = kind === "accepted" ? [verdict.type, verdict.unit ?? null] : [null, null];
  const sensitivity = "sensitivity" in verdict ? verdict.sensitivity : null;
  const until = kind === "ignored" ? (verdict.until ?? null) : null;
  const values = [path, kind, type, unit, sensitivity, until, new Date(at).toISOString(), by, reason] as const;
  return queryRow(executor, INSERT_DECISION, values);
}

const LIST_DECISIONS = sql(`select ${DECISION_COLUMNS} from drift_decision order by decision desc`, [], DECISION_TYPES);

/** Every decision, newest first. */
export async function listDriftDecisions(executor: Executor): Promise<readonly DriftDecision[]> {
  return (await query(executor, LIST_DECISIONS)).rows;
}

/** A field beyond the catalog that definitions of features may read. */
export interface AcceptedField {
  readonly path: string;
  readonly type: AcceptedType;
  readonly unit: Unit | null;
  readonly sensitivity: Sensitivity;
  /** Whether the role `privacy` decided the sensitivity. */
  readonly is_classified: boolean;
}

const LIST_ACCEPTED_FIELDS = sql(
  "select path, type, unit, sensitivity, is_classified from catalog_overlay order by path",
  [],
  {
    path: "text",
    type: narrowed<AcceptedType>("text"),
    unit: narrowed<Unit | null>("text?"),
    sensitivity: narrowed<Sensitivity>("text"),
    is_classified: "bool",
  },
);

export async function listAcceptedFields(executor: Executor): Promise<readonly AcceptedField[]> {
  return (await query(executor, LIST_ACCEPTED_FIELDS)).rows;
}

export type ReviewState = "open" | "accepted" | "ignored" | "rejected";

export interface ReviewedRow extends DriftRow {
  readonly review: ReviewState;
}

/** Whether a path equals another path or is above it. */
const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}.`);

/** The rows at a path, above it and below it. */
export const relatedTo = <Row extends { readonly path: string }>(rows: readonly Row[], path: string): readonly Row[] =>
  rows.filter((row) => isWithin(row.path, path) || isWithin(path, row.path));

/**
 * Adds to each row the decision about its path. If a JSON type had not been seen at the time of the decision, the path
 * is open again.
 *
 * @param decisions newest first. @param now in milliseconds since the Unix epoch.
 */
export function reviewDrift(
  rows: readonly DriftRow[],
  decisions: readonly DriftDecision[],
  overlay: readonly AcceptedField[],
  now: number,
): readonly ReviewedRow[] {
  const typesAt = new Map<string, Set<string>>();
  for (const { path, json_type } of rows) typesAt.set(path, (typesAt.get(path) ?? new Set()).add(json_type));
  const states = new Map<string, ReviewState>();
  for (const [path, types] of typesAt) {
    const latest = decisions.find((decision) => decision.path === path && decision.kind !== "classified");
    const isAbove = overlay.some((field) => isWithin(field.path, path));
    states.set(path, latest ? stateAfter(latest, types, now) : isAbove ? "accepted" : "open");
  }
  return rows.map((row) => ({ ...row, review: states.get(row.path) ?? "open" }));
}

function stateAfter(
  { kind, ignored_until: until, seen_types: before }: DriftDecision,
  types: ReadonlySet<string>,
  now: number,
): ReviewState {
  const isNew = [...types].some((type) => !before.includes(type));
  const isExpired = until !== null && Date.parse(until) <= now;
  return isNew || isExpired || kind === "classified" ? "open" : kind;
}

/** The JSON type of a value of the type. */
export const jsonTypeOf = (type: AcceptedType): string => (type.endsWith("[]") ? "array" : type);
