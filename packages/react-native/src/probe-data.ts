/**
 * Checks the values of an event: each value must have the catalog's type, be within bounds, and be valid in JSON and
 * I-JSON (RFC 7493). Every other value is left out, as if it had not been observed.
 */
import type { JsonValue } from "@device-risk-signals/contract";
import { type FieldFacts, factsOf, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { entriesOf } from "./entries.ts";
import { type Members, membersOf } from "./members.ts";

/** Maximum length of a text in UTF-16 code units. */
const MAX_STRING_LENGTH = 1_024;
const MAX_LIST_LENGTH = 256;
/**
 * Maximum size of the values of one probe as JSON. With this limit 19 probes together stay below the endpoint's limit
 * of 262,144 bytes.
 */
const MAX_PROBE_BYTES = 12_500;

/** With the flag `u` a surrogate pair is one character, which this class does not match. */
export const LONE_SURROGATE = /[\uD800-\uDFFF]/u;

/** The reason why the answer of a probe counts as an error. */
export type DataError = "required-field-missing" | "too-large";

export type ProbeData = Readonly<Record<string, JsonValue>>;

/**
 * The selected fields that have valid values, in the catalog's order. Values beyond the size limit are left out one by
 * one, so that an attacker who fills one list can't hide the other observations. Returns the reason of an error if a
 * required field has no valid value or exceeds the size limit.
 */
export function probeData(probe: ProbeId, values: Members, selected: ReadonlySet<string>): ProbeData | DataError {
  const data: Record<string, JsonValue> = {};
  let bytes = 0;
  for (const [name, facts] of factsOf(probe).fields) {
    if (!selected.has(name)) continue;
    const value = validMember(values, name, facts);
    const size = value === undefined ? 0 : name.length + 4 + bytesOf(value);
    const fits = bytes + size <= MAX_PROBE_BYTES;
    if (facts.required && (value === undefined || !fits)) return fits ? "required-field-missing" : "too-large";
    if (value === undefined || !fits) continue;
    data[name] = value;
    bytes += size;
  }
  return data;
}

function validMember(members: Members, name: string, facts: FieldFacts): JsonValue | undefined {
  return Object.hasOwn(members, name) ? valid(members[name], facts) : undefined;
}

function valid(value: unknown, { type, fields }: FieldFacts): JsonValue | undefined {
  if (fields) return validMembers(membersOf(value) ?? {}, fields);
  if (type.endsWith("[]")) return entriesOf(value, MAX_LIST_LENGTH, (entry) => isOf(type.slice(0, -2), entry));
  return isOf(type, value) ? value : undefined;
}

function isOf(type: string, value: unknown): value is string | number | boolean {
  if (typeof value !== type) return false;
  return typeof value === "string" ? isText(value) : typeof value !== "number" || Number.isFinite(value);
}

function validMembers(members: Members, fields: ReadonlyMap<string, FieldFacts>): JsonValue | undefined {
  const object: Record<string, JsonValue> = {};
  for (const [name, facts] of fields) {
    const member = validMember(members, name, facts);
    if (member !== undefined) object[name] = member;
  }
  return Object.keys(object).length > 0 ? object : undefined;
}

/** The size of a value as JSON in UTF-8. */
function bytesOf(value: JsonValue): number {
  return encodeURIComponent(JSON.stringify(value)).replaceAll(/%../g, " ").length;
}

function isText(value: string): boolean {
  return value.length <= MAX_STRING_LENGTH && !LONE_SURROGATE.test(value);
}
