import { FAILURES } from "../result.ts";
import type { Cell } from "./input-layout.ts";

/** The answer of the child process to a batch. A definition may have changed it, so nothing in it is trusted. */
export interface Computed {
  /** Features that exceeded their budget, with the index of the event. */
  readonly slow: readonly (readonly [feature: number, event: number])[];
  /** For each event the cell of each feature. */
  readonly cells: readonly (readonly Cell[])[];
}

/** Maximum number of characters of a value, as in `sandbox/realm.js`. */
const MAX_TEXT = 256;
const WORDS: ReadonlySet<unknown> = new Set([...FAILURES, "not-computed", null]);

/**
 * Reads the answer of a child process.
 * @param answer the parsed JSON text: `slow`, and `cells` as JSON text.
 * @returns `undefined` if the answer is not one of a batch with these numbers of events and features.
 */
export function readComputed(answer: unknown, events: number, features: number): Computed | undefined {
  const { slow, cells } = (answer ?? {}) as { readonly slow?: unknown; readonly cells?: unknown };
  const rows = typeof cells === "string" ? parsed(cells) : undefined;
  const isIndex = (value: unknown, end: number): boolean =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < end;
  const isSlow = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && isIndex(pair[0], features) && isIndex(pair[1], events);
  const isRow = (row: unknown): boolean => Array.isArray(row) && row.length === features && row.every(isCell);
  // guard(false): an answer that a definition changed is no answer
  // fails: packages/features/src/runner/answers.test.ts › is no answer
  if (!Array.isArray(slow) || !slow.every(isSlow) || !Array.isArray(rows)) return undefined;
  // guard(false): an answer has a cell for each feature of each event
  // fails: packages/features/src/runner/answers.test.ts › is no answer
  if (rows.length !== events || !rows.every(isRow)) return undefined;
  return { slow, cells: rows };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is a cell: a word, `null`, or an array with the value of a feature. */
function isCell(cell: unknown): boolean {
  if (!Array.isArray(cell)) return WORDS.has(cell);
  const [value]: readonly unknown[] = cell;
  if (cell.length !== 1) return false;
  if (typeof value === "string") return value.length <= MAX_TEXT;
  return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}
