/** HTML that is safe to insert: written in the source, or escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (found) => ESCAPES[found] ?? "");

type Part = Html | string | number | readonly Html[];

const textOf = (part: Part): string => {
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(({ text }) => text).join("");
  return escapeHtml(String(part));
};

/** A template tag for HTML: everything that is not `Html` already is escaped. */
export const markup = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.reduce((text, next, index) => text + textOf(parts[index - 1] ?? "") + next));
