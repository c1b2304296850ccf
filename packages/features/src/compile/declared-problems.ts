import { isDeepStrictEqual } from "node:util";
import type { Sensitivity } from "@device-risk-signals/contract/catalog/declare";
import type { Manifest, Output } from "../manifest.ts";
import { NO_OVERLAY, type Overlay, resolveInput } from "./known-fields.ts";

const DEFINITION_ID = /^[a-z][a-z0-9_]{0,63}$/;
const MAX_TEXT = 1000;
const MAX_VALUES = 64;

type Members = Readonly<Record<Exclude<keyof Manifest, "hash" | "inputs">, unknown>>;

/** @returns what is wrong with the members of a manifest, except its inputs and its hash */
export function declaredProblems({ output, ...members }: Members): string[] {
  const { id, version, owner, meaning, falseReadings, purposes } = members;
  const problems: string[] = [];
  if (typeof id !== "string" || !DEFINITION_ID.test(id))
    problems.push("`id` must have 1 to 64 of a-z, 0-9 and _, and begin with a letter");
  if (!Number.isSafeInteger(version) || (version as number) < 1)
    problems.push("`version` must be a whole number from 1");
  for (const [name, text] of Object.entries({ owner, meaning })) {
    if (!isText(text)) problems.push(`\`${name}\` must be a text of 1 to ${MAX_TEXT} characters`);
  }
  for (const [name, texts] of Object.entries({ falseReadings, purposes })) {
    if (!isTexts(texts)) problems.push(`\`${name}\` must have at least one text`);
  }
  return [...problems, ...outputProblems(output)];
}

/**
 * @returns what is wrong with a manifest that another program sent. Its inputs must be as the catalog and the overlay
 * declare them: a manifest can't lower the sensitivity of a field, or change how the field is read.
 */
export function manifestProblems(manifest: Manifest, overlay: Overlay = NO_OVERLAY): string[] {
  const { hash: _, inputs, ...members } = manifest;
  const names = new Set(inputs.map(({ name }) => name));
  const inputProblems = inputs.flatMap((input) => {
    const resolved = resolveInput(input.name, input.path.join("."), overlay);
    if (!resolved.ok) return [resolved.problem];
    return isDeepStrictEqual(resolved.input, input)
      ? []
      : [`the input ${input.name} is not as the catalog or the overlay declares it`];
  });
  return [
    ...declaredProblems(members),
    ...(inputs.length === 0 ? ["`inputs` must have at least one field"] : []),
    ...(names.size < inputs.length ? ["two inputs have the same name"] : []),
    ...inputProblems,
  ];
}

/** Whether a value has the form of a manifest as far as the other checks rely on it. */
export function isManifest(value: unknown): value is Manifest {
  const { inputs } = (value ?? {}) as { readonly inputs?: unknown };
  const isInput = (input: unknown): boolean => {
    const { name, path } = (input ?? {}) as { readonly name?: unknown; readonly path?: unknown };
    return typeof name === "string" && Array.isArray(path) && path.every((part) => typeof part === "string");
  };
  return Array.isArray(inputs) && inputs.every(isInput);
}

const SENSITIVITIES_ASCENDING: readonly Sensitivity[] = ["low", "medium", "high"];

/**
 * @returns a problem for each input whose field has changed since the manifest was archived: the field is no longer
 * known, its type or unit differs, or its sensitivity is higher. A lower sensitivity is no problem.
 */
export function outdatedInputs({ inputs }: Pick<Manifest, "inputs">, overlay: Overlay): string[] {
  return inputs.flatMap(({ name, path, type, unit, sensitivity }) => {
    const resolved = resolveInput(name, path.join("."), overlay);
    if (!resolved.ok) return [resolved.problem];
    const current = resolved.input;
    const isSame = current.type === type && current.unit === unit;
    const isHigher =
      SENSITIVITIES_ASCENDING.indexOf(current.sensitivity) > SENSITIVITIES_ASCENDING.indexOf(sensitivity);
    return isSame && !isHigher
      ? []
      : [`the field ${JSON.stringify(path.join("."))} has another type or unit, or a higher sensitivity`];
  });
}

export function isText(text: unknown): text is string {
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
      return isAscending(bins) ? [] : ["`bins` must have at least one number, in ascending order"];
    case "category":
      return isTexts(values) && values.length <= MAX_VALUES && new Set(values).size === values.length
        ? []
        : [`a category must have 1 to ${MAX_VALUES} different values`];
    default:
      return ["`output` must be made with `flag`, `count`, `number` or `category`"];
  }
}

function isAscending(bins: unknown): boolean {
  if (!Array.isArray(bins) || bins.length === 0) return false;
  return bins.every((bin, at) => Number.isFinite(bin) && (at === 0 || bin > (bins[at - 1] as number)));
}
