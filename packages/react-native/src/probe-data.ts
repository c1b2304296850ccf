/**
 * What goes into an event: values of the catalog's types, within bounds, that survive JSON and I-JSON. All else is left
 * out, as if it had not been observed.
 */
import type { JsonValue } from "@device-risk-signals/contract";
import { type FieldFacts, factsOf, type ProbeId } from "@device-risk-signals/contract/catalog/fields";

/** UTF-16 units of a string. */
const LONGEST_STRING = 1_024;
const LONGEST_LIST = 256;
/** Bytes of the values of one probe as JSON, at the most: 19 probes stay below the endpoint's limit of 262,144 bytes. */
const LARGEST_PROBE = 12_500;

const LONE_SURROGATE = /(?:[^\uD800-\uDBFF]|^)[\uDC00-\uDFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])/;

// eslint-disable-next-line no-control-regex -- what JSON escapes at length
const CONTROL = /[\u0000-\u001f]/;
const PLAIN = /^[^"\\\u007f-\uffff]*$/;

/** Why a probe that answered is no success. */
export type DataFault = "required-field-missing" | "too-large";

export type ProbeData = Readonly<Record<string, JsonValue>>;

/** The selected fields that have valid values, in the catalog's order. */
export function probeData(
  probe: ProbeId,
  values: Readonly<Record<string, unknown>>,
  selected: ReadonlySet<string>,
): ProbeData | DataFault {
  const size = { bytes: 0 };
  const data: Record<string, JsonValue> = {};
  for (const [name, facts] of factsOf(probe).fields) {
    if (!selected.has(name)) continue;
    const value = Object.hasOwn(values, name) ? valid(values[name], facts, size) : undefined;
    if (value !== undefined) data[name] = value;
    else if (facts.required) return "required-field-missing";
  }
  return size.bytes > LARGEST_PROBE ? "too-large" : data;
}

function valid(value: unknown, facts: FieldFacts, size: { bytes: number }): JsonValue | undefined {
  switch (facts.type) {
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "number":
      return isFiniteNumber(value) ? value : undefined;
    case "string":
      return isText(value) ? counted(value, size) : undefined;
    case "string[]":
      return list(value, isText, size);
    case "number[]":
      return list(value, isFiniteNumber, size);
    case "object":
      return members(value, facts.fields ?? new Map(), size);
  }
}

/** All or nothing: a list without its wrong entries would be a list that nobody observed. */
function list<Entry extends string | number>(
  value: unknown,
  isEntry: (entry: unknown) => entry is Entry,
  size: { bytes: number },
): readonly Entry[] | undefined {
  if (!Array.isArray(value) || value.length > LONGEST_LIST || !value.every(isEntry)) return undefined;
  for (const entry of value) counted(entry, size);
  return [...value];
}

function members(
  value: unknown,
  fields: ReadonlyMap<string, FieldFacts>,
  size: { bytes: number },
): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const object: Record<string, JsonValue> = {};
  for (const [name, facts] of fields) {
    const member = Object.hasOwn(value, name)
      ? valid((value as Record<string, unknown>)[name], facts, size)
      : undefined;
    if (member !== undefined) object[name] = member;
  }
  return Object.keys(object).length > 0 ? object : undefined;
}

function counted<Value extends string | number>(value: Value, size: { bytes: number }): Value {
  size.bytes += typeof value === "string" ? value.length * bytesOfUnit(value) + 3 : 24;
  return value;
}

/** Bytes that a UTF-16 unit of this text takes in JSON, at the most: `\\u001f` is six. */
function bytesOfUnit(text: string): number {
  if (CONTROL.test(text)) return 6;
  return PLAIN.test(text) ? 1 : 3;
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= LONGEST_STRING && !LONE_SURROGATE.test(value);
}
