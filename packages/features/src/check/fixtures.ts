/**
 * Reads fixtures: a JSON file next to a definition, with cases. A case has readings and the result that they must give.
 */
import { readFileSync } from "node:fs";
import { fits } from "@device-risk-signals/contract/catalog/check";
import { SKIPPED_REASONS } from "@device-risk-signals/contract";
import type { Manifest, ManifestInput } from "../manifest.ts";
import type { JsonType, Reading } from "../reading.ts";
import { type FeatureValue, type Result, RESULT_STATES } from "../result.ts";

export interface FixtureCase {
  readonly name: string;
  /** A reading for each input, in the order of the inputs. */
  readonly readings: readonly Reading<unknown>[];
  readonly expected: Expected;
}

/** An observed value, or the state of a result that has no value. */
export type Expected = { readonly observed: FeatureValue } | string;

export type ReadFixtures =
  | { readonly ok: true; readonly cases: readonly FixtureCase[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The name under which a case gives a reading for all inputs that it does not name. */
const OTHER_INPUTS = "*";

/**
 * Maximum number of fixtures multiplied by the square of the number of inputs. For each fixture, each input gets each
 * state in a case that has a reading for each input.
 */
const MAX_READINGS = 20_000;
/** Maximum number of characters of the readings of all cases, the derived ones included. */
const MAX_CHARACTERS = 4_000_000;

const JSON_TYPES: readonly JsonType[] = ["string", "number", "boolean", "null", "array", "object"];

/** The readings without a value, by the text that names each in a fixtures file. */
export const UNOBSERVED: ReadonlyMap<string, Reading<never>> = new Map<string, Reading<never>>([
  ["omitted:probe-absent", { state: "omitted", why: "probe-absent" }],
  ["omitted:field-absent", { state: "omitted", why: "field-absent" }],
  ...SKIPPED_REASONS.map((reason): [string, Reading<never>] => [`skipped:${reason}`, { state: "skipped", reason }]),
  ["timeout", { state: "timeout" }],
  ["error", { state: "error" }],
  ["masked", { state: "masked" }],
  ["not-observed", { state: "not-observed" }],
  ...JSON_TYPES.map((type): [string, Reading<never>] => [`departed:${type}`, { state: "departed", type }]),
]);

const UNOBSERVED_STATES = new Set([...UNOBSERVED.values()].map(({ state }) => state)).size;

/** Reads the fixtures of a feature: `{"cases": [{"name", "inputs": {NAME: {"observed": …} or "timeout" …}, "result"}]}`. */
export const readFixtures = (file: string, manifest: Manifest): ReadFixtures =>
  parseFixtures(readFixtureFile(file), manifest);

/** @returns the parsed content of a fixtures file; `null` if the file is missing or is not JSON */
export function readFixtureFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}

export function parseFixtures(content: unknown, manifest: Manifest): ReadFixtures {
  if (typeof content !== "object" || content === null) {
    return { ok: false, problems: ["the file of fixtures is missing, or no JSON object"] };
  }
  const { cases } = content as { readonly cases?: unknown };
  if (!Array.isArray(cases)) return { ok: false, problems: ["the fixtures have no array `cases`"] };
  // guard(false): the cases that are derived from fixtures fit into memory
  if (cases.length * manifest.inputs.length ** 2 > MAX_READINGS) {
    const largest = Math.floor(MAX_READINGS / manifest.inputs.length ** 2);
    return { ok: false, problems: [`${cases.length} fixtures; a feature with these inputs may have ${largest}`] };
  }
  const problems: string[] = [];
  const fixtureCases = cases.map((item: unknown, at) => {
    const fixture = (item ?? {}) as Readonly<Record<string, unknown>>;
    const name = typeof fixture["name"] === "string" ? fixture["name"] : `case ${at + 1}`;
    const report = (problem: string): unknown => problems.push(`fixture ${JSON.stringify(name)}: ${problem}`);
    const inputs = (fixture["inputs"] ?? {}) as Readonly<Record<string, unknown>>;
    const names = new Set([OTHER_INPUTS, ...manifest.inputs.map((input) => input.name)]);
    for (const other of Object.keys(inputs))
      if (!names.has(other)) report(`no input is named ${JSON.stringify(other)}`);
    const readings = manifest.inputs.map((input) => readReading(input, inputs, report));
    return { name, readings, expected: readExpected(fixture["result"], report) };
  });
  if (problems.length > 0) return { ok: false, problems };
  const written = fixtureCases.reduce((sum, { readings }) => sum + JSON.stringify(readings).length, 0);
  // guard(false): the texts of the cases that are derived from fixtures fit into memory
  if (written * manifest.inputs.length * UNOBSERVED_STATES > MAX_CHARACTERS) {
    return { ok: false, problems: ["the fixtures are too long: each is repeated for each input and each state"] };
  }
  return { ok: true, cases: fixtureCases };
}

type Report = (problem: string) => unknown;

function readReading(
  input: ManifestInput,
  inputs: Readonly<Record<string, unknown>>,
  report: Report,
): Reading<unknown> {
  const written = Object.hasOwn(inputs, input.name) ? inputs[input.name] : inputs[OTHER_INPUTS];
  const unobserved = typeof written === "string" ? UNOBSERVED.get(written) : undefined;
  if (unobserved) return unobserved;
  const { observed: value } = (written ?? {}) as { readonly observed?: unknown };
  if (!fits(value, input)) report(`${input.name} is neither {"observed": ${input.type}} nor a state`);
  return { state: "observed", value };
}

function readExpected(written: unknown, report: Report): Expected {
  const isState = typeof written === "string" && written.startsWith("failed:");
  if (isState || (RESULT_STATES as readonly unknown[]).includes(written)) return written as string;
  const { observed } = (written ?? {}) as { readonly observed?: unknown };
  if (typeof observed === "object" || observed === undefined) report('`result` is neither {"observed": …} nor a state');
  return { observed: observed as FeatureValue };
}

/** A result in the form that fixtures files use. */
export function writeResult(result: Result): Expected {
  if (result.state === "observed") return { observed: result.value };
  return "failure" in result ? `failed:${result.failure}` : result.state;
}
