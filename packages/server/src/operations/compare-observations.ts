/** Compares two raw events, path by path. */
import type { Answer } from "@device-risk-signals/admin-api";
import { pointerOf } from "@device-risk-signals/contract";
import { isDeepStrictEqual } from "node:util";
import { type Json, type Pair, pairsOf } from "@device-risk-signals/contract/observations/walk";

export type Compared = NonNullable<Answer<"compareEvents">["fields"]>[number];

/** Numbers are compared as doubles, as in the canonical form of a request (RFC 8785). */
export const compareObservations = (left: Json, right: Json): readonly Compared[] =>
  Array.from(pairsOf(left, right), ({ path, ...sides }) => ({
    path: pointerOf(path),
    verdict: verdictOf(sides),
    ...sides,
  }));

/** Two values can be compared only if both events observed one. */
function verdictOf({ left, right }: Pick<Pair, "left" | "right">): Compared["verdict"] {
  if (left.state !== "observed" || right.state !== "observed") return "not-comparable";
  return isDeepStrictEqual(left, right) ? "equal" : "different";
}

/** The paths in which the events differ: in the value or in the state. */
export const differencesOf = (compared: readonly Compared[]): Answer<"compareEvents">["differences"] =>
  compared
    .filter(({ left, right }) => !isDeepStrictEqual(left, right))
    .map(({ path, left, right }) => ({ path, left, right }));
