/** The counts of a feature's results, so that a reader learns of no group of a few events. */
import type { Output } from "@device-risk-signals/features";
import { SMALL } from "./confusion.ts";

/** How often results of one state, and for observed ones of one bin, were counted. */
export interface ResultCount {
  readonly state: string;
  /** Empty for states other than `observed`. */
  readonly bin: string;
  readonly occurrences: number;
}

export interface ShownCount {
  readonly name: string;
  /** `null`: fewer than 10. */
  readonly events: number | null;
  /** The share of the events that the numbers add up to, from 0 to 1; `null` of fewer than 100. */
  readonly share: number | null;
}

export interface ShownResults {
  readonly events: number | null;
  readonly states: ShownCount[];
  /** The groups of observed values, in the order of the definition. */
  readonly values: ShownCount[];
}

/**
 * A number that can be shown: rounded down to tens. Each number is rounded alone, so a total
 * less the other numbers of a page leaves many possible numbers. Pages of many overlapping periods together tell exact
 * numbers: their readers may read each value, too.
 */
export const roundedCount = (events: number): number => events - (events % SMALL);

/** A number of events as it is shown: rounded down to tens, and `null` from 1 to 9. */
export const showCount = (events: number): number | null =>
  // guard: a number says nothing of a few events
  events > 0 && events < SMALL ? null : roundedCount(events);

/** The results of a group of events. Of a group of fewer than 10 events it shows nothing. */
export function showResults(output: Output, counts: readonly ResultCount[]): ShownResults {
  const events = sumOf(counts);
  // guard(false): a small group shows no state
  if (showCount(events) === null) return { events: null, states: [], values: [] };
  const observed = counts.filter(({ state }) => state === "observed");
  const states = Map.groupBy(counts, ({ state }) => state);
  const sizes = new Map(observed.map(({ bin, occurrences }) => [bin, occurrences]));
  return {
    events: roundedCount(events),
    states: [...states].map(([name, of]) => showShare(name, sumOf(of), events)),
    values: binsOf(output, sizes).map((bin) => showShare(bin, sizes.get(bin) ?? 0, sumOf(observed))),
  };
}

const sumOf = (counts: readonly ResultCount[]): number => counts.reduce((sum, { occurrences }) => sum + occurrences, 0);

/** Of fewer events, rounded numbers give no share: 10 of 19 and 19 of 19 would both be 100 %. */
const LEAST_WITH_SHARE = 100;

function showShare(name: string, events: number, total: number): ShownCount {
  const shown = showCount(events);
  const share = shown === null || total < LEAST_WITH_SHARE ? null : Math.min(1, shown / roundedCount(total));
  return { name, events: shown, share: share === null ? null : Math.round(share * 1_000) / 1_000 };
}

/** All groups that an observed value can have, also those without events: a histogram shows them as empty. */
function binsOf(output: Output, sizes: ReadonlyMap<string, number>): readonly string[] {
  if (output.type === "flag") return ["true", "false"];
  if (output.type === "category") return output.values;
  const bins = output.bins.map(String);
  return [...[...sizes.keys()].filter((bin) => !bins.includes(bin)), ...bins];
}
