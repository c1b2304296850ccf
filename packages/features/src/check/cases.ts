import type { Bundle } from "../manifest.ts";
import type { Reading } from "../reading.ts";
import type { ReadInput } from "../readings/readings.ts";
import { inputStateOf } from "../result.ts";
import { type Expected, type FixtureCase, UNOBSERVED } from "./fixtures.ts";

/** One reading of each state without a value. */
const STATES = [...new Map([...UNOBSERVED.values()].map((reading) => [reading.state, reading])).values()];

/** A case of one feature. */
export interface Case extends Omit<FixtureCase, "expected"> {
  /** If it is absent, any result except `failed` is correct, but both engines must give the same one. */
  readonly expected?: Expected;
}

/**
 * The fixtures of a feature, and two kinds of derived cases. If all inputs have one state, the result must have that
 * state. If one input of a fixture gets any other state, the definition must still return a result.
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

/** The values and states that the fixtures of a feature do not cover. */
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

/** Reads the inputs of a case in place of an event; inputs of other features are omitted. */
export function readCase({ manifest }: Bundle, { readings }: Case): ReadInput {
  const byPath = new Map(manifest.inputs.map(({ path }, at) => [path.join("\0"), readings[at] as Reading<unknown>]));
  return ({ path }) => byPath.get(path.join("\0")) ?? { state: "omitted", why: "probe-absent" };
}
