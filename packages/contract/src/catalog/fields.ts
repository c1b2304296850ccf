/**
 * The catalog without its prose: names, types and platforms, which an app needs at run time. Titles, meanings and
 * sensitivity are in `catalog.ts` only, so that an app's bundle stays small.
 */
import type { ProbeDataById } from "../generated/raw-signal-event.ts";
import { FIELD_INDEX } from "../generated/field-index.ts";
import type { FieldType, Platform } from "./declare.ts";

export type { FieldType, Platform };

export type ProbeId = keyof ProbeDataById;

export interface FieldFacts {
  readonly type: FieldType;
  readonly platforms: readonly Platform[];
  readonly required: boolean;
  /** On iOS the SDK sends a constant and no observation. Readers treat the field as omitted there. */
  readonly constantOnIos: boolean;
  /** The members of an object. It has no others. */
  readonly fields?: ReadonlyMap<string, FieldFacts>;
}

export interface ProbeFacts {
  readonly platforms: readonly Platform[];
  readonly enabledByDefault: boolean;
  readonly fields: ReadonlyMap<string, FieldFacts>;
}

/** All probe IDs, in the contract's order. */
export const PROBE_IDS = Object.keys(FIELD_INDEX) as readonly ProbeId[];

const TYPES: Readonly<Record<string, FieldType>> = {
  s: "string",
  b: "boolean",
  n: "number",
  S: "string[]",
  N: "number[]",
  o: "object",
};
const BOTH: readonly Platform[] = ["android", "ios"];

/** `a` means Android, `i` iOS, `-` no platform; none of these marks means both platforms. */
function platformsOf(marks: string): readonly Platform[] {
  if (marks.includes("-")) return [];
  if (marks.includes("a")) return ["android"];
  return marks.includes("i") ? ["ios"] : BOTH;
}

/**
 * Reads an index of the form `<type letter><marks>:<name> <name>… <type letter><marks>:…`. A prefix applies to all
 * names up to the next prefix. The mark `!` means required, `=` means constant on iOS, and other marks name platforms.
 * The members of an object are in parentheses after its name.
 */
function read(index: string): ReadonlyMap<string, FieldFacts> {
  const fields = new Map<string, FieldFacts>();
  let kind = "";
  for (const [, next, name = "", members] of index.matchAll(/(?:([^\s:]+):)?(\w+)(?:\(([^)]*)\))?/g)) {
    kind = next ?? kind;
    fields.set(name, {
      type: TYPES[kind.charAt(0)] as FieldType,
      platforms: platformsOf(kind.slice(1)),
      required: kind.includes("!"),
      constantOnIos: kind.includes("="),
      ...(members !== undefined && { fields: read(members) }),
    });
  }
  return fields;
}

const facts = new Map<ProbeId, ProbeFacts>();

/** The index is built at the first look-up, not at import. */
export function factsOf(probe: ProbeId): ProbeFacts {
  const cached = facts.get(probe);
  if (cached) return cached;
  const index: string = FIELD_INDEX[probe];
  const colon = index.indexOf(":");
  const marks = index.slice(0, colon);
  const made = {
    platforms: platformsOf(marks),
    enabledByDefault: marks.includes("+"),
    fields: read(index.slice(colon + 1)),
  };
  facts.set(probe, made);
  return made;
}

export function isProbeId(name: string): name is ProbeId {
  return Object.hasOwn(FIELD_INDEX, name);
}
