/**
 * What goes into an event: values of the catalog's types, within bounds, that survive JSON and I-JSON. All else is left
 * out, as if it had not been observed.
 */
import type { JsonValue } from "@device-risk-signals/contract";
import { type FieldFacts, factsOf, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { entriesOf } from "./entries.ts";

/** UTF-16 units of a string. */
const LONGEST_STRING = 1_024;
const LONGEST_LIST = 256;
/** Bytes of the values of one probe as JSON, at the most: 19 probes stay below the endpoint's limit of 262,144 bytes. */
const LARGEST_PROBE = 12_500;

export const LONE_SURROGATE = /(?:[^\uD800-\uDBFF]|^)[\uDC00-\uDFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])/;

/** Why a probe that answered is no success. */
export type DataFault = "required-field-missing" | "too-large";

export type ProbeData = Readonly<Record<string, JsonValue>>;

/**
 * The selected fields that have valid values, in the catalog's order. Values for which there is no room are left out one by
 * one: whoever fills a list must not thereby hide all else that was observed.
 */
export function probeData(
  probe: ProbeId,
  values: Readonly<Record<string, unknown>>,
  selected: ReadonlySet<string>,
): ProbeData | DataFault {
  const data: Record<string, JsonValue> = {};
  let bytes = 0;
  for (const [name, facts] of factsOf(probe).fields) {
    if (!selected.has(name)) continue;
    const value = Object.hasOwn(values, name) ? valid(values[name], facts) : undefined;
    const size = value === undefined ? 0 : name.length + 4 + bytesOf(value);
    const fits = bytes + size <= LARGEST_PROBE;
    if (facts.required && (value === undefined || !fits)) return fits ? "required-field-missing" : "too-large";
    if (value === undefined || !fits) continue;
    data[name] = value;
    bytes += size;
  }
  return data;
}

function valid(value: unknown, facts: FieldFacts): JsonValue | undefined {
  switch (facts.type) {
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "number":
      return isFiniteNumber(value) ? value : undefined;
    case "string":
      return isText(value) ? value : undefined;
    case "string[]":
      return entriesOf(value, LONGEST_LIST, isText);
    case "number[]":
      return entriesOf(value, LONGEST_LIST, isFiniteNumber);
    case "object":
      return members(value, facts.fields ?? new Map());
  }
}

function members(value: unknown, fields: ReadonlyMap<string, FieldFacts>): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const object: Record<string, JsonValue> = {};
  for (const [name, facts] of fields) {
    const member = Object.hasOwn(value, name) ? valid((value as Record<string, unknown>)[name], facts) : undefined;
    if (member !== undefined) object[name] = member;
  }
  return Object.keys(object).length > 0 ? object : undefined;
}

/** Of the value as JSON in UTF-8. */
function bytesOf(value: JsonValue): number {
  let bytes = 0;
  for (const unit of JSON.stringify(value)) bytes += unit < "\u0080" ? 1 : unit < "\u0800" ? 2 : 2 + unit.length;
  return bytes;
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= LONGEST_STRING && !LONE_SURROGATE.test(value);
}
