/** Lists: their options, and how rows are printed as a table, as JSON and as CSV. */
import { styleText } from "node:util";
import { type Command, Option } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { escapeControls } from "../base/messages/escape-controls.ts";
import { type Context, print, printJson } from "./context.ts";
import { relativeTime } from "./relative-time.ts";

const FORMATS = ["table", "json", "csv"] as const;

export interface TableOptions {
  readonly output?: (typeof FORMATS)[number];
  readonly json?: boolean;
  readonly wide?: boolean;
  readonly columns?: readonly string[];
}

/** How a list is shown. */
export interface Table {
  /** Printed in place of a table without rows. */
  readonly empty: string;
  /** The columns that are shown by default: names of members, or texts made from a row. Default: all members. */
  readonly columns?: readonly string[] | ((row: never) => object);
  /** The last column, if it is never cut: people need its end, such as a command to copy. */
  readonly uncut?: string;
  /** The column whose ids are shown short at a terminal, because each command that takes them takes them short. */
  readonly shortened?: string;
}

/** Adds the options that every list has. */
export const withTableOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("-o, --output <format>", "format; csv quotes a text that a spreadsheet would run").choices(FORMATS),
    )
    .addOption(new Option("--json", "print one JSON object per line, as -o json does").conflicts("output"))
    .option("--wide", "print all columns, uncut and with exact times")
    .option("--columns <names>", "print these columns, separated by commas", (text: string) => text.split(","));

type Row = Readonly<Record<string, unknown>>;

export interface RowPrinter {
  /** Prints rows, or keeps them: the widths of a table's columns depend on all rows. */
  readonly take: (rows: readonly object[]) => void;
  readonly end: () => void;
}

const formatOf = ({ output, json = false }: TableOptions): NonNullable<TableOptions["output"]> =>
  output ?? (json ? "json" : "table");
export const isTable = (options: TableOptions): boolean => formatOf(options) === "table";
export const printsJson = (options: TableOptions): boolean => formatOf(options) === "json";

export function rowPrinter(context: Context, table: Table, options: TableOptions): RowPrinter {
  if (printsJson(options)) {
    const take = (rows: readonly object[]): void =>
      jsonRows(rows, table, options).forEach((row) => printJson(context, row));
    return { take, end: () => {} };
  }
  if (!isTable(options)) return csvPrinter(context, table, options);
  const collected: object[] = [];
  const end = (): void => {
    if (collected.length === 0) return print(context, table.empty);
    const { wide = false } = options;
    const rows = collected.map((row) => withShownFirst(row, table));
    const names = options.columns ?? (wide ? allNames(rows) : shownNames(collected, table));
    if (options.columns) requireKnown(options.columns, rows);
    const brief = context.isTerminal && !wide ? { now: context.clock.now(), shortened: table.shortened } : undefined;
    const cells = rows.map((row) => names.map((name) => cell(name, row[name], brief)));
    printCells(context, names.map(escapeControls), cells, {
      limit: wide ? undefined : context.width,
      uncut: table.uncut,
    });
  };
  const take = (rows: readonly object[]): void => rows.forEach((row) => collected.push(row));
  return { take, end };
}

/** Prints a list. */
export function printTable(context: Context, rows: readonly object[], table: Table, options: TableOptions): void {
  const { take, end } = rowPrinter(context, table, options);
  take(rows);
  end();
}

/** Prints rows of a command that is no list: all their members, uncut. */
export function printRows(context: Context, rows: readonly object[], empty: string): void {
  printTable(context, rows, { empty }, { wide: true });
}

/** The rows themselves, or with `--columns` only these columns. */
function jsonRows(found: readonly object[], table: Table, { columns }: TableOptions): readonly object[] {
  if (!columns) return found;
  const rows = found.map((row) => withShownFirst(row, table));
  requireKnown(columns, rows);
  return rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null])));
}

/** The row with the members of its shown columns first. */
function withShownFirst(row: object, { columns }: Table): Row {
  if (typeof columns !== "function") return row as Row;
  const shown = columns(row as never);
  return { ...shown, ...row, ...shown };
}

function shownNames(rows: readonly object[], { columns }: Table): readonly string[] {
  if (columns === undefined) return allNames(rows);
  return typeof columns === "function" ? allNames(rows.map((row) => columns(row as never))) : columns;
}

const allNames = (rows: readonly object[]): readonly string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];

/** @throws wrong-usage that names the columns */
function requireKnown(names: readonly string[], rows: readonly Row[]): void {
  const known = allNames(rows);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new OperatorError("wrong-usage", `Unknown column "${unknown}". The columns are ${known.join(", ")}.`);
}

/** RFC 4180. Its columns are those of the first rows, so that a long list is printed as it is read. */
function csvPrinter(context: Context, table: Table, options: TableOptions): RowPrinter {
  let names: readonly string[] | undefined;
  const line = (cells: readonly string[]): void => void context.stdout.write(`${cells.join(",")}\r\n`);
  const take = (found: readonly object[]): void => {
    if (found.length === 0) return;
    const rows = found.map((row) => withShownFirst(row, table));
    if (!names) {
      names = options.columns ?? allNames(rows);
      if (options.columns) requireKnown(options.columns, rows);
      line(names.map(csvCell));
    }
    for (const row of rows) line(names.map((name) => csvCell(row[name])));
  };
  return { take, end: () => {} };
}

/** Texts that begin like a formula, which spreadsheets would run, also with the full-width signs of Japanese ones. */
const FORMULA = /^[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = textOf(value);
  // guard(false): a text of a client is no formula in a spreadsheet
  const safe = typeof value === "string" && FORMULA.test(value) ? `'${text}` : text;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The text of a value. It is escaped here, so that the width of a column includes the escapes. */
const textOf = (value: unknown): string => escapeControls(typeof value === "string" ? value : JSON.stringify(value));

const isListOfTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** Commands take this many last characters of an id: see `short-id.ts`. */
const SHORT_ID_LENGTH = 8;

/** How values are shown to a person at a terminal. */
interface Brief {
  /** The time to which times are relative. */
  readonly now: number;
  readonly shortened: string | undefined;
}

function cell(name: string, value: unknown, brief: Brief | undefined): string {
  if (value === null || value === undefined) return "-";
  if (isListOfTexts(value)) return value.length === 0 ? "-" : textOf(value.join(", "));
  if (brief === undefined || typeof value !== "string") return textOf(value);
  if (name === brief.shortened) return textOf(value.slice(-SHORT_ID_LENGTH));
  if (!/(?:^|_)at$/.test(name)) return textOf(value);
  // A date has no time of day, so it stays a date.
  const at = value.includes("T") ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? textOf(value) : relativeTime(at, brief.now);
}

const GAP = "  ";
/** The number of characters to which a column may be cut. */
const MIN_WIDTH = 6;
/** Rows that are not cut are padded up to this width, so that one long value does not lengthen every row. */
const MAX_PADDED_WIDTH = 200;
/** An id is cut only if the other columns can't be cut further, because people copy it. */
const ID_WIDTH = 36;

interface Cutting {
  /** The width to which rows are cut. */
  readonly limit: number | undefined;
  readonly uncut: string | undefined;
}

function printCells(
  context: Context,
  names: readonly string[],
  rows: readonly (readonly string[])[],
  { limit, uncut }: Cutting,
): void {
  const natural = names.map((name, column) => {
    const widest = rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? "")), widthOf(name));
    return Math.min(widest, limit ?? MAX_PADDED_WIDTH);
  });
  const room = limit === undefined ? Number.POSITIVE_INFINITY : limit - GAP.length * (names.length - 1);
  const least = names.map((name) => (name.endsWith("_id") ? ID_WIDTH : MIN_WIDTH));
  const widths = fit(fit(natural, room, least), room);
  const lineOf = (cells: readonly string[], style: (text: string, column: number) => string): string =>
    cells
      .map((text, column) => {
        const width = widths[column] ?? 0;
        const shown = limit === undefined || names[column] === uncut ? text : cut(text, width);
        const isLast = column === cells.length - 1;
        return style(shown, column) + (isLast ? "" : " ".repeat(Math.max(0, width - widthOf(shown))));
      })
      .join(GAP)
      .trimEnd();
  context.stdout.write(`${lineOf(names, (text) => styled(context, "bold", text))}\n`);
  const isBad = (text: string, column: number): boolean =>
    STATE_COLUMNS.has(names[column] ?? "") && BAD_STATES.has(text);
  for (const row of rows) {
    const line = lineOf(row, (text, column) => (isBad(text, column) ? styled(context, "red", text) : text));
    context.stdout.write(`${line}\n`);
  }
}

const STATE_COLUMNS: ReadonlySet<string> = new Set(["state", "outcome", "overdue", "review_overdue"]);
const BAD_STATES: ReadonlySet<string> = new Set(["failed", "error", "denied", "refused", "true"]);

type Style = "bold" | "red" | "yellow";

/** Prints a line whose first word may be coloured. */
export function printStyled(context: Context, style: Style | undefined, word: string, rest: string): void {
  const shown = escapeControls(word);
  context.stdout.write(`${style ? styled(context, style, shown) : shown}${escapeControls(rest)}\n`);
}

/** Colours a text at a terminal, unless `NO_COLOR` is set. */
function styled({ stdout, isTerminal }: Context, format: Style, text: string): string {
  return isTerminal ? styleText(format, text, { stream: stdout }) : text;
}

/** Reduces the widest columns until all fit, none below its least width. */
function fit(natural: readonly number[], room: number, least: readonly number[] = []): readonly number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  for (; excess > 0; excess--) {
    const reducible = widths.map((width, column) => (width > (least[column] ?? MIN_WIDTH) ? width : 0));
    const widest = Math.max(...reducible);
    if (widest === 0) break;
    widths[reducible.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [shown, used] = ["", 0];
  for (const { segment } of SEGMENTER.segment(text)) {
    used += widthOfSegment(segment);
    if (used >= width) break;
    shown += segment;
  }
  return `${shown}…`;
}

const SEGMENTER = new Intl.Segmenter();
/** Characters that take two columns of a terminal. */
const WIDE =
  /\p{Emoji_Presentation}|[\u{1100}-\u{115f}\u{2e80}-\u{a4cf}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}]/u;

const widthOfSegment = (segment: string): number => (WIDE.test(segment) ? 2 : 1);

/** The number of columns that a text takes at a terminal. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTER.segment(text)) width += widthOfSegment(segment);
  return width;
}
