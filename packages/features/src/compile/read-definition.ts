import { createContext, runInContext } from "node:vm";
import type { Manifest, ManifestInput } from "../manifest.ts";
import { declaredProblems, isText } from "./declared-problems.ts";
import { type Overlay, resolveInput } from "./known-fields.ts";

/** The manifest of a definition without the hash of its program. */
export type Declared = Omit<Manifest, "hash">;

export type ReadDefinition =
  /** `fixtures` is a path relative to the file of the definition. */
  | { readonly ok: true; readonly declared: Declared; readonly fixtures: string }
  | { readonly ok: false; readonly problems: readonly string[] };

const DEADLINE_MS = 400;
/**
 * Runs the program of a definition in a new context, and reads its members. The program is code of the caller's own
 * repository.
 */
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
  problems.push(...declaredProblems({ id, version, owner, meaning, falseReadings, purposes, output }));
  if (!isText(fixtures)) problems.push("`fixtures` must be a path");
  if (problems.length > 0) return { ok: false, problems };
  const declared = { id, version, owner, meaning, falseReadings, purposes, inputs, output };
  return { ok: true, declared: declared as unknown as Declared, fixtures: fixtures as string };
}

function readInputs(inputs: unknown, overlay: Overlay, problems: string[]): ManifestInput[] {
  const entries = Object.entries((inputs ?? {}) as Readonly<Record<string, { readonly path?: unknown } | null>>);
  if (entries.length === 0) problems.push("`inputs` must have at least one field");
  return entries.flatMap(([name, input]) => {
    const resolved = resolveInput(name, String(input?.path), overlay);
    if (resolved.ok) return [resolved.input];
    problems.push(resolved.problem);
    return [];
  });
}
