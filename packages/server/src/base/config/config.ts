import { resolve } from "node:path";
import { conflicts } from "./rules.ts";
import type { Settings } from "./options.ts";
import { OPTION_PATHS, type Path, PATHS, settingOf, type SettingValues } from "./settings.ts";
import { attempt, describeName, type OwnMembers, membersOf } from "./members.ts";
import { path as pathKind, postgresUrl, type Result } from "./values.ts";

/** The members of `Flat` as nested objects. The names in `Flat` are paths such as `"throttle.burst"`. */
type Nested<Flat> = {
  readonly [P in keyof Flat as P extends `${infer Head}.${string}` ? Head : P]: P extends `${infer Head}.${string}`
    ? Nested<{ [Q in keyof Flat as Q extends `${Head}.${infer Rest}` ? Rest : never]: Flat[Q] }>
    : Flat[P];
};

/**
 * The effective configuration. It is immutable, its values are typed and respect all rules, and its paths are absolute.
 */
export interface Config extends Nested<SettingValues> {
  /** Whether the database is the embedded PostgreSQL. */
  readonly embedded: boolean;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] };

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings that were given, each with its value or its problem. */
type GivenValues = ReadonlyMap<Path, Result<unknown>>;

interface ReadChoices {
  readonly choices: GivenValues;
  readonly problems: readonly string[];
}

/** Whether the name of a variable is reserved for this server, even if the server does not know the variable. */
export const isOwnVariable = (name: string): boolean => name.startsWith("DRS_");

/** Reads the `DRS_` variables of an environment. Pure. Reports all problems at once, without the values. */
export function readConfig(environment: Environment, directory: string): ConfigResult {
  const { choices, problems } = readVariables(environment);
  return resolveConfig(choices, problems, variableOf, directory);
}

export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the variables as options. Settings of `service`, which are no options, are only checked. */
export function readSettings(environment: Environment, directory: string): SettingsResult {
  const { choices, problems } = readVariables(environment);
  const settled = resolveConfig(choices, problems, variableOf, directory);
  if (!settled.ok) return settled;
  const chosen = OPTION_PATHS.flatMap((path): [Path, unknown][] => {
    const result = choices.get(path);
    return result && "value" in result ? [[path, result.value]] : [];
  });
  return { ok: true, settings: freeze(nestValues(chosen)) };
}

/**
 * Checks options. An unknown member and a member that is `undefined` are problems. Pure.
 * @param fromVariables options that were read from variables. If an option still has such a value, a problem with it
 * names the variable.
 */
export function checkSettings(
  options: OwnMembers,
  directory: string,
  fromVariables: OwnMembers = new Map(),
): ConfigResult {
  const found = flatten(options);
  const given = flatten(fromVariables);
  const { choices, problems } = readMembers(found);
  const nameOf = (path: Path): string => (isSame(found.get(path), given.get(path)) ? variableOf(path) : path);
  return resolveConfig(choices, problems, nameOf, directory);
}

const isSame = (one: Result<unknown> | undefined, other: Result<unknown> | undefined): boolean =>
  one !== undefined && other !== undefined && "value" in one && "value" in other && one.value === other.value;

const variableOf = (path: Path): string => settingOf(path).variable;

const OPTION_NAMES = new Set<string>(OPTION_PATHS);
const isOption = (path: string): path is Path => OPTION_NAMES.has(path);
const GROUP_NAMES = new Set(
  OPTION_PATHS.flatMap((path) => [...path.matchAll(/\./g)].map(({ index }) => path.slice(0, index))),
);

function readMembers(members: ReadonlyMap<string, Result<unknown>>): ReadChoices {
  const choices = new Map<Path, Result<unknown>>();
  const problems: string[] = [];
  for (const [path, member] of members) {
    if (isOption(path)) choices.set(path, checkMember(path, member));
    else problems.push(`${path} ${"problem" in member ? member.problem : "is not an option"}`);
  }
  return { choices, problems };
}

const checkMember = (path: Path, member: Result<unknown>): Result<unknown> =>
  "problem" in member ? member : attempt(() => settingOf(path).kind.check(member.value));

/** The members by path. A group is listed only if it has a problem. */
function flatten(members: OwnMembers, prefix = ""): ReadonlyMap<string, Result<unknown>> {
  const all = [...members].flatMap(([name, member]): (readonly [string, Result<unknown>])[] => {
    const path = prefix + describeName(name);
    if (!GROUP_NAMES.has(path) || "problem" in member) return [[path, member]];
    const group = membersOf(member.value);
    return "problem" in group ? [[path, group]] : [...flatten(group.value, `${path}.`)];
  });
  return new Map(all);
}

const ENDS_WITH_LINE_BREAK = "ends with a line break: set it without one, for example by printf instead of echo";

/** What replaces the variables of an earlier release, by the start of their names. */
const REPLACEMENTS: readonly (readonly [prefix: string, advice: string])[] = [
  ["DRS_VAULT_", "let DRS_KEY_ENCRYPTION_KEY_COMMAND run deploy/vault/print-keys.mjs, which unwraps by Vault"],
  ["DRS_AUDIT_TIME_STAMP_", "let a job run openssl ts over DRS_AUDIT_CHECKPOINTS, as docs/privacy/audit.md describes"],
];

function replacementOf(name: string): string {
  const advice = REPLACEMENTS.find(([prefix]) => name.startsWith(prefix))?.[1];
  return advice === undefined ? "" : `: ${advice}`;
}

function readVariables(environment: Environment): ReadChoices {
  const variables = new Set(PATHS.map(variableOf));
  const problems = Object.keys(environment)
    .filter((name) => isOwnVariable(name) && !variables.has(name))
    .map((name) => `${describeName(name)} is not a variable of this server${replacementOf(name)}`);
  const choices = PATHS.flatMap((path): [Path, Result<unknown>][] => {
    const { variable, kind } = settingOf(path);
    const text = environment[variable];
    if (text === undefined) return [];
    return [[path, /[\r\n]$/.test(text) ? { problem: ENDS_WITH_LINE_BREAK } : kind.read(text)]];
  });
  return { choices: new Map(choices), problems };
}

function resolveConfig(
  choices: GivenValues,
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
  const valid = values as Partial<SettingValues>;
  problems.push(...conflicts({ isSet: (path) => choices.has(path), values: valid, nameOf, directory }));
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, config: withDefaultFolders(valid as SettingValues, directory) };
}

function defaultOf(path: Path): Result<unknown> {
  const { kind, fallback } = settingOf(path);
  return fallback === undefined ? { value: undefined } : kind.read(fallback);
}

function withDefaultFolders(values: SettingValues, directory: string): Config {
  const embedded = values["database.url"] === undefined;
  const folder = (chosen: string | undefined, other: string | undefined, fallback: string): string | undefined =>
    chosen ?? (embedded && other === undefined ? fallback : undefined);
  const effective: SettingValues = {
    ...values,
    "keys.directory": folder(values["keys.directory"], values["keys.databaseUrl"], "./.keys"),
    "journal.directory": folder(values["journal.directory"], values["journal.databaseUrl"], "./.erasures"),
  };
  const located = PATHS.map((path): [Path, unknown] => {
    const value = effective[path];
    return [path, settingOf(path).kind === pathKind && typeof value === "string" ? resolve(directory, value) : value];
  });
  return freeze({ ...nestValues(located), embedded }) as Config;
}

type Group = { [name: string]: unknown };

function nestValues(values: Iterable<readonly [Path, unknown]>): Group {
  const root: Group = {};
  for (const [path, value] of values) {
    const names = path.split(".");
    const last = names.pop() ?? "";
    const group = names.reduce((outer, name) => (outer[name] ??= {}) as Group, root);
    group[last] = value;
  }
  return root;
}

/** Typed arrays are skipped: `Object.freeze` throws on them. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}

/**
 * Reads one setting of an environment whose other variables may have problems. If the setting itself has a problem, the
 * result is the default.
 */
export function readSetting<P extends Path>(path: P, environment: Environment): SettingValues[P] {
  const { variable, kind } = settingOf(path);
  const text = environment[variable];
  const result = text === undefined ? defaultOf(path) : kind.read(text);
  return ("value" in result ? result : (defaultOf(path) as { value: unknown })).value as SettingValues[P];
}

/** A setting as a person sees it. */
export interface DescribedSetting {
  /** Name of the variable. */
  readonly name: string;
  /** The value, or `null` if there is none; a secret that has a value is masked. */
  readonly value: unknown;
  /**
   * The value as a text. A number is as written in the environment or in the default, so that a duration has its unit.
   */
  readonly text: string;
}

/** The effective configuration, secrets masked. */
export function describeConfig(config: Config, environment: Environment): readonly DescribedSetting[] {
  return PATHS.map((path) => {
    const { variable: name, secret, fallback } = settingOf(path);
    const found: unknown = valueAt(config, path);
    const value = secret && found !== undefined ? masked(path, found) : (found ?? null);
    const written = environment[name] ?? fallback ?? "";
    return { name, value, text: typeof value === "number" ? written : formatted(value) };
  });
}

const MASK = "(set)";

/** What may be shown of a secret. A URL shows which login and database it names, and hides the password. */
function masked(path: Path, secret: unknown): string {
  if (settingOf(path).kind !== postgresUrl || typeof secret !== "string") return MASK;
  const url = new URL(secret);
  if (url.password !== "") url.password = MASK;
  return url.href.replaceAll("%28set%29", MASK);
}

function formatted(value: unknown): string {
  if (value === null) return "";
  return Array.isArray(value) ? value.join(",") : typeof value === "string" ? value : JSON.stringify(value);
}

export const valueAt = <P extends Path>(config: Config, path: P): SettingValues[P] =>
  path.split(".").reduce<unknown>((group, name) => (group as Group)[name], config) as SettingValues[P];
