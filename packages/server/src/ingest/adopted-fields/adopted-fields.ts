import { adoptFields, type AdoptedFields } from "@device-risk-signals/contract/catalog/adopted";
import type { FieldPath } from "@device-risk-signals/contract/catalog/check";

export type ReadAdoptedFields =
  | { readonly ok: true; readonly adopted: AdoptedFields }
  /** The problem of the file, as a predicate such as "is not JSON". */
  | { readonly ok: false; readonly problem: string };

const MAX_NAMES_IN_ERROR = 10;
/** Other names are not quoted: the variable may name a file with other content, such as a secret. */
const MEMBER_NAME = /^[A-Za-z0-9_.]{1,64}$/;

/**
 * Reads a list of adopted fields: a JSON array of paths, each an array of names.
 * `[["os_integrity", "isEmulator"], ["device_identity", "androidBuild", "sdkInt"]]`
 */
export function parseAdoptedFields(text: string): ReadAdoptedFields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: "is not JSON" };
  }
  return readAdoptedPaths(value);
}

/** @param value a value of any type, from a file or from an embedding host. */
export function readAdoptedPaths(value: unknown): ReadAdoptedFields {
  if (!Array.isArray(value)) return { ok: false, problem: "must hold an array of paths, each an array of names" };
  const wrong = value.findIndex((path) => !isPath(path));
  if (wrong !== -1) return { ok: false, problem: `must hold arrays of names: entry ${wrong + 1} is none` };
  const paths = value as readonly FieldPath[];
  const adoption = adoptFields(paths);
  if (adoption.ok) return adoption;
  const { unknown } = adoption;
  const named = unknown.slice(0, MAX_NAMES_IN_ERROR).map((path) => describePath(path, paths.indexOf(path)));
  const rest = unknown.length > MAX_NAMES_IN_ERROR ? ` and ${unknown.length - MAX_NAMES_IN_ERROR} more` : "";
  return { ok: false, problem: `names what the catalog does not list as a field: ${named.join(", ")}${rest}` };
}

function isPath(value: unknown): value is FieldPath {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function describePath(path: FieldPath, index: number): string {
  return path.length <= 4 && path.every((name) => MEMBER_NAME.test(name)) ? JSON.stringify(path) : `entry ${index + 1}`;
}
