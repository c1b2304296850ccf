import type { Bundle } from "../manifest.ts";
import type { Reading } from "../reading.ts";
import type { ReadInput } from "../readings/readings.ts";
import { inputStateOf } from "../result.ts";
import { type Expected, type FixtureCase, UNOBSERVED } from "./fixtures.ts";

/** One reading for each state that has no value. */
const STATES = [...new Map([...UNOBSERVED.values()].map((reading) => [reading.state, reading])).values()];

/** A case of one feature. */
export interface Case extends Omit<FixtureCase, "expected"> {
  /** If absent, every result except `failed` is correct, but both engines must give the same result. */
  readonly expected?: Expected;
}

/**
 * The fixtures of a feature, and two kinds of derived cases. In the first kind all inputs have the same state without a
 * value, and the result must have that state. In the second kind one input of a fixture gets a state without a value,
 * and the definition must not fail.
 */
export function casesOf({ manifest: { inputs } }: Bundle, fixtures: readonly FixtureCase[]): Case[] {
  const shared = [...UNOBSERVED].map(([name, reading]) => ({
    name: `every input is ${name}`,
    readings: inputs.map(() => reading),
    expected: reading.state,
  }));
  const varied = fixtures.flatMap(({ name, readings }) =>
    inputs.flatMap((input, at) =>
      STATES.map((reading) => ({
        name: `${name}, and ${input.name} is ${inputStateOf(reading)}`,
        readings: readings.with(at, reading),
      })),
    ),
  );
  return [...fixtures, ...shared, ...varied];
}

/**
 * Finds what the fixtures of a feature do not show.
 *
 * @returns a problem for each value of a flag or category that no fixture expects, a problem if no fixture expects a
 * value, and, for a feature with several inputs, a problem if no fixture has both inputs with a value and inputs
 * without one
 */
export function gapsOf({ manifest: { inputs, output } }: Bundle, fixtures: readonly FixtureCase[]): string[] {
  const observed = new Set(
    fixtures.map(({ expected }) => (typeof expected === "object" ? expected.observed : undefined)),
  );
  const isMissing = (value: unknown): boolean => !observed.has(value as string);
  const isPartial = ({ readings }: FixtureCase): boolean => readings.some(isObserved) && !readings.every(isObserved);
  return [
    ...wantedValues(output)
      .filter(isMissing)
      .map((value) => `no fixture results in ${JSON.stringify(value)}`),
    ...([...observed].every((value) => value === undefined) ? ["no fixture results in a value"] : []),
    ...(inputs.length > 1 && !fixtures.some(isPartial) ? ["no fixture has inputs with and without a value"] : []),
  ];
}

function wantedValues(output: Bundle["manifest"]["output"]): readonly unknown[] {
  if (output.type === "flag") return [true, false];
  return output.type === "category" ? output.values : [];
}

function isObserved({ state }: Reading<unknown>): boolean {
  return state === "observed";
}

/**
 * Returns a function that reads inputs from a case, as `readEvent` does from an event. An input that the feature does
 * not have is omitted.
 */
export function readCase({ manifest }: Bundle, { readings }: Case): ReadInput {
  const byPath = new Map(manifest.inputs.map(({ path }, at) => [path.join("\0"), readings[at] as Reading<unknown>]));
  return ({ path }) => byPath.get(path.join("\0")) ?? { state: "omitted", why: "probe-absent" };
}
