import { CATALOG } from "@device-risk-signals/contract/catalog";
import { pointerOf } from "@device-risk-signals/contract";
import type { Covers, EventProbes } from "../base/ports.ts";
import { SENSITIVITIES, type Sensitivity } from "./policy.ts";

/**
 * Finds the probes and fields of an event that a purpose does not cover, one at a time, as JSON Pointers into the
 * request.
 */
export type FindUncovered = (probes: EventProbes) => Iterable<string>;

const catalog = new Map(CATALOG.map((probe) => [probe.id, probe]));

/**
 * Composes the search for what a purpose does not cover.
 * @param probes ids of the covered probes; `null` covers all.
 * @param highest the highest sensitivity of a covered field; `null` sets no limit. A limit excludes fields that the
 * catalog does not know, except for one case: if `probes` is `null` and `highest` is `high`, everything is covered.
 * @returns `undefined` if everything is covered.
 */
export function coverageOf(probes: readonly string[] | null, highest: Sensitivity | null): FindUncovered | undefined {
  if (!probes && (highest === null || highest === "high")) return undefined;
  const named = probes && new Set(probes);
  const covers = fieldCoverageOf(highest);
  const coversAll: Covers = (probe, field) =>
    (!named || named.has(probe)) && (field === undefined || covers(probe, field));
  return function* (event) {
    if (event.areCovered(coversAll)) return;
    const observed = event.parsed();
    for (const probe of Object.keys(observed)) {
      if (named && !named.has(probe)) yield pointerOf(["observations", "probes", probe]);
      else if (highest !== null) yield* fieldsBeyond(probe, observed[probe], covers);
    }
  };
}

/** Whether the purpose covers a field of a probe. */
export type CoversField = (probe: string, field: string) => boolean;

/** Answers for a single field what `coverageOf` finds for a whole event. */
export function coversOf(probes: readonly string[] | null, highest: Sensitivity | null): CoversField {
  if (!probes && highest === "high") return () => true;
  const named = probes && new Set(probes);
  const covers = fieldCoverageOf(highest);
  return (probe, field) => (!named || named.has(probe)) && covers(probe, field);
}

function fieldCoverageOf(highest: Sensitivity | null): CoversField {
  if (highest === null) return () => true;
  return (probe, name) => {
    const known = catalog.get(probe)?.fields ?? {};
    const sensitivity = Object.hasOwn(known, name) ? known[name]?.sensitivity : undefined;
    return sensitivity !== undefined && SENSITIVITIES.indexOf(sensitivity) <= SENSITIVITIES.indexOf(highest);
  };
}

function* fieldsBeyond(probe: string, outcome: unknown, covers: CoversField): Iterable<string> {
  const data = (outcome as { data?: object } | null)?.data ?? {};
  for (const name of Object.keys(data)) {
    if (!covers(probe, name)) yield pointerOf(["observations", "probes", probe, "data", name]);
  }
}
