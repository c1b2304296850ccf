import type { Platform, ProbeId } from "@device-risk-signals/contract/catalog/fields";
import type { Evidence, Sources } from "../native/native-interface.ts";

/** The value that a judgement concludes for a field. */
export type Value = string | number | boolean | readonly string[] | readonly number[];

/** Derives a field from evidence: `sources` says what native code must read, and `judge` what the evidence means. */
export interface Judgement {
  readonly sources: Partial<Sources>;
  /**
   * A pure function. Evidence has its declared shapes, but its content may be hostile: any text, of any length within
   * the bounds.
   * @returns `undefined` if the evidence is missing or incomplete. The field is then left out.
   */
  judge(evidence: Evidence): Value | undefined;
}

/** Judgements by the name of the field in the catalog. */
export type Judgements = Readonly<Record<string, Judgement>>;

/** Merges several requests into one: lists are joined, and each name occurs once. */
export function mergeSources(several: readonly Partial<Sources>[]): Partial<Sources> {
  const merged: Record<string, unknown> = {};
  for (const sources of several) {
    for (const [source, argument] of Object.entries(sources)) {
      // Makes a new list each time, because native code receives it and must not be able to change later requests.
      const known = (merged[source] ?? []) as readonly unknown[];
      merged[source] = Array.isArray(argument) ? [...new Set([...known, ...argument])] : argument;
    }
  }
  return merged;
}

export type JudgementsByPlatform = Readonly<Record<Platform, Readonly<Partial<Record<ProbeId, Judgements>>>>>;
