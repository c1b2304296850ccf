/** Decisions about paths that the catalog does not have, or that have another type than the published one. */
import type { FieldType, Sensitivity, Unit } from "@device-risk-signals/contract/catalog/declare";
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
  /** JSON types that events had had at the path before the decision. */
  readonly seen_types: string[];
  readonly decided_at: string;
  readonly decided_by: string;
  readonly reason: string;
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

/**
 * The fields that were accepted and not rejected since, in the order of their paths. Without a later classification, a
 * field has a high sensitivity.
 *
 * @param decisions newest first.
 */
export function acceptedFields(decisions: readonly DriftDecision[]): readonly AcceptedField[] {
  const classified = new Map<string, Sensitivity>();
  const fields = new Map<string, AcceptedField | undefined>();
  for (const { path, kind, type, unit, sensitivity } of decisions) {
    if (fields.has(path)) continue;
    if (kind === "rejected") fields.set(path, undefined);
    if (kind === "classified" && sensitivity !== null && !classified.has(path)) classified.set(path, sensitivity);
    if (kind !== "accepted" || type === null) continue;
    const decided = classified.get(path);
    fields.set(path, { path, type, unit, sensitivity: decided ?? "high", is_classified: decided !== undefined });
  }
  return [...fields.values()]
    .filter((field) => field !== undefined)
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

export type ReviewState = "open" | "accepted" | "ignored" | "rejected";

export interface ReviewedRow extends DriftRow {
  readonly review: ReviewState;
}

/** Whether `path` is `above`, or a path below it. */
const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}.`);

/** The rows at a path, above it and below it. */
export const relatedTo = <Row extends { readonly path: string }>(rows: readonly Row[], path: string): readonly Row[] =>
  rows.filter((row) => isWithin(row.path, path) || isWithin(path, row.path));

/**
 * Adds to each row the state of the review of its path. A path is open again if it has a JSON type that had not been
 * seen at the time of the last decision, or on the day on which an ignored path is listed again.
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

/** The JSON type of a value that has the accepted type. */
export const jsonTypeOf = (type: AcceptedType): string => (type.endsWith("[]") ? "array" : type);
