import { resolve } from "node:path";
import { conflicts } from "./rules.ts";
import { type Path, PATHS, settingOf, type Values } from "./settings.ts";
import { path as pathKind, type Result } from "./values.ts";

/** Members by path, such as `"throttle.burst"`, as nested objects. */
type Nested<Flat> = {
  readonly [P in keyof Flat as P extends `${infer Head}.${string}` ? Head : P]: P extends `${infer Head}.${string}`
    ? Nested<{ [Q in keyof Flat as Q extends `${Head}.${infer Rest}` ? Rest : never]: Flat[Q] }>
    : Flat[P];
};

/** The effective configuration, immutable: every value typed, every rule between values held, folders absolute. */
export interface Config extends Nested<Values> {
  /** Whether the embedded PostgreSQL serves. */
  readonly embedded: boolean;
}

export type ConfigResult =
  { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly problems: readonly string[] };

export type Environment = Readonly<Record<string, string | undefined>>;

/** What was set: the value or its problem. */
type Choices = ReadonlyMap<Path, Result<unknown>>;

/** Reads the `DRS_` variables of an environment. Pure; reports every problem at once; values of secrets stay out of it. */
export function readConfig(environment: Environment, directory: string): ConfigResult {
  const { choices, problems } = readVariables(environment);
  return settle(choices, problems, (path) => settingOf(path).variable, directory);
}

function readVariables(environment: Environment): { choices: Choices; problems: readonly string[] } {
  const variables = new Set<string>(PATHS.map((path) => settingOf(path).variable));
  const problems = Object.keys(environment)
    .filter((name) => name.startsWith("DRS_") && !variables.has(name))
    .map((name) => `${name} is not a variable of this server`);
  const choices = PATHS.flatMap((path): [Path, Result<unknown>][] => {
    const { variable, kind } = settingOf(path);
    const text = environment[variable];
    return text === undefined ? [] : [[path, kind.read(text)]];
  });
  return { choices: new Map(choices), problems };
}

function settle(
  choices: Choices,
  found: readonly string[],
  nameOf: (path: Path) => string,
  directory: string,
): ConfigResult {
  const problems = [...found];
  const values: Partial<Record<Path, unknown>> = {};
  for (const path of PATHS) {
    const result = choices.get(path) ?? defaultOf(path);
    if ("problem" in result) problems.push(`${nameOf(path)} ${result.problem}`);
    else values[path] = result.value;
  }
  const valid = values as Partial<Values>;
  problems.push(...conflicts({ isSet: (path) => choices.has(path), values: valid, nameOf, directory }));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config: complete(valid as Values, directory) };
}

function defaultOf(path: Path): Result<unknown> {
  const { kind, fallback } = settingOf(path);
  return fallback === undefined ? { value: undefined } : kind.read(fallback);
}

function complete(values: Values, directory: string): Config {
  const embedded = values["database.url"] === undefined;
  const folder = (chosen: string | undefined, other: string | undefined, fallback: string): string | undefined =>
    chosen ?? (embedded && other === undefined ? fallback : undefined);
  const effective: Values = {
    ...values,
    "keys.directory": folder(values["keys.directory"], values["keys.databaseUrl"], "./.keys"),
    "journal.directory": folder(values["journal.directory"], values["journal.databaseUrl"], "./.erasures"),
  };
  const located = PATHS.map((path): [Path, unknown] => {
    const value = effective[path];
    return [path, settingOf(path).kind === pathKind && typeof value === "string" ? resolve(directory, value) : value];
  });
  return freeze({ ...nested(located), embedded }) as Config;
}

type Group = { [name: string]: unknown };

function nested(values: Iterable<readonly [Path, unknown]>): Group {
  const root: Group = {};
  for (const [path, value] of values) {
    const names = path.split(".");
    const last = names.pop() ?? "";
    const group = names.reduce((outer, name) => (outer[name] ??= {}) as Group, root);
    group[last] = value;
  }
  return root;
}

/** Bytes can't be frozen. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}

/** One setting of an environment whose other variables may have problems; its own gives the default then. */
export function readSetting<P extends Path>(path: P, environment: Environment): Values[P] {
  const { variable, kind } = settingOf(path);
  const text = environment[variable];
  const result = text === undefined ? defaultOf(path) : kind.read(text);
  return ("value" in result ? result : (defaultOf(path) as { value: unknown })).value as Values[P];
}

/** The effective values for people to read, by variable, secrets masked. */
export function describeConfig(config: Config): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    PATHS.map((path) => {
      const { variable, secret } = settingOf(path);
      const value: unknown = valueAt(config, path);
      return [variable, secret && value !== undefined ? "(set)" : (value ?? null)];
    }),
  );
}

export function valueAt<P extends Path>(config: Config, path: P): Values[P] {
  return path.split(".").reduce<unknown>((group, name) => (group as Group)[name], config) as Values[P];
}
