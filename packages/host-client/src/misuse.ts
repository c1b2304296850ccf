import type { HostAbortSignal } from "./host-globals.ts";

/**
 * Throws a `TypeError` that names every problem at once, if there is one. Its message has names of options and rules,
 * and no values.
 */
export function throwMisuse(caller: string, problems: readonly (string | false | undefined)[]): void {
  const found = problems.filter(Boolean);
  if (found.length > 0) throw new TypeError(`${caller}: ${found.join("; ")}`);
}

/** @returns a problem if the value is not a text of `min` to `max` code points; otherwise `false` */
export function textProblem(name: string, value: unknown, max: number, min = 1): string | false {
  const fits = typeof value === "string" && value.length >= min && [...value].length <= max;
  return !fits && `${name} must have ${min} to ${max} characters`;
}

/**
 * The largest number that an option may have. As milliseconds it is about eleven days. `deliver.ts` waits at most twice
 * as long, for `Retry-After` and a pause, which is less than the longest timer of 2^31 - 1 ms.
 */
const MAX_INTEGER = 1_000_000_000;

/** Returns a problem for each of these options that is not a whole number from 1 to `max`. */
export function problemsOfWholeNumbers<Options>(
  options: Options,
  names: readonly (keyof Options & string)[],
  max = MAX_INTEGER,
): (string | false)[] {
  return names.map((name) => {
    const value = options[name] as number;
    return (
      !(Number.isInteger(value) && value >= 1 && value <= max) && `${name} must be a whole number from 1 to ${max}`
    );
  });
}

/** Returns a problem for each of these members that is not a function. */
export function functionProblems<Port>(
  port: Port | undefined,
  names: readonly (keyof Port & string)[],
): (string | false)[] {
  return names.map((name) => typeof port?.[name] !== "function" && `${name} must be a function`);
}

/**
 * Checks a signal before any work starts. A signal without `addEventListener` would fail in a timer, where no caller
 * can catch the error.
 */
export function requireSignal(signal: HostAbortSignal | null | undefined): void {
  if (signal === undefined || signal === null) return;
  throwMisuse("signal", functionProblems(signal, ["addEventListener", "removeEventListener"]));
}

/** The options, with the default of each option that is absent or `undefined`. */
export function withDefaults<Options extends object, Defaults>(
  options: Options,
  defaults: Defaults,
): Options & Defaults {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) } as Options & Defaults;
}
