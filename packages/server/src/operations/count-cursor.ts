/** Cursors of lists of counts. A cursor is the last row of a page of counts, as text. */
import { AdminError } from "./problem.ts";

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
  if (!row) return null;
  return Buffer.from(JSON.stringify([row.hour, ...names.map((name) => row[name])])).toString("base64url");
}

/** The row that a cursor names. @throws AdminError request-invalid */
export function rowOfCursor<Row extends CountRow>(cursor: string, names: readonly (keyof Row & string)[]): Row {
  const values = valuesOf(cursor);
  const [hour, ...others] = values ?? [];
  if (typeof hour !== "string" || Number.isNaN(Date.parse(hour)) || others.length !== names.length) {
    throw new AdminError("request-invalid", {
      errors: [{ where: "querystring/after", detail: "is not the `next` of a page" }],
    });
  }
  const named = names.map((name, index) => [name, others[index] ?? null]);
  return { ...Object.fromEntries(named), hour: new Date(hour).toISOString(), occurrences: 0 } as Row;
}

const isName = (value: unknown): value is string | null =>
  value === null || (typeof value === "string" && !value.includes("\0"));

function valuesOf(cursor: string): readonly (string | null)[] | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(values) && values.every(isName) ? values : undefined;
  } catch {
    return undefined;
  }
}
