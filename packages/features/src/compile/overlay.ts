import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
const NAME = /^\w{1,64}$/;

export type ReadOverlay =
  { readonly ok: true; readonly overlay: Overlay } | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the overlay of a repository of definitions; a repository without one has no field beyond the catalog. */
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
  const problems = fields.flatMap((field: Partial<OverlayField> | null, at) => {
    const { path = [], type = "", sensitivity = "" } = field ?? {};
    const isPath =
      Array.isArray(path) && (path.length === 2 || path.length === 3) && path.every((name) => NAME.test(name));
    const isField = isPath && Object.hasOwn(TYPES, type) && SENSITIVITIES.has(sensitivity);
    return isField ? [] : [`${OVERLAY_FILE}: field ${at + 1} needs a path of 2 or 3 names, a type and a sensitivity`];
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, overlay: { fields: fields as OverlayField[] } };
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
