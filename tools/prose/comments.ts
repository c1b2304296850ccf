/** Prose of a file, with the line of the file that each of its lines comes from. */
export interface Prose {
  readonly text: string;
  readonly lines: readonly number[];
}

const LANGUAGES: Readonly<Record<string, RegExp>> = {
  c: /^[ \t]*\/\*[\s\S]*?\*\/|(?:^|(?<=[\s;,{}()]))\/\/ .*$/gm,
  sql: /^[ \t]*\/\*[\s\S]*?\*\/|(?:^|(?<=[\s;,()]))-- .*$/gm,
};

const EXTENSIONS: Readonly<Record<string, keyof typeof LANGUAGES>> = {
  ts: "c",
  tsx: "c",
  js: "c",
  mjs: "c",
  kt: "c",
  h: "c",
  mm: "c",
  sql: "sql",
};

const MARKER = /^[ \t]*(?:\/\*+|\*+\/|\/\/\/?|--|\*)?[ \t]?/;

/** The comments of a source file, each a paragraph of its own. Undefined for a language that it does not know. */
export function commentsOf(path: string, source: string): Prose | undefined {
  const comment = LANGUAGES[EXTENSIONS[path.slice(path.lastIndexOf(".") + 1)] ?? ""];
  if (comment === undefined) return undefined;
  const text: string[] = [];
  const lines: number[] = [];
  let last = 0;
  for (const { index, 0: found } of source.matchAll(comment)) {
    const first = source.slice(0, index).split("\n").length;
    if (first > last + 1) {
      text.push("");
      lines.push(first);
    }
    for (const [offset, line] of found.split("\n").entries()) {
      text.push(line.replace(MARKER, "").replace(/\*+\/$/, ""));
      lines.push(first + offset);
    }
    last = lines.at(-1) ?? 0;
  }
  return { text: text.join("\n"), lines };
}
