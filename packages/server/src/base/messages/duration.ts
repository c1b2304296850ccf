import { plural } from "./plural.ts";

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** A duration for people, in the largest unit of which it has two: `90 seconds`, `3 days`. @param ms milliseconds */
export function describeDuration(ms: number): string {
  const [name, length] = UNITS.find(([, unit]) => ms >= 2 * unit) ?? ["millisecond", 1];
  return plural(Math.round(ms / length), name);
}

/** An age for people, which is known to the second. */
export const describeAge = (seconds: number): string =>
  seconds < 2 ? plural(seconds, "second") : describeDuration(seconds * 1_000);
