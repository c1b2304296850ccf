/** Compares two raw events, and finds the paths that differ. The five states of the contract stay distinct. */
import type { Answer } from "@device-risk-signals/admin-api";
import { isDeepStrictEqual } from "node:util";
import { pointerOf } from "@device-risk-signals/contract";

export type Difference = Answer<"compareEvents">["differences"][number];
type Side = Difference["left"];
type Json = Readonly<Record<string, unknown>>;

/** Finds the differences. Numbers are compared as doubles, as in the canonical form of a request (RFC 8785). */
export function* compareObservations(left: Json, right: Json): Generator<Difference> {
  yield* compareMembers([], left, right, ["probes"]);
  const [ones, others] = [membersOf(left["probes"]), membersOf(right["probes"])];
  for (const probe of namesOf(ones, others)) {
    const path = ["probes", probe];
    const [one, other] = [outcomeOf(ones, probe), outcomeOf(others, probe)];
    if (isSuccess(one) && isSuccess(other)) yield* compareMembers([...path, "data"], one.data, other.data);
    // If one of the events has no data of the probe, the outcomes are one difference, and no field counts as omitted.
    else yield* difference(path, sideOf(one), sideOf(other));
  }
}

type Outcome =
  | { readonly status: "success"; readonly data: Json }
  | { readonly status: "skipped"; readonly reason: string }
  | { readonly status: "timeout" }
  | { readonly status: "error"; readonly error: string };

const outcomeOf = (probes: Json, probe: string): Outcome | undefined =>
  Object.hasOwn(probes, probe) ? (probes[probe] as Outcome) : undefined;

const isSuccess = (outcome: Outcome | undefined): outcome is Outcome & { readonly status: "success" } =>
  outcome?.status === "success";

function sideOf(outcome: Outcome | undefined): Side {
  if (outcome === undefined) return { state: "omitted" };
  if (outcome.status === "skipped") return { state: "skipped", reason: outcome.reason };
  if (outcome.status === "error") return { state: "error", error: outcome.error };
  return { state: outcome.status };
}

/** @param except names of members that the caller compares in another way. */
function* compareMembers(
  path: readonly string[],
  left: Json,
  right: Json,
  except: readonly string[] = [],
): Generator<Difference> {
  for (const name of namesOf(left, right)) {
    if (!except.includes(name)) yield* compareValues([...path, name], valueOf(left, name), valueOf(right, name));
  }
}

type Value = { readonly observed: unknown } | undefined;

const valueOf = (members: Json, name: string): Value =>
  Object.hasOwn(members, name) ? { observed: members[name] } : undefined;

function* compareValues(path: readonly string[], left: Value, right: Value): Generator<Difference> {
  if (left && right && isComposite(left.observed) && isComposite(right.observed)) {
    const isSameKind = Array.isArray(left.observed) === Array.isArray(right.observed);
    const isEmpty = namesOf(left.observed, right.observed).length === 0;
    if (isSameKind && !isEmpty) return yield* compareMembers(path, left.observed, right.observed);
  }
  yield* difference(path, observedOf(left), observedOf(right));
}

const observedOf = (value: Value): Side =>
  value ? { state: "observed", value: value.observed } : { state: "omitted" };

function* difference(path: readonly string[], left: Side, right: Side): Generator<Difference> {
  if (!isDeepStrictEqual(left, right)) yield { path: pointerOf(path), left, right };
}

const isComposite = (value: unknown): value is Json => typeof value === "object" && value !== null;

const membersOf = (value: unknown): Json => (isComposite(value) ? value : {});

const namesOf = (left: Json, right: Json): readonly string[] => [
  ...new Set([...Object.keys(left), ...Object.keys(right)]),
];
