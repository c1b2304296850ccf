import { FAILURES } from "../result.ts";
import type { Cell } from "./input-layout.ts";

/** A feature and an event, by their indexes. */
export type Place = readonly [feature: number, event: number];

/** How many there are of each in a batch. */
export interface BatchSize {
  readonly events: number;
  readonly features: number;
  readonly shares: number;
}

/** A part of the answer of the child process. A definition may have changed it, so nothing in it is trusted. */
export interface Part {
  /** Features that exceeded their budget for an event. */
  readonly slow: readonly Place[];
  /** The cell of each feature, for each event that follows the events of the part before. */
  readonly cells: readonly (readonly Cell[])[];
  /** Milliseconds that are left of each share. */
  readonly left: readonly number[];
  /** Milliseconds that are left of the time of each feature. */
  readonly features: readonly number[];
}

/** Maximum number of characters of a value, as in `sandbox/realm.js`. */
const MAX_TEXT = 256;
const WORDS: ReadonlySet<unknown> = new Set([...FAILURES, null]);

const isIndex = (value: unknown, end: number): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < end;

/** Reads what the process computes when it ends. @returns `undefined` if it is no such place. */
export function readPlace(value: unknown, { features, events }: BatchSize): Place | undefined {
  const isPlace =
    Array.isArray(value) && value.length === 2 && isIndex(value[0], features) && isIndex(value[1], events);
  return isPlace ? (value as unknown as Place) : undefined;
}

/**
 * Reads a part of the answer of a child process.
 * @param answer the parsed JSON text: `slow`, `left`, `features`, and `cells` as JSON text.
 * @returns `undefined` if the part is not one of a batch of this size.
 */
export function readPart(answer: unknown, size: BatchSize): Part | undefined {
  const { slow, cells, left, features } = (answer ?? {}) as Partial<Record<string, unknown>>;
  const rows = readCells(cells, size);
  // guard: an answer that a definition changed is no answer
  if (!Array.isArray(slow) || !slow.every((place) => readPlace(place, size)) || !rows) return undefined;
  if (!areTimes(left, size.shares) || !areTimes(features, size.features)) return undefined;
  return { slow, cells: rows, left, features };
}

const areTimes = (value: unknown, length: number): value is readonly number[] =>
  Array.isArray(value) && value.length === length && value.every(Number.isFinite);

/** @param cells JSON text. @returns `undefined` if they are not the cells of at most so many events. */
export function readCells(
  cells: unknown,
  { events, features }: Pick<BatchSize, "events" | "features">,
): readonly (readonly Cell[])[] | undefined {
  const rows = typeof cells === "string" ? parsed(cells) : undefined;
  const isRow = (row: unknown): boolean => Array.isArray(row) && row.length === features && row.every(isCell);
  // guard(left): an answer has a cell for each feature of each event
  return Array.isArray(rows) && rows.length <= events && rows.every(isRow) ? rows : undefined;
}

/** @returns `undefined` for a text that is no JSON. */
export function parsed(text: string): unknown {
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
