/** Cursors of lists of counts. A cursor is the last row of a page of counts, as text. */
import { cursorOf, notNext, valuesOfCursor } from "./list-page.ts";

/** A row of counts: its hour and its names identify it. */
interface CountRow {
  readonly hour: string;
  readonly occurrences: number;
}

/** The cursor of the page after this row; `null` if there is no row. */
export function cursorAfter<Row extends CountRow>(
  row: Row | undefined,
  names: readonly (keyof Row & string)[],
): string | null {
  return row ? cursorOf([row.hour, ...names.map((name) => row[name])]) : null;
}

/** The row that a cursor names. @throws AdminError request-invalid */
export function rowOfCursor<Row extends CountRow>(cursor: string, names: readonly (keyof Row & string)[]): Row {
  const [hour, ...others] = valuesOfCursor(cursor);
  const isPosition =
    typeof hour === "string" &&
    /^\d{4}-/.test(hour) &&
    !Number.isNaN(Date.parse(hour)) &&
    others.length === names.length;
  if (!isPosition || !others.every(isName)) throw notNext();
  const named = names.map((name, index) => [name, others[index] ?? null]);
  return { ...Object.fromEntries(named), hour: new Date(hour).toISOString(), occurrences: 0 } as Row;
}

const isName = (value: unknown): boolean => value === null || (typeof value === "string" && !value.includes("\0"));
