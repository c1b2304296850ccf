import { createContext, runInContext } from "node:vm";
import type { Manifest, ManifestInput, Output } from "../manifest.ts";
import { type Overlay, resolveInput } from "./known-fields.ts";

/** What a definition declares about its `compute`. */
export type Declared = Omit<Manifest, "hash">;

export type ReadDefinition =
  /** `fixtures` is the path from the file of the definition. */
  | { readonly ok: true; readonly declared: Declared; readonly fixtures: string }
  | { readonly ok: false; readonly problems: readonly string[] };

const DEADLINE_MS = 400;
const ID = /^[a-z][a-z0-9_]{0,63}$/;
const MAX_TEXT = 1000;
const MAX_VALUES = 64;

/** Runs the program of a definition, which is code of the caller's repository, and reads its members. */
export function readDefinition(program: string, overlay: Overlay): ReadDefinition {
  let members: Record<string, unknown>;
  try {
    const context = createContext(Object.create(null) as object);
    const json = runInContext(`${program}\nJSON.stringify(feature)`, context, { timeout: DEADLINE_MS }) as string;
    members = JSON.parse(json) as Record<string, unknown>;
  } catch (error) {
    return { ok: false, problems: [`the definition can't be read: ${(error as Error).message}`] };
  }
  const problems: string[] = [];
  const inputs = readInputs(members["inputs"], overlay, problems);
  const { id, version, owner, meaning, falseReadings, purposes, output, fixtures } = members;
  if (typeof id !== "string" || !ID.test(id))
    problems.push("`id` has 1 to 64 of a-z, 0-9 and _, and begins with a letter");
  if (!Number.isSafeInteger(version) || (version as number) < 1) problems.push("`version` is a whole number from 1");
  for (const [name, text] of Object.entries({ owner, meaning, fixtures })) {
    if (!isText(text)) problems.push(`\`${name}\` is a text of 1 to ${MAX_TEXT} characters`);
  }
  for (const [name, texts] of Object.entries({ falseReadings, purposes })) {
    if (!isTexts(texts)) problems.push(`\`${name}\` has at least one text`);
  }
  problems.push(...outputProblems(output));
  if (problems.length > 0) return { ok: false, problems };
  const declared = { id, version, owner, meaning, falseReadings, purposes, inputs, output };
  return { ok: true, declared: declared as unknown as Declared, fixtures: fixtures as string };
}

function readInputs(inputs: unknown, overlay: Overlay, problems: string[]): ManifestInput[] {
  const entries = Object.entries((inputs ?? {}) as Readonly<Record<string, { readonly path?: unknown } | null>>);
  if (entries.length === 0) problems.push("`inputs` has at least one field");
  return entries.flatMap(([name, input]) => {
    const resolved = resolveInput(name, String(input?.path), overlay);
    if (resolved.ok) return [resolved.input];
    problems.push(resolved.problem);
    return [];
  });
}

function isText(text: unknown): text is string {
  return typeof text === "string" && text.length > 0 && text.length <= MAX_TEXT;
}

function isTexts(texts: unknown): texts is readonly string[] {
  return Array.isArray(texts) && texts.length > 0 && texts.every(isText);
}

function outputProblems(output: unknown): string[] {
  const { type, bins, values } = (output ?? {}) as Partial<Record<"type" | "bins" | "values", unknown>>;
  switch (type as Output["type"]) {
    case "flag":
      return [];
    case "count":
    case "number":
      return isAscending(bins) ? [] : ["`bins` has at least one number, in ascending order"];
    case "category":
      return isTexts(values) && values.length <= MAX_VALUES && new Set(values).size === values.length
        ? []
        : [`a category has 1 to ${MAX_VALUES} different values`];
    default:
      return ["`output` is made with `flag`, `count`, `number` or `category`"];
  }
}

function isAscending(bins: unknown): boolean {
  if (!Array.isArray(bins) || bins.length === 0) return false;
  return bins.every((bin, at) => Number.isFinite(bin) && (at === 0 || bin > (bins[at - 1] as number)));
}
