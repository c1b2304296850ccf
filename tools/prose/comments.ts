/** The prose of a file. */
export interface Prose {
  readonly text: string;
  /** For each line of `text`, the number of the line of the file from which it comes. */
  readonly lines: readonly number[];
}

const LANGUAGES: Readonly<Record<string, RegExp>> = {
  c: /^[ \t]*\/\*[\s\S]*?\*\/|(?:^|(?<=[\s;,{}()]))\/\/ .*$/gm,
  sql: /^[ \t]*\/\*[\s\S]*?\*\/|(?:^|(?<=[\s;,()]))-- .*$/gm,
  shell: /(?:^|(?<=\s))# .*$/gm,
};

const EXTENSIONS: Readonly<Record<string, keyof typeof LANGUAGES>> = {
  ts: "c",
  tsx: "c",
  js: "c",
  mjs: "c",
  mts: "c",
  kt: "c",
  java: "c",
  c: "c",
  cpp: "c",
  h: "c",
  mm: "c",
  sql: "sql",
  py: "shell",
  sh: "shell",
  yaml: "shell",
  yml: "shell",
};

const COMMENT_MARKER = /^[ \t]*(?:\/\*+|\*+\/|\/\/\/?|--|#|\*)?[ \t]?/;

/** A comment, or one line of several consecutive line comments. */
interface Comment {
  /** The line of the file in which the comment starts. */
  readonly line: number;
  readonly text: readonly string[];
  /** Whether it continues a line comment of the previous line. */
  readonly isContinued: boolean;
}

function* commentsIn(path: string, source: string): Generator<Comment> {
  const comment = LANGUAGES[EXTENSIONS[path.slice(path.lastIndexOf(".") + 1)] ?? ""];
  if (comment === undefined) return;
  let lineAfter: number | undefined;
  for (const { index, 0: found } of source.matchAll(comment)) {
    const line = source.slice(0, index).split("\n").length;
    const text = found.split("\n").map((line) => line.replace(COMMENT_MARKER, "").replace(/\*+\/$/, ""));
    yield { line, text, isContinued: line === lineAfter };
    lineAfter = found.startsWith("//") || found.startsWith("--") ? line + 1 : undefined;
  }
}

/** The comments of a source file, each as a separate paragraph. */
export function commentsOf(path: string, source: string): Prose {
  const text: string[] = [];
  const lines: number[] = [];
  for (const comment of commentsIn(path, source)) {
    if (comment.line > (lines.at(-1) ?? 0) + 1) {
      text.push("");
      lines.push(comment.line);
    }
    text.push(...comment.text);
    lines.push(...comment.text.map((_, offset) => comment.line + offset));
  }
  return { text: text.join("\n"), lines };
}

/** Matches first words that belong to a noun or a sentence which the comment leaves out. */
const FRAGMENT_START =
  /^(?:Of|As(?! (?:far|long|soon) as)|By(?! default)|Like|Made|Has|Not|Its|Again|Also|Taken|Kept|Held|(?:New|Old)est first\.|The same(?:[.,:;]| (?:about|and|as|but|for|from|in|of|on|with|without)\b))(?=\W)/;

/** Finds comments that make sense only together with the line below, by their first words. */
export function fragmentsOf(path: string, source: string): readonly { line: number; words: string }[] {
  return Array.from(commentsIn(path, source)).flatMap(({ line, text, isContinued }) => {
    const words = isContinued ? undefined : FRAGMENT_START.exec(text.join(" ").trim())?.[0];
    return words === undefined ? [] : [{ line, words }];
  });
}
