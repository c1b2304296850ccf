/**
 * The stored form of the features of one event in one layer. Equal results of one event, with the same policy version
 * and salt, give the same bytes.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { FeatureValue, InputState, Result, ResultState } from "@device-risk-signals/features";
import { isTimeLimited } from "@device-risk-signals/features/result";

/** Number of random bytes of each row. */
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

/** A state is stored as its position in this list, so new states are added at the end. */
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

const HASH_BYTES = 32;

/** What follows the states of the inputs: a value, or the failure of a definition. */
const KINDS = { nothing: 0, false: 1, true: 2, integer: 3, number: 4, text: 5 } as const;

/**
 * The first byte of a result is the position of its state in `RESULTS`, plus 16 times the kind of what follows its
 * inputs.
 */
const KIND_UNIT = 16;
/** Used for a state that this version does not know: the text of the state follows. */
const UNKNOWN_RESULT = KIND_UNIT - 1;
const UNKNOWN_INPUT = 0xff;

/**
 * Fingerprint, policy version, number of results, each result, and the salt to the end. Integers are base 128, lowest
 * digit first, with the highest bit in all digits but the last. JSON needs three times as many bytes.
 * @param salt random bytes, so that the hash of a row tells nothing about its values.
 */
export function encodeFeatures(
  exact: Uint8Array,
  results: readonly Result[],
  policyVersion: number,
  salt: Buffer,
): Buffer {
  const bytes: number[] = [];
  writeInteger(bytes, policyVersion);
  writeInteger(bytes, results.length);
  for (const result of results) writeResult(bytes, result);
  return Buffer.concat([createHash("sha256").update(exact).digest(), Buffer.from(bytes), salt]);
}

function writeResult(bytes: number[], result: Result): void {
  const { state, inputs } = result;
  const rest = result.state === "observed" ? result.value : result.state === "failed" ? result.failure : undefined;
  const place = RESULTS.indexOf(state);
  bytes.push((place === -1 ? UNKNOWN_RESULT : place) + KIND_UNIT * kindOf(rest));
  if (place === -1) writeText(bytes, state);
  // Usually all inputs have the same state, which is then written once.
  const [first] = inputs;
  const isUniform = first !== undefined && inputs.every((input) => input === first);
  writeInteger(bytes, inputs.length * 2 + Number(isUniform));
  for (const input of isUniform ? [first] : inputs) writeInput(bytes, input);
  writeRest(bytes, rest);
}

function writeInput(bytes: number[], state: InputState): void {
  const place = INPUTS.indexOf(state);
  bytes.push(place === -1 ? UNKNOWN_INPUT : place);
  if (place === -1) writeText(bytes, state);
}

function kindOf(rest: FeatureValue | undefined): number {
  if (rest === undefined) return KINDS.nothing;
  if (typeof rest === "boolean") return rest ? KINDS.true : KINDS.false;
  if (typeof rest === "string") return KINDS.text;
  return Number.isSafeInteger(rest) && rest >= 0 ? KINDS.integer : KINDS.number;
}

function writeRest(bytes: number[], rest: FeatureValue | undefined): void {
  if (typeof rest === "string") writeText(bytes, rest);
  if (typeof rest !== "number") return;
  if (kindOf(rest) === KINDS.integer) return writeInteger(bytes, rest);
  const eight = Buffer.alloc(8);
  eight.writeDoubleBE(rest);
  bytes.push(...eight);
}

function writeInteger(bytes: number[], value: number): void {
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) {
      bytes.push(left);
      return;
    }
    bytes.push((left % 128) + 128);
  }
}

function writeText(bytes: number[], text: string): void {
  const utf8 = Buffer.from(text);
  writeInteger(bytes, utf8.length);
  for (const byte of utf8) bytes.push(byte);
}

export function decodeFeatures(payload: Buffer): StoredFeatures {
  const reader = new Reader(payload);
  const sha256 = reader.bytes(HASH_BYTES).toString("hex");
  const policyVersion = reader.integer();
  const results: StoredResult[] = [];
  for (let left = reader.integer(); left > 0; left--) results.push(reader.result());
  return { sha256, policyVersion, results };
}

/** A state and a value without the states of the inputs. The value is `null` in each state except `observed`. */
export interface StoredValue {
  readonly state: ResultState;
  readonly value: FeatureValue | null;
}

/** The states and values alone, in the order of the layer's members. */
export function decodeValues(payload: Buffer): readonly StoredValue[] {
  const reader = new Reader(payload);
  reader.bytes(HASH_BYTES);
  reader.integer();
  return Array.from({ length: reader.integer() }, () => reader.value());
}

class Reader {
  readonly #payload: Buffer;
  #at = 0;

  constructor(payload: Buffer) {
    this.#payload = payload;
  }

  bytes(length: number): Buffer {
    return this.#payload.subarray(this.#at, (this.#at += length));
  }

  integer(): number {
    let value = 0;
    for (let digit = 1; ; digit *= 128) {
      const byte = this.#byte();
      value += (byte % 128) * digit;
      if (byte < 128) return value;
    }
  }

  result(): StoredResult {
    const first = this.#byte();
    const state = this.#state(first);
    const inputs = this.#inputs();
    const rest = this.#rest(Math.floor(first / KIND_UNIT));
    if (rest === undefined) return { state, inputs };
    return state === "failed" ? { state, failure: String(rest), inputs } : { state, value: rest, inputs };
  }

  value(): StoredValue {
    const first = this.#byte();
    const state = this.#state(first);
    const counted = this.integer();
    // Equal states of inputs are stored once.
    for (let left = counted % 2 === 1 ? Math.min(counted - 1, 2) / 2 : counted / 2; left > 0; left--) this.#input();
    const rest = this.#rest(Math.floor(first / KIND_UNIT));
    return { state, value: state === "failed" || rest === undefined ? null : rest };
  }

  #state(first: number): ResultState {
    const place = first % KIND_UNIT;
    return place === UNKNOWN_RESULT ? (this.#text() as ResultState) : known(RESULTS, place);
  }

  #inputs(): readonly InputState[] {
    const counted = this.integer();
    const isUniform = counted % 2 === 1;
    const inputs: InputState[] = [];
    for (let left = Math.floor(counted / 2); left > 0; left--) {
      const [same] = inputs;
      inputs.push(isUniform && same !== undefined ? same : this.#input());
    }
    return inputs;
  }

  #input(): InputState {
    const place = this.#byte();
    return place === UNKNOWN_INPUT ? this.#text() : known(INPUTS, place);
  }

  #rest(kind: number): FeatureValue | undefined {
    if (kind === KINDS.integer) return this.integer();
    if (kind === KINDS.number) return this.bytes(8).readDoubleBE();
    if (kind === KINDS.text) return this.#text();
    return kind === KINDS.nothing ? undefined : kind === KINDS.true;
  }

  #text(): string {
    return this.bytes(this.integer()).toString("utf8");
  }

  #byte(): number {
    const byte = this.#payload[this.#at++];
    if (byte === undefined) throw new Error("stored features end too early");
    return byte;
  }
}

function known<State extends string>(states: readonly State[], place: number): State {
  const state = states[place];
  if (state === undefined) throw new Error("a later version stored this state");
  return state;
}

/** Whether two computations of one event gave the same results. What failed because of its time is not compared. */
export const isSameResult = (one: StoredFeatures, other: StoredFeatures): boolean =>
  one.sha256 === other.sha256 &&
  one.results.length === other.results.length &&
  one.results.every((result, index) => {
    const second = other.results[index] as StoredResult;
    return isTimeLimited(result) || isTimeLimited(second) || isDeepStrictEqual(result, second);
  });

/**
 * Whether a second computation of an event has results that the stored one lacks because of its time, and lacks none
 * that the stored one has.
 */
export function isMoreComplete(second: StoredFeatures, stored: StoredFeatures): boolean {
  const [lacksNow, lackedBefore] = [second, stored].map(({ results }) => results.map(isTimeLimited)) as [
    boolean[],
    boolean[],
  ];
  return (
    lacksNow.every((lacks, index) => !lacks || lackedBefore[index]) &&
    lackedBefore.some((lacked, index) => lacked && !lacksNow[index])
  );
}
