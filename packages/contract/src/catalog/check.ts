import { CATALOG } from "./catalog.ts";
import type { Field } from "./declare.ts";

/**
 * The name of a probe, then of a field, then, in an object field, of a member. Do not join the names into one string: a
 * name from a client may contain any character.
 */
export type FieldPath = readonly string[];

/**
 * How a value departs from the catalog. The server counts departures as drift. It rejects an event for a departure only
 * if the departure is in an adopted field.
 */
export interface Departure {
  readonly kind: "unknown-probe" | "unknown-field" | "wrong-type" | "missing-field";
  readonly path: FieldPath;
  /** JSON type of the value that was found. */
  readonly found: "string" | "number" | "boolean" | "null" | "array" | "object" | "absent";
}

interface FieldTable {
  readonly fields: ReadonlyMap<string, Field & { readonly members?: FieldTable }>;
  readonly required: readonly string[];
}

function tableOf(fields: Readonly<Record<string, Field>>): FieldTable {
  const entries = Object.entries(fields);
  return {
    fields: new Map(
      entries.map(([name, field]) => [name, field.fields ? { ...field, members: tableOf(field.fields) } : field]),
    ),
    required: entries.filter(([, field]) => field.required).map(([name]) => name),
  };
}

const PROBES = new Map(CATALOG.map((probe) => [probe.id, tableOf(probe.fields)]));

/**
 * Compares the successful outcomes of an event with the catalog.
 *
 * @param probes the `probes` of an event that passed `validateTransportRequest`.
 * @returns every departure; empty if the event agrees with the catalog.
 */
export function checkAgainstCatalog(probes: Readonly<Record<string, unknown>>): readonly Departure[] {
  const departures: Departure[] = [];
  for (const id of Object.keys(probes)) {
    const outcome = probes[id] as { status: string; data?: Readonly<Record<string, unknown>> };
    const table = PROBES.get(id);
    if (!table) departures.push({ kind: "unknown-probe", path: [id], found: "object" });
    else if (outcome.status === "success" && outcome.data) checkFields(departures, [id], outcome.data, table);
  }
  return departures;
}

/**
 * This must be fast, because it runs for every event: one look-up and one `typeof` for each field that agrees with the
 * catalog.
 */
function checkFields(
  departures: Departure[],
  parent: FieldPath,
  data: Readonly<Record<string, unknown>>,
  table: FieldTable,
): void {
  let required = 0;
  for (const name in data) {
    const value = data[name];
    const field = table.fields.get(name);
    if (field === undefined) {
      departures.push({ kind: "unknown-field", path: [...parent, name], found: jsonType(value) });
      continue;
    }
    if (field.required) required++;
    if (typeof value === field.type && field.members === undefined) continue;
    if (!fits(value, field)) {
      departures.push({ kind: "wrong-type", path: [...parent, name], found: jsonType(value) });
    } else if (field.members) {
      checkFields(departures, [...parent, name], value as Record<string, unknown>, field.members);
    }
  }
  if (required === table.required.length) return;
  for (const name of table.required) {
    if (!Object.hasOwn(data, name)) {
      departures.push({ kind: "missing-field", path: [...parent, name], found: "absent" });
    }
  }
}

/** Whether a value has the type of a field. The members of an object field are not compared. */
export function fits(value: unknown, field: Pick<Field, "type">): boolean {
  switch (field.type) {
    case "string[]":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "number[]":
      return Array.isArray(value) && value.every((item) => typeof item === "number");
    case "object":
      return jsonType(value) === "object";
    default:
      return typeof value === field.type;
  }
}

export function jsonType(value: unknown): Exclude<Departure["found"], "absent"> {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as "string" | "number" | "boolean" | "object";
}
