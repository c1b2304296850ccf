/** Walks through two raw events side by side. The five states of the contract stay distinct. */

/** The state of a probe or a field in an event. A probe that gave data has the state `success`. */
export type Side =
  | { readonly state: "omitted" | "timeout" | "success" }
  | { readonly state: "skipped"; readonly reason: string }
  | { readonly state: "error"; readonly error: string }
  | { readonly state: "observed"; readonly value: unknown };
export type Json = Readonly<Record<string, unknown>>;

/** A path that one or both of the events have, and its state in each. */
export interface Pair {
  readonly path: readonly string[];
  readonly left: Side;
  readonly right: Side;
}

type Opens = (value: unknown) => value is Json;

/**
 * @param opens whether the members of a value are paired one by one; by default, of each object and array. If it is
 * false for one of two values, they are one pair.
 */
export function* pairsOf(left: Json, right: Json, opens: Opens = isComposite): Generator<Pair> {
  yield* pairMembers([], left, right, opens, ["probes"]);
  const [ones, others] = [probesOf(left), probesOf(right)];
  for (const probe of namesOf(ones, others)) {
    const path = ["probes", probe];
    const [one, other] = [outcomeOf(ones, probe), outcomeOf(others, probe)];
    if (isSuccess(one) && isSuccess(other)) yield* pairMembers([...path, "data"], one.data, other.data, opens);
    // If one of the events has no data of the probe, the outcomes are one pair, and no field counts as omitted.
    else yield { path, left: sideOf(one), right: sideOf(other) };
  }
}

type Outcome =
  | { readonly status: "success"; readonly data: Json }
  | { readonly status: "skipped"; readonly reason: string }
  | { readonly status: "timeout" }
  | { readonly status: "error"; readonly error: string };

export const probesOf = ({ probes }: Json): Json => (isComposite(probes) ? probes : {});

export const outcomeOf = (probes: Json, probe: string): Outcome | undefined =>
  Object.hasOwn(probes, probe) ? (probes[probe] as Outcome) : undefined;

const isSuccess = (outcome: Outcome | undefined): outcome is Outcome & { readonly status: "success" } =>
  outcome?.status === "success";

export function sideOf(outcome: Outcome | undefined): Side {
  if (outcome === undefined) return { state: "omitted" };
  if (outcome.status === "skipped") return { state: "skipped", reason: outcome.reason };
  if (outcome.status === "error") return { state: "error", error: outcome.error };
  return { state: outcome.status };
}

/** @param except names of members that the caller pairs in another way. */
function* pairMembers(
  path: readonly string[],
  left: Json,
  right: Json,
  opens: Opens,
  except: readonly string[] = [],
): Generator<Pair> {
  for (const name of namesOf(left, right)) {
    if (!except.includes(name)) yield* pairValues([...path, name], valueOf(left, name), valueOf(right, name), opens);
  }
}

type Value = { readonly observed: unknown } | undefined;

const valueOf = (members: Json, name: string): Value =>
  Object.hasOwn(members, name) ? { observed: members[name] } : undefined;

function* pairValues(path: readonly string[], left: Value, right: Value, opens: Opens): Generator<Pair> {
  if (left && right && opens(left.observed) && opens(right.observed)) {
    const isSameKind = Array.isArray(left.observed) === Array.isArray(right.observed);
    const isEmpty = namesOf(left.observed, right.observed).length === 0;
    if (isSameKind && !isEmpty) return yield* pairMembers(path, left.observed, right.observed, opens);
  }
  yield { path, left: observedOf(left), right: observedOf(right) };
}

const observedOf = (value: Value): Side =>
  value ? { state: "observed", value: value.observed } : { state: "omitted" };

/** Whether a value is an object and no array. */
export const isObject = (value: unknown): value is Json => isComposite(value) && !Array.isArray(value);

const isComposite = (value: unknown): value is Json => typeof value === "object" && value !== null;

const namesOf = (left: Json, right: Json): readonly string[] => [
  ...new Set([...Object.keys(left), ...Object.keys(right)]),
];
