/** Reads label files: CSV (RFC 4180) with a header, or one JSON object in each line. */
import { LABEL_COLUMNS, type LabelCells } from "./labels.ts";

/** Maximum number of characters of one row. */
const MAX_ROW_LENGTH = 16_384;

export type LabelFormat = "csv" | "jsonl";

/** A row with the number of its first line. */
export type LabelLine =
  | { readonly line: number; readonly cells: LabelCells }
  | { readonly line: number; readonly problem: string };

/** Reads rows one by one. If the form of the file is wrong, the last item is a problem. */
export function readLabels(format: LabelFormat, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LabelLine> {
  return format === "csv" ? readCsv(linesOf(chunks)) : readJsonLines(linesOf(chunks));
}

interface Line {
  readonly line: number;
  readonly text: string;
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  // The decoder replaces bytes that are not UTF-8 by U+FFFD. If it dropped them, a row could name another account by
  // chance.
  const decoder = new TextDecoder();
  let unfinished = "";
  let line = 0;
  for await (const chunk of chunks) {
    const parts = (unfinished + decoder.decode(chunk, { stream: true })).split("\n");
    unfinished = parts.pop() ?? "";
    for (const text of parts) yield { line: ++line, text: withoutReturn(text) };
    if (unfinished.length > MAX_ROW_LENGTH) break;
  }
  unfinished += decoder.decode();
  if (unfinished !== "") yield { line: ++line, text: withoutReturn(unfinished) };
}

const withoutReturn = (text: string): string => (text.endsWith("\r") ? text.slice(0, -1) : text);

const TOO_LONG = `the row has more than ${MAX_ROW_LENGTH} characters`;

async function* readJsonLines(lines: AsyncIterable<Line>): AsyncGenerator<LabelLine> {
  for await (const { line, text } of lines) {
    if (text.length > MAX_ROW_LENGTH) return yield { line, problem: TOO_LONG };
    if (text.trim() !== "") yield { line, ...cellsOfJson(text) };
  }
}

type Cells = { readonly cells: LabelCells } | { readonly problem: string };

function cellsOfJson(text: string): Cells {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    return { problem: "the row is not JSON" };
  }
  if (typeof row !== "object" || row === null || Array.isArray(row)) return { problem: "the row is not a JSON object" };
  const cells: Record<string, string> = {};
  for (const [name, value] of Object.entries(row)) {
    if (!isColumn(name)) return { problem: `there is a member that is none of ${LABEL_COLUMNS.join(", ")}` };
    if (value === null) continue;
    const isText = typeof value === "string" || (name === "label" && typeof value !== "object");
    if (!isText) return { problem: `${name} is not a text` };
    cells[name] = String(value);
  }
  return { cells };
}

const isColumn = (name: string): boolean => (LABEL_COLUMNS as readonly string[]).includes(name);

async function* readCsv(lines: AsyncIterable<Line>): AsyncGenerator<LabelLine> {
  let header: readonly string[] | undefined;
  for await (const { line, text } of recordsOf(lines)) {
    if (text.length > MAX_ROW_LENGTH) return yield { line, problem: TOO_LONG };
    if (text === "") continue;
    const cells = cellsOfCsv(text);
    if (!cells) return yield { line, problem: "quotes are not as in RFC 4180" };
    if (header) {
      yield { line, ...namedCells(header, cells) };
      continue;
    }
    header = cells.map((name) => name.replace(/^\uFEFF/, "").trim());
    if (header.length !== new Set(header).size || !header.every(isColumn)) {
      return yield { line, problem: `the header names other columns than ${LABEL_COLUMNS.join(", ")}, or one twice` };
    }
  }
  if (!header) yield { line: 1, problem: "there is no header" };
}

function namedCells(header: readonly string[], cells: readonly string[]): Cells {
  if (cells.length !== header.length)
    return { problem: `the row has ${cells.length} cells, the header ${header.length}` };
  return { cells: Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ""])) };
}

/** Yields records: joins lines if a quoted cell contains the line break between them. */
async function* recordsOf(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
  let open: Line | undefined;
  for await (const { line, text } of lines) {
    const joined: Line = open ? { line: open.line, text: `${open.text}\n${text}` } : { line, text };
    const isOpen = joined.text.split('"').length % 2 === 0;
    open = isOpen && joined.text.length <= MAX_ROW_LENGTH ? joined : undefined;
    if (!open) yield joined;
  }
  if (open) yield open;
}

const CELL = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/** @returns `undefined` if the quotes are wrong. */
function cellsOfCsv(text: string): readonly string[] | undefined {
  const cells: string[] = [];
  CELL.lastIndex = 0;
  for (;;) {
    const match = CELL.exec(text);
    if (!match) return undefined;
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === "") return cells;
  }
}
