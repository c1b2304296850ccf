/**
 * Helpers with which definitions compute an answer from readings. An answer is a value, or `null` if the readings do
 * not determine a value.
 */
import type { Reading } from "../reading.ts";

type Readings<T> = Readonly<Record<string, Reading<T>>>;

/** Counts the inputs that were observed `true`; `null` if no input was observed. */
export function countTrue(inputs: Readings<boolean>): number | null {
  const observed = valuesOf(inputs);
  return observed.length === 0 ? null : observed.filter((value) => value).length;
}

/** `true` if an input was observed `true`, `false` only if all were observed `false`; otherwise `null`. */
export function anyTrue(inputs: Readings<boolean>): boolean | null {
  const observed = valuesOf(inputs);
  if (observed.includes(true)) return true;
  return observed.length === Object.keys(inputs).length ? false : null;
}

function valuesOf<T>(inputs: Readings<T>): T[] {
  return Object.values(inputs).flatMap((reading) => (reading.state === "observed" ? [reading.value] : []));
}

type ValuesOf<Of extends readonly Reading<unknown>[]> = {
  readonly [At in keyof Of]: Of[At] extends Reading<infer T> ? T : never;
};

/** Computes an answer from values; `null` if one of the readings was not observed. */
export function whenObserved<const Of extends readonly Reading<unknown>[], Answer>(
  readings: Of,
  compute: (...values: ValuesOf<Of>) => Answer,
): Answer | null {
  const values: unknown[] = [];
  for (const reading of readings) {
    if (reading.state !== "observed") return null;
    values.push(reading.value);
  }
  return compute(...(values as unknown as ValuesOf<Of>));
}
