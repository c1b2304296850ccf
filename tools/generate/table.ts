/** A table of Markdown. */
export const table = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Text as code of Markdown. */
export const code = (text: string | number): string => `\`${text}\``;
