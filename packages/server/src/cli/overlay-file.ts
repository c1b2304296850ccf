/**
 * Writes the overlay file of a repository of definitions, and composes the declaration that adds a field to the
 * catalog.
 */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Answer } from "@device-risk-signals/admin-api";
import { OperatorError } from "../base/errors/operator-error.ts";
import { type Context, print } from "./context.ts";

type Fields = Answer<"readOverlay">["overlay"];

/**
 * Writes a file with exactly the accepted fields. A field that only the existing file has is lost.
 * @throws input-invalid
 */
export async function writeOverlay(context: Context, name: string, fields: Fields, silent = false): Promise<void> {
  const file = resolve(context.directory, name);
  const listed = fields.map(({ path, type, unit, sensitivity }) => ({
    path: path.split("."),
    type,
    ...(unit !== null && { unit }),
    sensitivity,
  }));
  await writeFile(file, `${JSON.stringify({ fields: listed }, undefined, 2)}\n`).catch(
    (error: NodeJS.ErrnoException) => {
      throw new OperatorError("input-invalid", `${file} can't be written (${error.code}).`);
    },
  );
  if (!silent) print(context, `Wrote ${file}. Next: drs feature lock`);
}

const CONSTRUCTORS = {
  string: "string",
  boolean: "boolean",
  number: "number",
  "string[]": "strings",
  "number[]": "numbers",
} as const;

/**
 * Composes lines with the declaration of the field and the file of the catalog to which it must be added. A person
 * must write the meaning of the field.
 */
export function catalogDeclaration(
  { path, type, unit, sensitivity }: Answer<"acceptDrift">["decision"],
  platforms: readonly string[],
): readonly string[] {
  const [probe = "", ...names] = path.split(".");
  const on = platforms.length === 1 ? `on: "${platforms[0]}", ` : "";
  const constructor = CONSTRUCTORS[type as keyof typeof CONSTRUCTORS];
  const quantity = unit === null ? "" : `${JSON.stringify(unit)}, `;
  const declared = `${names.at(-1)}: ${constructor}(${quantity}"MEANING", { ${on}sensitivity: "${sensitivity}" }),`;
  const file = `packages/contract/src/catalog/${probe.replaceAll("_", "-")}.ts`;
  return [`  ${file}, in \`fields\`${names.length > 1 ? ` of ${names[0]}` : ""}:`, `  ${declared}`];
}
