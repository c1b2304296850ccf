/** The formats of an export: CSV, JSON lines and Parquet. The same rows give the same bytes. */
import type { FeatureFormat } from "./export-table.ts";
import { isFormula } from "./labels.ts";
import { type FileColumn, fileColumns } from "./file-columns.ts";
import type { Append, Cell, TableHead, TableRow, TableWriter } from "./table.ts";

export async function createTableWriter(format: FeatureFormat, head: TableHead, append: Append): Promise<TableWriter> {
  if (format === "parquet") {
    const { createParquetWriter } = await import("./parquet-writer.ts");
    return createParquetWriter(head, append);
  }
  const columns = fileColumns(head);
  const lineOf = format === "csv" ? csvLine : jsonLine;
  if (format === "csv") await append(Buffer.from(csvRow(columns.map(({ name }) => name))));
  return {
    write: (rows) => append(Buffer.from(rows.map((row) => lineOf(row, columns)).join(""))),
    end: () => Promise.resolve(),
  };
}

const csvLine = (row: TableRow, columns: readonly FileColumn[]): string =>
  csvRow(columns.map(({ cellOf }) => cellOf(row)));

const csvRow = (values: readonly Cell["value"][]): string => `${values.map(csvCell).join(",")}\n`;

/** In front of each text of CSV that a spreadsheet would run. */
export const CSV_PREFIX = "'";

/**
 * A text that a spreadsheet would run, or that begins with the prefix, gets the prefix. A reader removes it wherever it
 * comes first, and so has the text again.
 */
export function csvCell(value: Cell["value"]): string {
  const text = String(value ?? "");
  // guard(false): no export has a cell that a spreadsheet runs
  const safe = isFormula(text) || text.startsWith(CSV_PREFIX) ? `${CSV_PREFIX}${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const jsonLine = (row: TableRow, columns: readonly FileColumn[]): string =>
  `${JSON.stringify(Object.fromEntries(columns.map(({ name, cellOf }) => [name, cellOf(row)])))}\n`;
