/** The stored form of the features of one event in one layer. It is the same for the same results, byte by byte. */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { FeatureValue, InputState, Result, ResultState } from "@device-risk-signals/features";

/** Random bytes of each row. */
export const SALT_BYTES = 16;

/** A feature's value or state, with the states of its inputs. */
export interface StoredResult {
  readonly state: ResultState;
  readonly value?: FeatureValue;
  /** Why its definition gave no result. */
  readonly failure?: string;
  readonly inputs: readonly InputState[];
}

export interface StoredFeatures {
  /** SHA-256 of the exact bytes of the raw event, in hexadecimal. */
  readonly sha256: string;
  /** The policy whose coverage masked the readings. */
  readonly policyVersion: number;
  /** In the order of the layer's members. */
  readonly results: readonly StoredResult[];
}

/** States as stored: by their place. New ones are added at the end. */
const RESULTS: readonly ResultState[] = [
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
];
const INPUTS: readonly InputState[] = [
  "observed",
  "omitted:probe-absent",
  "omitted:field-absent",
  "skipped",
  "skipped:disabled",
  "skipped:platform",
  "skipped:consent",
  "skipped:unsupported",
  "skipped:permission",
  "timeout",
  "error",
  "masked",
  "not-observed",
  "departed:string",
  "departed:number",
  "departed:boolean",
  "departed:null",
  "departed:array",
  "departed:object",
];

/** A state that this version does not know is stored as its text. */
type StoredState<State extends string> = number | State;

const coded = <State extends string>(known: readonly State[], state: State): StoredState<State> => {
  const place = known.indexOf(state);
  return place === -1 ? state : place;
};

const decoded = <State extends string>(known: readonly State[], stored: StoredState<State>): State => {
  const state = typeof stored === "number" ? known[stored] : stored;
  if (state === undefined) throw new Error("a later version stored this state");
  return state;
};

/** State, states of the inputs, and the value or the failure. */
type Entry = readonly [
  state: StoredState<ResultState>,
  inputs: readonly StoredState<InputState>[],
  rest?: FeatureValue,
];

/** @param salt random bytes, so that the hash of a row tells nothing about its values. */
export function encodeFeatures(
  exact: Uint8Array,
  results: readonly Result[],
  policyVersion: number,
  salt: Buffer,
): Buffer {
  const sha256 = createHash("sha256").update(exact).digest("base64");
  const entries = results.map((result): Entry => {
    const inputs = result.inputs.map((state) => coded(INPUTS, state));
    const state = coded(RESULTS, result.state);
    if (result.state === "observed") return [state, inputs, result.value];
    return result.state === "failed" ? [state, inputs, result.failure] : [state, inputs];
  });
  return Buffer.from(JSON.stringify([sha256, entries, policyVersion, salt.toString("base64url")]));
}

export function decodeFeatures(payload: Buffer): StoredFeatures {
  const [sha256, entries, policyVersion] = JSON.parse(payload.toString("utf8")) as [string, Entry[], number];
  return { sha256: Buffer.from(sha256, "base64").toString("hex"), policyVersion, results: entries.map(decodeEntry) };
}

/** The states and values alone, in the order of the layer's members. */
export function decodeValues(payload: Buffer): readonly Pick<StoredResult, "state" | "value">[] {
  const [, entries] = JSON.parse(payload.toString("utf8")) as [string, Entry[]];
  return entries.map(([stored, , rest]) => {
    const state = decoded(RESULTS, stored);
    return rest === undefined || state === "failed" ? { state } : { state, value: rest };
  });
}

/** Whether two computations of one event gave the same. */
export const isSameResult = (one: StoredFeatures, other: StoredFeatures): boolean =>
  one.sha256 === other.sha256 && isDeepStrictEqual(one.results, other.results);

function decodeEntry([stored, storedInputs, rest]: Entry): StoredResult {
  const state = decoded(RESULTS, stored);
  const inputs = storedInputs.map((input) => decoded(INPUTS, input));
  if (rest === undefined) return { state, inputs };
  return state === "failed" ? { state, failure: String(rest), inputs } : { state, value: rest, inputs };
}
