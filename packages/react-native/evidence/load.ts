/**
 * Expands the corpus's short form (README.md in this folder). Pure, and without any API of Node.js: tests read the
 * files of this folder, an app's mock may import some of them.
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

/** A file of this folder. */
export interface CaseFile {
  readonly name: string;
  readonly about: string;
  readonly platform?: CasePlatform;
  /** The case that this one extends and overrides. */
  readonly like?: string;
  /** The known false alarm that must stay silent here. */
  readonly falseAlarm?: string;
  readonly sources: readonly string[];
  readonly answers?: ByProbe<CaseAnswer>;
  readonly expect?: ByProbe<Values>;
  readonly absent?: ByProbe<readonly string[]>;
}

/** A case without references to others. */
export type EvidenceCase = Required<Omit<CaseFile, "like" | "falseAlarm">> & Pick<CaseFile, "falseAlarm">;

/** Every case by its name. Throws a `TypeError` where one is like another that is not there. */
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
  const model = byName.get(like);
  if (!model) throw new TypeError(`${file.name} is like ${like}, which is not there`);
  const base = resolve(model, byName);
  return {
    ...rest,
    platform: platform ?? base.platform,
    answers: merge(base.answers, answers, mergeAnswer),
    expect: merge(without(base.expect, absent), expect, mergeValues),
    absent: merge(without(base.absent, expect), absent, (one, other) => [...new Set([...one, ...other])]),
  };
}

function merge<Content>(
  base: ByProbe<Content>,
  own: ByProbe<Content>,
  join: (one: Content, other: Content) => Content,
): ByProbe<Content> {
  const merged: Record<string, Content> = { ...base };
  for (const [probe, content] of Object.entries(own)) {
    const known = merged[probe];
    merged[probe] = known === undefined ? content : join(known, content);
  }
  return merged;
}

/** What a case expects of a field replaces what its model said of it, be it a value or its absence. */
function without<Content extends Values | readonly string[]>(
  base: ByProbe<Content>,
  own: ByProbe<Values | readonly string[]>,
): ByProbe<Content> {
  const left = Object.entries(base).map(([probe, content]) => {
    const said = own[probe] ?? [];
    const names = new Set(Array.isArray(said) ? (said as readonly string[]) : Object.keys(said));
    const kept = Array.isArray(content)
      ? content.filter((name) => !names.has(name as string))
      : Object.fromEntries(Object.entries(content).filter(([name]) => !names.has(name)));
    return [probe, kept as Content] as const;
  });
  return Object.fromEntries(left);
}

function mergeAnswer(base: CaseAnswer, own: CaseAnswer): CaseAnswer {
  return {
    fields: mergeValues(base.fields ?? {}, own.fields ?? {}),
    evidence: mergeValues(base.evidence ?? {}, own.evidence ?? {}),
  };
}

/** `null` removes a member, `{ "add": [...] }` adds to a list, objects are merged; any other value replaces. */
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

/** What the phone of a case answers to a request: no more than it was asked for. */
export function answer(
  { answers }: EvidenceCase,
  probe: string,
  { fields, sources }: Pick<NativeRequest, "fields" | "sources">,
): NativeAnswer {
  const { fields: known = {}, evidence: kept = {} } = answers[probe] ?? {};
  const evidence: Record<string, unknown> = {};
  for (const [source, argument] of Object.entries(sources)) {
    if (Object.hasOwn(kept, source)) evidence[source] = spellOut(source, kept[source], argument);
  }
  const read = fields.filter((name) => Object.hasOwn(known, name)).map((name) => [name, known[name]] as const);
  return { fields: Object.fromEntries(read), evidence };
}

const TEXTS: ReadonlySet<string> = new Set(["maps", "mountInfo", "status", "cpuInfo", "unixSockets", "tcpSockets"]);

function spellOut(source: string, kept: unknown, argument: unknown): unknown {
  if (TEXTS.has(source)) return spellOutText(kept as Short);
  if (source === "properties")
    return spellOutProperties(kept as Readonly<Record<string, string>>, argument as string[]);
  return Array.isArray(argument) ? spellOutPresence(source, kept as Short, argument as string[]) : kept;
}

/** A list, or an object with the list and what else there is to say. */
type Short =
  | readonly string[]
  | { readonly lines?: readonly string[]; readonly truncated?: boolean }
  | { readonly present?: readonly string[]; readonly unknown?: readonly string[] | "rest" };

function spellOutText(kept: Short): { text: string; truncated: boolean } {
  const { lines, truncated = false } =
    "length" in kept ? { lines: kept } : (kept as { lines: []; truncated?: boolean });
  return { text: lines.map((line) => `${line}\n`).join(""), truncated };
}

/** Every requested artefact that is not present is absent, except artefacts that could not be examined. */
function spellOutPresence(source: string, kept: Short, asked: readonly string[]): Presence {
  const { present = [], unknown = [] } = ("length" in kept ? { present: kept } : kept) as {
    present?: readonly string[];
    unknown?: readonly string[] | "rest";
  };
  const there = source === "executables" ? present : asked.filter((name) => present.includes(name));
  const absent = asked.filter((name) => !isThere(there, name) && unknown !== "rest" && !unknown.includes(name));
  return { present: there, absent };
}

/** Executables are asked for by name, and answered by path. */
function isThere(present: readonly string[], name: string): boolean {
  return present.some((found) => found === name || found.endsWith(`/${name}`));
}

/** A property that is not set is `""`; a denied one is `"?"` in the short form, and is left out. */
function spellOutProperties(
  kept: Readonly<Record<string, string>>,
  asked: readonly string[],
): Readonly<Record<string, string>> {
  const entries = asked.map((name) => [name, kept[name] ?? kept["*"] ?? ""] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== "?"));
}
