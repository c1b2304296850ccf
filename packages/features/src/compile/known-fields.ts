import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field, FieldType, Probe, Sensitivity, Unit } from "@device-risk-signals/contract/catalog/declare";
import type { ManifestInput } from "../manifest.ts";

/** Fields beyond the catalog that an installation accepted after a review: the content of its `overlay.json`. */
export interface Overlay {
  readonly fields: readonly OverlayField[];
}

export interface OverlayField {
  /** The probe, the field and, inside an object, the member. The names have letters, digits and `_` only. */
  readonly path: readonly string[];
  readonly type: Exclude<FieldType, "object">;
  readonly unit?: Unit;
  readonly sensitivity: Sensitivity;
}

export const NO_OVERLAY: Overlay = { fields: [] };

export type Resolved =
  | { readonly ok: true; readonly input: ManifestInput }
  | { readonly ok: false; readonly problem: string };

/**
 * Looks up a field in the catalog, then in the overlay. Returns the input of a manifest, which says how the field is
 * read.
 *
 * @param path the path as definitions write it: `probe.field`, or `probe.field.member` inside an object field
 */
export function resolveInput(name: string, path: string, overlay: Overlay): Resolved {
  const names = path.split(".");
  const [id, first = "", member] = names;
  const probe = CATALOG.find((candidate) => candidate.id === id);
  const outer = memberOf(probe?.fields, first);
  const field = member === undefined ? outer : memberOf(outer?.fields, member);
  if (!probe || !field || names.length > 3) return resolveAccepted(name, path, overlay);
  if (field.type === "object") return unknown(path, "it is an object: name a member of it");
  if (field.platforms.length === 0) return unknown(path, "the SDK never fills it");
  return { ok: true, input: inputOf(name, names, probe, field) };
}

function resolveAccepted(name: string, path: string, { fields }: Overlay): Resolved {
  const accepted = fields.find((field) => field.path.join(".") === path);
  if (!accepted) return unknown(path, "neither the catalog nor the overlay has it");
  const { type, unit, sensitivity } = accepted;
  return { ok: true, input: { name, path: accepted.path, type, ...(unit && { unit }), sensitivity } };
}

function memberOf(fields: Readonly<Record<string, Field>> | undefined, name: string): Field | undefined {
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function unknown(path: string, why: string): Resolved {
  return { ok: false, problem: `the field ${JSON.stringify(path)} can't be an input: ${why}` };
}

function inputOf(name: string, path: readonly string[], { performed }: Probe, field: Field): ManifestInput {
  const isObservedAnyway = performed === undefined || [performed.field, performed.reason].includes(path[1]);
  return {
    name,
    path,
    type: field.type as ManifestInput["type"],
    ...(field.unit && { unit: field.unit }),
    ...(field.constantOn && { constantOn: field.constantOn }),
    ...(!isObservedAnyway && { performedBy: performed.field }),
    sensitivity: field.sensitivity,
  };
}
