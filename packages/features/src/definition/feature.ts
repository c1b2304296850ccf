import type { Output } from "../manifest.ts";
import type { Reading } from "../reading.ts";
import type { FieldInput } from "./field.ts";
import type { ValueOf } from "./outputs.ts";

export type Inputs = Readonly<Record<string, FieldInput<unknown>>>;

/** What `compute` receives: a reading for each declared input, and nothing else. */
export type ReadingsOf<Of extends Inputs> = {
  readonly [Name in keyof Of]: Of[Name] extends FieldInput<infer T> ? Reading<T> : never;
};

export interface Definition<Of extends Inputs = Inputs, Out extends Output = Output> {
  /** Lower-case letters, digits and `_`. The same id never gets another meaning. */
  readonly id: string;
  /** Starts at 1. Increases with each change of the values that `compute` gives. */
  readonly version: number;
  /** The team that answers questions about the feature. */
  readonly owner: string;
  /** One line: which fact the value states. No score, no verdict. */
  readonly meaning: string;
  /** Situations in which the value misleads. */
  readonly falseReadings: readonly string[];
  /** The purposes for whose events the feature may be computed. */
  readonly purposes: readonly string[];
  readonly inputs: Of;
  readonly output: Out;
  /**
   * @returns the value, or `null` if the readings do not determine a value. Then the states of the inputs determine the
   * state of the result.
   */
  readonly compute: (inputs: ReadingsOf<Of>) => ValueOf<Out> | null;
  /**
   * The path of the fixtures, relative to the file of the definition: a JSON file with cases and their expected
   * results.
   */
  readonly fixtures: string;
}

/** Declares a feature. The argument must be an object literal: the bundler reads its members. */
export function feature<const Of extends Inputs, Out extends Output>(
  definition: Definition<Of, Out>,
): typeof definition {
  return definition;
}
