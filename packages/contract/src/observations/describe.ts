/** Describes the observations of an event: the state of each probe, and each observed field with its facts. */
import { CATALOG } from "../catalog/catalog.ts";
import type { Field, Sensitivity, Unit } from "../catalog/declare.ts";
import { whyNotObserved } from "../catalog/not-observed.ts";
import { pointerOf } from "../pointer.ts";
import { isObject, type Json, outcomeOf, pairsOf, probesOf, sideOf } from "./walk.ts";

export interface ProbeState {
  readonly probe: string;
  readonly state: "observed" | "omitted" | "skipped" | "timeout" | "error";
  /** Why the probe was skipped, or its error. */
  readonly reason: string | null;
}

/** A field that the event observed. What the catalog does not know is `null`. */
export interface ObservedField {
  /** JSON Pointer. */
  readonly path: string;
  readonly value: unknown;
  readonly unit: Unit | null;
  readonly sensitivity: Sensitivity | null;
  readonly meaning: string | null;
  /** Why the value is no observation, although the event has it. */
  readonly not_observed: string | null;
}

/** The states of the catalog's probes and of unknown probes of the event. */
export function describeProbes(event: Json): readonly ProbeState[] {
  const probes = probesOf(event);
  const names = new Set([...CATALOG.map(({ id }) => id), ...Object.keys(probes)]);
  return Array.from(names, (probe) => {
    const side = sideOf(outcomeOf(probes, probe));
    if (side.state === "success") return { probe, state: "observed", reason: null };
    if (side.state === "skipped") return { probe, state: side.state, reason: side.reason };
    return { probe, state: side.state, reason: side.state === "error" ? side.error : null };
  });
}

/** @param platform the platform of the event. */
export function* describeFields(event: Json, platform: string): Generator<ObservedField> {
  for (const { path, left: side } of pairsOf(event, event, isObject)) {
    if (side.state !== "observed") continue;
    const [root, probe = "", , ...names] = path;
    const { unit = null, sensitivity = null, meaning = null } = (root === "probes" && fieldOf(probe, ...names)) || {};
    const not_observed = root === "probes" ? notObserved(event, probe, names, platform) : null;
    yield { path: pointerOf(path), value: side.value, unit, sensitivity, meaning, not_observed };
  }
}

const probes = new Map(CATALOG.map((probe) => [probe.id, probe]));

/** The catalog's declaration of a field, or of a member of an object. @param names from the probe down. */
export function fieldOf(probe: string, ...names: readonly string[]): Field | undefined {
  let [field, fields]: [Field | undefined, Field["fields"]] = [undefined, probes.get(probe)?.fields];
  for (const name of names) {
    field = fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
    fields = field?.fields;
  }
  return field;
}

function notObserved(event: Json, id: string, names: readonly string[], platform: string): string | null {
  const [probe, outcome] = [probes.get(id), outcomeOf(probesOf(event), id)];
  if (!probe || outcome?.status !== "success") return null;
  const found = whyNotObserved(probe, names[0] ?? "", fieldOf(id, ...names), { data: outcome.data, platform });
  return found ? (found.why === "constant" ? `a constant on ${platform}` : `${found.field} is false`) : null;
}
