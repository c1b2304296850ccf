/**
 * Adopted fields: the fields that feature definitions read. A departure from the catalog is a reason to reject an event
 * only if it is in one of these fields.
 */
import { CATALOG } from "./catalog.ts";
import { type Departure, type FieldPath, fits, jsonType } from "./check.ts";
import type { Field } from "./declare.ts";

interface AdoptedField {
  readonly field: Field;
  readonly members: Map<string, AdoptedField>;
}

export interface AdoptedFields {
  readonly paths: readonly FieldPath[];
  /** The adopted fields by probe, then by name. */
  readonly probes: ReadonlyMap<string, ReadonlyMap<string, AdoptedField>>;
}

export type Adoption =
  | { readonly ok: true; readonly adopted: AdoptedFields }
  /** The paths that name no field of the catalog. */
  | { readonly ok: false; readonly unknown: readonly FieldPath[] };

export const NOTHING_ADOPTED: AdoptedFields = { paths: [], probes: new Map() };

const PROBES = new Map(CATALOG.map(({ id, fields }) => [id, fields]));

/**
 * @param paths the path of a field, such as `["os_integrity", "isEmulator"]`, or of a member of an object field, such
 * as `["device_identity", "androidBuild", "sdkInt"]`. An object field is adopted with all its members.
 */
export function adoptFields(paths: readonly FieldPath[]): Adoption {
  const probes = new Map<string, Map<string, AdoptedField>>();
  const unknown = paths.filter(([probe = "", ...names]) => {
    const fields = PROBES.get(probe);
    if (!fields || !isKnown(fields, names)) return true;
    const adopted = probes.get(probe) ?? new Map<string, AdoptedField>();
    probes.set(probe, adopted);
    adopt(adopted, fields, names);
    return false;
  });
  return unknown.length > 0 ? { ok: false, unknown } : { ok: true, adopted: { paths, probes } };
}

type Fields = Readonly<Record<string, Field>>;

function isKnown(fields: Fields, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || !Object.hasOwn(fields, name)) return false;
  return rest.length === 0 || isKnown(fields[name]?.fields ?? {}, rest);
}

function adopt(adopted: Map<string, AdoptedField>, fields: Fields, [name = "", ...rest]: readonly string[]): void {
  const field = fields[name] as Field;
  const { members } = adopted.get(name) ?? { members: new Map<string, AdoptedField>() };
  adopted.set(name, { field, members });
  const inner = field.fields ?? {};
  const below = rest.length > 0 ? [rest] : Object.keys(inner).map((member) => [member]);
  for (const path of below) adopt(members, inner, path);
}

/**
 * Compares the adopted fields of successful outcomes with the catalog. The duration depends on the number of adopted
 * fields and not on the size of the event. A member that the catalog does not list is never a departure of an adopted
 * field: the contract keeps unknown members.
 *
 * @param probes the `probes` of an event that passed `validateTransportRequest`.
 */
export function checkAdopted(probes: Readonly<Record<string, unknown>>, adopted: AdoptedFields): readonly Departure[] {
  const departures: Departure[] = [];
  for (const [id, fields] of adopted.probes) {
    const outcome = Object.hasOwn(probes, id) ? (probes[id] as { data?: Readonly<Record<string, unknown>> }) : {};
    if (outcome.data) checkMembers(departures, [id], outcome.data, fields);
  }
  return departures;
}

function checkMembers(
  departures: Departure[],
  parent: FieldPath,
  data: Readonly<Record<string, unknown>>,
  fields: ReadonlyMap<string, AdoptedField>,
): void {
  for (const [name, { field, members }] of fields) {
    const path = [...parent, name];
    const value = data[name];
    if (!Object.hasOwn(data, name)) {
      if (field.required) departures.push({ kind: "missing-field", path, found: "absent" });
    } else if (!fits(value, field)) departures.push({ kind: "wrong-type", path, found: jsonType(value) });
    else if (members.size > 0) checkMembers(departures, path, value as Record<string, unknown>, members);
  }
}

/** Whether a departure from the catalog is in an adopted field. */
export function departsFromAdopted({ kind, path: [probe = "", ...names] }: Departure, adopted: AdoptedFields): boolean {
  if (kind === "unknown-probe" || kind === "unknown-field") return false;
  let fields = adopted.probes.get(probe);
  let field: AdoptedField | undefined;
  for (const name of names) {
    field = fields?.get(name);
    fields = field?.members;
  }
  return field !== undefined;
}
