import type { Platform, ProbeId } from "@device-risk-signals/contract/catalog/fields";
import type { Evidence, Sources } from "../native/native-interface.ts";

/** The value of a field; `undefined` leaves it out, because its evidence is missing or incomplete. */
export type Value = string | number | boolean | readonly string[] | readonly number[];

/** Derives a field from evidence: what native code must read for it, and what that means. */
export interface Judgement {
  readonly sources: Partial<Sources>;
  /** Pure. Evidence has its declared shapes, but its content is hostile: any text, of any length within the bounds. */
  judge(evidence: Evidence): Value | undefined;
}

/** Judgements by the field's name in the catalog. */
export type Judgements = Readonly<Record<string, Judgement>>;

/** One request for what several need: lists are joined, each name once. */
export function mergeSources(several: readonly Partial<Sources>[]): Partial<Sources> {
  const merged: Record<string, unknown> = {};
  for (const sources of several) {
    for (const [source, argument] of Object.entries(sources)) {
      // A copy each time: what native code receives must not be what later collections ask for.
      const known = (merged[source] ?? []) as readonly unknown[];
      merged[source] = Array.isArray(argument) ? [...new Set([...known, ...argument])] : argument;
    }
  }
  return merged;
}

export type JudgementsByPlatform = Readonly<Record<Platform, Readonly<Partial<Record<ProbeId, Judgements>>>>>;
