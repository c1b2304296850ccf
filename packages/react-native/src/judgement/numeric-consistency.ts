import type { Calculated } from "../native/native-interface.ts";
import type { Judgement, Judgements, Value } from "./judgement.ts";

/** Arguments of different sizes, for which all functions have finite results. */
const INPUTS = [0.1, 0.5, 1, 2, 3.7, 10.25, 0.001, 100];
const FUNCTIONS = [Math.sin, Math.cos, Math.exp, Math.log, Math.sqrt];
const SEED = 20_240_229;
const COUNT = 64;

const sources = { numbers: { seed: SEED, count: COUNT, inputs: INPUTS } } as const;

function from(conclude: (calculated: Calculated) => Value | undefined): Judgement {
  return { sources, judge: ({ numbers }) => numbers && conclude(numbers) };
}

/** The expected integers: the linear congruential generator of "Numerical Recipes", modulo 2^32. */
function expectedIntegers(): readonly number[] {
  let x = SEED;
  return Array.from({ length: COUNT }, () => (x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0));
}

/**
 * The expected floats: the results of JavaScript's own functions. They are compared without a tolerance, because the
 * catalog has fields for the number of different results and for the largest difference.
 */
function expectedFloats(): readonly number[] {
  return INPUTS.flatMap((input) => FUNCTIONS.map((compute) => compute(input)));
}

/** The distance of each number from the expected number; `undefined` if the lists have different lengths. */
function distances(numbers: readonly number[], expected: readonly number[]): readonly number[] | undefined {
  if (numbers.length !== expected.length) return undefined;
  return expected.map((value, index) => Math.abs(value - (numbers[index] ?? 0)));
}

function ofIntegers(conclude: (distances: readonly number[]) => Value | undefined): Judgement {
  return from(({ integers }) => {
    const differences = distances(integers, expectedIntegers());
    return differences && conclude(differences);
  });
}

function ofFloats(conclude: (distances: readonly number[]) => Value | undefined): Judgement {
  return from(({ floats }) => {
    const differences = distances(floats, expectedFloats());
    return differences && conclude(differences);
  });
}

function mismatches(differences: readonly number[]): number {
  return differences.filter((distance) => distance !== 0).length;
}

export const numericConsistency: Judgements = {
  integerVectorMatches: ofIntegers((differences) => mismatches(differences) === 0),
  integerMismatchCount: ofIntegers(mismatches),
  floatSampleCount: ofFloats((differences) => differences.length),
  floatMismatchCount: ofFloats(mismatches),
  floatMaxAbsoluteDifference: ofFloats((differences) => {
    const largest = Math.max(...differences);
    return Number.isFinite(largest) ? largest : undefined;
  }),
  signedZeroPreserved: from(({ negativeZero }) => Object.is(negativeZero, -0)),
  subnormalPreserved: from(({ subnormal }) => subnormal === 2 ** -1074),
};
