/** The rows of a comparison by what they tell a reader. */
import type { Answer } from "@device-risk-signals/admin-api";

export type Row = NonNullable<Answer<"compareEvents">["fields"]>[number];
type Side = Row["left"];

export type Kind = "different" | "one-sided" | "unlike" | "alike" | "equal";

interface KindWords {
  readonly name: string;
  /** Said where no row is of the kind. */
  readonly none: string;
}

/** In the order in which a reader wants them. */
export const KINDS: Readonly<Record<Kind, KindWords>> = {
  different: { name: "Different", none: "No field has two different values." },
  "one-sided": { name: "Only one reported it", none: "No field was reported by one event alone." },
  unlike: { name: "Neither reported it, for different reasons", none: "No field is missing for different reasons." },
  alike: { name: "Neither, for the same reason", none: "No field is missing for the same reason." },
  equal: { name: "Equal", none: "No field has the same value in both." },
};

const hasReported = ({ state }: Side): boolean => state === "observed" || state === "success";

const reasonOf = (side: Side): string | undefined =>
  side.state === "skipped" ? side.reason : side.state === "error" ? side.error : undefined;

export function kindOf({ verdict, left, right }: Row): Kind {
  if (verdict !== "not-comparable") return verdict;
  if (hasReported(left) !== hasReported(right)) return "one-sided";
  return left.state === right.state && reasonOf(left) === reasonOf(right) ? "alike" : "unlike";
}

/** The kind that a page shows first: one that tells of a difference, if there is one. */
export const firstKind = (counts: ReadonlyMap<Kind, readonly Row[]>): Kind =>
  (["different", "one-sided", "unlike"] as const).find((kind) => counts.has(kind)) ?? "different";
