/**
 * Expands the corpus's short form (see README.md in this folder). The code is pure and uses no API of Node.js, because
 * an app's mock also imports it.
 */
import type { NativeAnswer, NativeRequest, Presence } from "../src/native/native-interface.ts";

export type CasePlatform = "android" | "ios";
type Values = Readonly<Record<string, unknown>>;
type ByProbe<Content> = Readonly<Record<string, Content>>;

/** The fields and the evidence that the phone of a case returns for a probe. */
export interface CaseAnswer {
  readonly fields?: Values;
  readonly evidence?: Values;
}

/** The content of a JSON file of this folder. */
export interface CaseFile {
  readonly name: string;
  readonly about: string;
  readonly platform?: CasePlatform;
  /** The name of the case that this case extends and overrides. */
  readonly like?: string;
  /** The known false alarm that the judgements must not report for this case. */
  readonly falseAlarm?: string;
  readonly sources: readonly string[];
  readonly answers?: ByProbe<CaseAnswer>;
  readonly expect?: ByProbe<Values>;
  readonly absent?: ByProbe<readonly string[]>;
}

/** A case after all references to other cases were resolved. */
export type EvidenceCase = Required<Omit<CaseFile, "like" | "falseAlarm">> & Pick<CaseFile, "falseAlarm">;

/** Every case by its name. Throws a `TypeError` if a case has no platform, or extends a case that does not exist. */
export function loadCases(files: readonly CaseFile[]): ReadonlyMap<string, EvidenceCase> {
  const byName = new Map(files.map((file) => [file.name, file]));
  return new Map(files.map((file) => [file.name, resolve(file, byName)]));
}

function resolve(file: CaseFile, byName: ReadonlyMap<string, CaseFile>): EvidenceCase {
  const { like, platform, answers = {}, expect = {}, absent = {}, ...rest } = file;
  if (like === undefined) {
    if (platform === undefined) throw new TypeError(`${file.name} has no platform`);
    return { ...rest, platform, answers, expect, absent };
  }
  const extended = byName.get(like);
  if (!extended) throw new TypeError(`${file.name} extends the case ${like}, which does not exist`);
  const base = resolve(extended, byName);
  return {
    ...rest,
    platform: platform ?? base.platform,
    answers: merge(base.answers, answers, mergeAnswer),
    expect: merge(withoutNamed(base.expect, absent), expect, mergeValues),
    absent: merge(withoutNamed(base.absent, expect), absent, (one, other) => [...new Set([...one, ...other])]),
  };
}

function merge<Content>(
  base: ByProbe<Content>,
  own: ByProbe<Content>,
  join: (one: Content, other: Content) => Content,
): ByProbe<Content> {
  const merged: Record<string, Content> = { ...base };
  for (const [probe, content] of Object.entries(own)) {
    const existing = merged[probe];
    merged[probe] = existing === undefined ? content : join(existing, content);
  }
  return merged;
}

/**
 * Removes from `base`, the expectations of an extended case, the fields for which the extending case has an expectation
 * of the other kind: a value in place of an absence, or an absence in place of a value.
 */
function withoutNamed<Content extends Values | readonly string[]>(
  base: ByProbe<Content>,
  own: ByProbe<Values | readonly string[]>,
): ByProbe<Content> {
  const reduced = Object.entries(base).map(([probe, content]) => {
    const named = own[probe] ?? [];
    const names = new Set(Array.isArray(named) ? (named as readonly string[]) : Object.keys(named));
    const remaining = Array.isArray(content)
      ? content.filter((name) => !names.has(name as string))
      : Object.fromEntries(Object.entries(content).filter(([name]) => !names.has(name)));
    return [probe, remaining as Content] as const;
  });
  return Object.fromEntries(reduced);
}

function mergeAnswer(base: CaseAnswer, own: CaseAnswer): CaseAnswer {
  return {
    fields: mergeValues(base.fields ?? {}, own.fields ?? {}),
    evidence: mergeValues(base.evidence ?? {}, own.evidence ?? {}),
  };
}

/**
 * `null` removes a member, and `{ "add": [...] }` adds to a list. Objects are merged. Any other value replaces the
 * value of `base`.
 */
function mergeValues(base: Values, own: Values): Values {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(own)) {
    if (value === null) delete merged[name];
    else merged[name] = mergeValue(merged[name], value);
  }
  return merged;
}

function mergeValue(base: unknown, own: unknown): unknown {
  const added = isValues(own) && Array.isArray(own["add"]) ? (own["add"] as unknown[]) : undefined;
  if (added) return [...(Array.isArray(base) ? (base as unknown[]) : []), ...added];
  return isValues(own) && isValues(base) ? { ...base, ...own } : own;
}

function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What the phone of a case answers to a request. The answer has only the fields and sources that the request names. */
export function answer(
  { answers }: EvidenceCase,
  probe: string,
  { fields, sources }: Pick<NativeRequest, "fields" | "sources">,
): NativeAnswer {
  const { fields: known = {}, evidence: kept = {} } = answers[probe] ?? {};
  const evidence: Record<string, unknown> = {};
  for (const [source, argument] of Object.entries(sources)) {
    if (Object.hasOwn(kept, source)) evidence[source] = expand(source, kept[source], argument);
  }
  const read = fields.filter((name) => Object.hasOwn(known, name)).map((name) => [name, known[name]] as const);
  return { fields: Object.fromEntries(read), evidence };
}

const TEXTS: ReadonlySet<string> = new Set(["maps", "mountInfo", "status", "cpuInfo", "unixSockets", "tcpSockets"]);

function expand(source: string, kept: unknown, argument: unknown): unknown {
  if (TEXTS.has(source)) return expandText(kept as ShortForm);
  if (source === "properties") return expandProperties(kept as Readonly<Record<string, string>>, argument as string[]);
  return Array.isArray(argument) ? expandPresence(source, kept as ShortForm, argument as string[]) : kept;
}

/** Evidence in the short form: a list, or an object with the list and additional members. */
type ShortForm =
  | readonly string[]
  | { readonly lines?: readonly string[]; readonly truncated?: boolean }
  | { readonly present?: readonly string[]; readonly unknown?: readonly string[] | "rest" };

function expandText(kept: ShortForm): { text: string; truncated: boolean } {
  const { lines, truncated = false } =
    "length" in kept ? { lines: kept } : (kept as { lines: []; truncated?: boolean });
  return { text: lines.map((line) => `${line}\n`).join(""), truncated };
}

/** Every requested artefact that is not present is absent, except those in `unknown`, which could not be examined. */
function expandPresence(source: string, kept: ShortForm, asked: readonly string[]): Presence {
  const { present = [], unknown = [] } = ("length" in kept ? { present: kept } : kept) as {
    present?: readonly string[];
    unknown?: readonly string[] | "rest";
  };
  const presentNames = source === "executables" ? present : asked.filter((name) => present.includes(name));
  const absent = asked.filter((name) => !isThere(presentNames, name) && unknown !== "rest" && !unknown.includes(name));
  return { present: presentNames, absent };
}

/**
 * Whether an artefact is present. A request names executables without a folder, and the answer has their full paths.
 */
function isThere(present: readonly string[], name: string): boolean {
  return present.some((found) => found === name || found.endsWith(`/${name}`));
}

/**
 * A property that is not set has the value `""`. A property that this app may not read has `"?"` in the short form, and
 * is left out here.
 */
function expandProperties(
  kept: Readonly<Record<string, string>>,
  asked: readonly string[],
): Readonly<Record<string, string>> {
  const entries = asked.map((name) => [name, kept[name] ?? kept["*"] ?? ""] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== "?"));
}
