import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field, Platform } from "../../packages/contract/src/catalog/declare.ts";

const LETTER_OF_TYPE = {
  string: "s",
  boolean: "b",
  number: "n",
  "string[]": "S",
  "number[]": "N",
  object: "o",
} as const;

function platforms(list: readonly Platform[]): string {
  return list.length === 2 ? "" : list.length === 0 ? "-" : list[0] === "android" ? "a" : "i";
}

function kind(field: Field): string {
  const constant = field.constantOn ? "=" : "";
  return `${LETTER_OF_TYPE[field.type]}${platforms(field.platforms)}${field.required ? "!" : ""}${constant}:`;
}

/** Fields of one type follow each other, so that the type is written once. */
function entries(fields: Readonly<Record<string, Field>>): string {
  const names = new Map<string, string[]>();
  for (const [name, field] of Object.entries(fields)) {
    const inside = field.fields && `(${entries(field.fields)})`;
    names.set(kind(field), [...(names.get(kind(field)) ?? []), `${name}${inside ?? ""}`]);
  }
  return [...names].map(([marks, list]) => `${marks}${list.join(" ")}`).join(" ");
}

/**
 * The catalog without its texts, in the short form that `catalog/fields.ts` reads, because it is a part of every app's
 * bundle.
 */
export function fieldIndex(): string {
  const lines = CATALOG.map(
    (probe) =>
      `  ${probe.id}: "${platforms(probe.platforms)}${probe.enabledByDefault ? "+" : ""}:${entries(probe.fields)}",`,
  );
  return `// Generated from the catalog by \`npm run generate\`. Do not edit. How to read it: catalog/fields.ts.

export const FIELD_INDEX = {
${lines.join("\n")}
} as const;
`;
}
