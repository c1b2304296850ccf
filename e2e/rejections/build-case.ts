/** Builds cases from a change of a valid request, and the answers that several cases expect. */
import type { Case, Expected } from "./case.ts";

export type Json = Record<string, never>;

export const text400 = (error: NonNullable<Expected["error"]>, pointer = ""): Expected => ({
  status: 400,
  problem: "text-invalid",
  error,
  pointer,
});

export const request400 = (error: NonNullable<Expected["error"]>, pointer: string): Expected => ({
  status: 400,
  problem: "request-invalid",
  error,
  pointer,
});

export const textError = (name: string, expected: Expected, change: (text: string) => string | Uint8Array): Case => ({
  row: 8,
  name,
  expected,
  send: (scene) => scene.post(change(JSON.stringify(scene.good()))),
});

export const change = (row: number, name: string, expected: Expected, work: (request: Json) => void): Case => ({
  row,
  name,
  expected,
  send: (scene) => scene.changed(work),
});

/** Sets the member at a path of a request, such as `/observations/probes`; `undefined` deletes the member. */
export function set(request: unknown, path: string, value: unknown): void {
  const names = path.split("/").slice(1);
  const last = names.pop() as string;
  const parent = names.reduce((at, name) => at[name] as Record<string, unknown>, request as Record<string, unknown>);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}

/** Pointers into a request. */
export const PROBES_POINTER = "/observations/probes";
export const OBSERVATIONS_POINTER = "/observations";
