import { SKIPPED_REASONS } from "@device-risk-signals/contract";
import type { Reading, Unobserved } from "./reading.ts";

/** A value of a feature: a boolean for `flag`, a string for `category`, a number for `count` and `number`. */
export type FeatureValue = boolean | string | number;

/**
 * Why a feature failed. The cause is its program or a busy machine, not the states of its inputs. `time-limit`: it was
 * too slow for the event, or its account had no computing time left. Another computation may give another result.
 */
export const FAILURES = ["threw", "time-limit", "not-a-value", "wrong-type", "too-large", "no-value"] as const;
export type Failure = (typeof FAILURES)[number];

export const RESULT_STATES = [
  "observed",
  "omitted",
  "skipped",
  "timeout",
  "error",
  "masked",
  "not-observed",
  "departed",
  "mixed",
  "failed",
] as const;
export type ResultState = (typeof RESULT_STATES)[number];

/**
 * The state of one input as text. A state with several kinds has the kind after a colon: `omitted:probe-absent`,
 * `skipped:consent`, `departed:string`. A reason that is no word of the contract is left out, because the client chose
 * its text.
 */
export type InputState = string;

/** One feature of one event. `inputs` has the state of each input, in the order of the manifest. */
export type Result = { readonly inputs: readonly InputState[] } & (
  | { readonly state: "observed"; readonly value: FeatureValue }
  /** The state that all inputs without a value share. */
  | { readonly state: Unobserved["state"] }
  /** The inputs without a value are in different states. */
  | { readonly state: "mixed" }
  | { readonly state: "failed"; readonly failure: Failure }
);

/** Whether another computation may give another result, so that this one must not be compared. */
export const isTimeLimited = (result: { readonly state: string; readonly failure?: string }): boolean =>
  result.state === "failed" && result.failure === "time-limit";

const REASONS: ReadonlySet<string> = new Set(SKIPPED_REASONS);

export function inputStateOf(reading: Reading<unknown>): InputState {
  switch (reading.state) {
    case "omitted":
      return `omitted:${reading.why}`;
    case "skipped":
      return REASONS.has(reading.reason) ? `skipped:${reading.reason}` : "skipped";
    case "departed":
      return `departed:${reading.type}`;
    default:
      return reading.state;
  }
}

/** @returns the state of a feature without a value; `undefined` if every input was observed. */
export function sharedState(readings: readonly Reading<unknown>[]): Unobserved["state"] | "mixed" | undefined {
  let shared: Unobserved["state"] | undefined;
  for (const { state } of readings) {
    if (state === "observed" || state === shared) continue;
    if (shared !== undefined) return "mixed";
    shared = state;
  }
  return shared;
}
