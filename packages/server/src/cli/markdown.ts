/**
 * Text for Markdown documents. Names and values of clients are code spans, in which no link, no HTML and no mention
 * works. The characters that could end a span or a cell are replaced by their JSON escapes.
 */

/** The JSON of a value, as a code span. */
export const code = (value: unknown): string =>
  `\`${JSON.stringify(value).replaceAll(/[`|<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)}\``;

/** A name or a path as a code span, without quotes unless it is empty. */
export const codeOfName = (name: string): string => code(name).replace(/^`"(.+)"`$/, "`$1`");

/** A text of the catalog, in which no character has a meaning for Markdown. */
export const plain = (text: string): string => text.replaceAll(/[\\`*_[\]<>|]/g, String.raw`\$&`);

/** A table of cells that are Markdown. */
export function tableOf(rows: readonly Readonly<Record<string, string>>[]): readonly string[] {
  const names = Object.keys(rows[0] ?? {});
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(names), line(names.map(() => "---")), ...rows.map((row) => line(names.map((name) => row[name] ?? "")))];
}
