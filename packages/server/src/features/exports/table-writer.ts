/** The formats of an export: CSV, JSON lines and Parquet. The same rows give the same bytes. */
import type { FeatureFormat } from "./export-table.ts";
import { isFormula } from "./labels.ts";
import {
  type Append,
  type Cell,
  stateNameOf,
  type TableColumn,
  type TableHead,
  type TableRow,
  type TableWriter,
} from "./table.ts";

export async function createTableWriter(format: FeatureFormat, head: TableHead, append: Append): Promise<TableWriter> {
  if (format === "parquet") {
    const { createParquetWriter } = await import("./parquet-writer.ts");
    return createParquetWriter(head, append);
  }
  const { columns } = head;
  const lineOf = format === "csv" ? csvLine : jsonLine;
  if (format === "csv") await append(Buffer.from(csvHeader(columns)));
  return {
    write: (rows) => append(Buffer.from(rows.map((row) => lineOf(row, columns)).join(""))),
    end: () => Promise.resolve(),
  };
}

function csvHeader(columns: readonly TableColumn[]): string {
  const names = columns.flatMap(({ name }) => [name, stateNameOf(name)]);
  return csvRow(["row", "label_time", "label", "received_at", "extracted_at", ...names]);
}

const csvLine = ({ row, labelTime, label, receivedAt, extractedAt, cells }: TableRow): string =>
  csvRow([row, labelTime, label, receivedAt, extractedAt, ...cells.flatMap(({ value, state }) => [value, state])]);

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

function jsonLine(
  { row, labelTime, label, receivedAt, extractedAt, cells }: TableRow,
  columns: readonly TableColumn[],
) {
  const members: Record<string, unknown> = {
    row,
    label_time: labelTime,
    label,
    received_at: receivedAt,
    extracted_at: extractedAt,
  };
  for (const [index, { name }] of columns.entries()) {
    members[name] = cells[index]?.value ?? null;
    members[stateNameOf(name)] = cells[index]?.state;
  }
  return `${JSON.stringify(members)}\n`;
}
