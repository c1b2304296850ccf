/**
 * The part of the catalog that an app needs at run time: names, types, platforms, which probes are enabled by default,
 * and which fields are required or constant. The other facts, such as meanings and sensitivity, are in `catalog.ts`
 * only, so that an app's bundle stays small.
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

/** `a` means Android, `i` means iOS, `-` means no platform. Without any of these marks, the platforms are both. */
function platformsOf(marks: string): readonly Platform[] {
  if (marks.includes("-")) return [];
  if (marks.includes("a")) return ["android"];
  return marks.includes("i") ? ["ios"] : BOTH;
}

/**
 * Reads the index of the fields of a probe: `<type letter><marks>:<name> <name>… <type letter><marks>:…`. A prefix
 * applies to all names up to the next prefix. The mark `!` means required, `=` means constant on iOS, and other marks
 * name platforms. The members of an object are in parentheses after its name.
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

/**
 * Reads the entry of a probe in the index at the first call, not at import. The entry has the marks of the probe, a
 * colon, and the index of its fields. The mark `+` means enabled by default, and other marks name platforms.
 */
export function factsOf(probe: ProbeId): ProbeFacts {
  const cached = facts.get(probe);
  if (cached) return cached;
  const index: string = FIELD_INDEX[probe];
  const colon = index.indexOf(":");
  const marks = index.slice(0, colon);
  const probeFacts = {
    platforms: platformsOf(marks),
    enabledByDefault: marks.includes("+"),
    fields: read(index.slice(colon + 1)),
  };
  facts.set(probe, probeFacts);
  return probeFacts;
}

export function isProbeId(name: string): name is ProbeId {
  return Object.hasOwn(FIELD_INDEX, name);
}
