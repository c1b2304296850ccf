import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UNITS } from "@device-risk-signals/contract/catalog/declare";
import { NO_OVERLAY, type Overlay, type OverlayField } from "./known-fields.ts";

export const OVERLAY_FILE = "overlay.json";
export const OVERLAY_TYPES = "overlay.d.ts";

const TYPES: Readonly<Record<OverlayField["type"], string>> = {
  string: "string",
  boolean: "boolean",
  number: "number",
  "string[]": "readonly string[]",
  "number[]": "readonly number[]",
};
const SENSITIVITIES: ReadonlySet<unknown> = new Set(["low", "medium", "high"]);
const UNIT_NAMES: ReadonlySet<unknown> = new Set(UNITS);
const MEMBER_NAME = /^\w{1,64}$/;

export type ReadOverlay =
  | { readonly ok: true; readonly overlay: Overlay }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the overlay of a repository of definitions. Without the file, the overlay has no fields. */
export function readOverlay(folder: string): ReadOverlay {
  const file = join(folder, OVERLAY_FILE);
  if (!existsSync(file)) return { ok: true, overlay: NO_OVERLAY };
  let fields: unknown;
  try {
    ({ fields } = JSON.parse(readFileSync(file, "utf8")) as { fields?: unknown });
  } catch {
    return { ok: false, problems: [`${OVERLAY_FILE} is no JSON object`] };
  }
  if (!Array.isArray(fields)) return { ok: false, problems: [`${OVERLAY_FILE} has no array \`fields\``] };
  const problems = fields.flatMap((field: unknown, at) => (isOverlayField(field) ? [] : [problemOf(at + 1)]));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, overlay: { fields: fields as OverlayField[] } };
}

const problemOf = (number: number): string =>
  `${OVERLAY_FILE}: field ${number} needs a path of 2 or 3 names, a type, a unit if it is a number, and a sensitivity`;

function isOverlayField(field: unknown): field is OverlayField {
  const { path, type, unit, sensitivity } = (field ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof type !== "string" || !Object.hasOwn(TYPES, type)) return false;
  const isPath =
    Array.isArray(path) &&
    (path.length === 2 || path.length === 3) &&
    path.every((name) => MEMBER_NAME.test(String(name)));
  const hasUnit = type.startsWith("number") ? UNIT_NAMES.has(unit) : unit === undefined;
  return isPath && hasUnit && SENSITIVITIES.has(sensitivity);
}

/** The text of `overlay.d.ts`, which lets definitions name the fields of the overlay. */
export function overlayTypes({ fields }: Overlay): string {
  const lines = fields.map(({ path, type }) => `    readonly ${JSON.stringify(path.join("."))}: ${TYPES[type]};\n`);
  return `// Generated from ${OVERLAY_FILE} by \`drs feature lock\`. Do not edit.
import "@device-risk-signals/features";

declare module "@device-risk-signals/features" {
  interface FieldTypes {
${lines.join("")}  }
}
`;
}
