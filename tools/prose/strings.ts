import { parseAst } from "vitest/node";
import type { Prose } from "./comments.ts";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
}

const LANGUAGE = /\.(?<lang>tsx|ts|js|mjs)$/;
const VALUE = /'[\w.-]+'/g;
const SENTENCE = /\p{L}[\p{L}',;:]* +\p{L}/u;

/**
 * The messages, help texts and test names of a source file: strings of two words or more, each as a separate paragraph.
 * @returns `undefined` for a file that is neither TypeScript nor JavaScript.
 */
export function stringsOf(path: string, source: string): Prose | undefined {
  const language = LANGUAGE.exec(path)?.groups?.["lang"];
  if (language === undefined) return undefined;
  const lang = language === "mjs" ? "js" : (language as "tsx" | "ts" | "js");
  const text: string[] = [];
  const lines: number[] = [];
  for (const node of walk(parseAst(source, { lang }))) {
    const value = textOf(node);
    if (value === undefined || !SENTENCE.test(value)) continue;
    const first = source.slice(0, node.start).split("\n").length;
    for (const [offset, line] of value.split("\n").entries()) {
      text.push(line.trim());
      lines.push(first + offset);
    }
    text.push("");
    lines.push(first);
  }
  return { text: text.join("\n"), lines };
}

function textOf({ type, value, quasis }: Node): string | undefined {
  const text =
    type === "Literal" && typeof value === "string"
      ? value.replaceAll("\n", " ")
      : type === "TemplateLiteral"
        ? quasis?.map((quasi) => quasi.value.raw).join("`…`")
        : undefined;
  return text?.replace(VALUE, "`…`");
}

function* walk(value: unknown): Generator<Node> {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value && "start" in value) yield value as Node;
  for (const child of Object.values(value)) yield* walk(child);
}
