/**
 * `npm run lint:prose`: checks the words of Markdown, and of comments and strings in sources: terms to avoid, spelling,
 * and table cells that are longer than a phrase.
 */
import { glob, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { decodeTrie } from "cspell-trie-lib";
import { parseAst } from "vitest/node";
import { TERMS } from "./terms.ts";

const ROOT = join(import.meta.dirname, "../..");
const INCLUDED = [
  "*.{md,ts,yaml}",
  ".{changeset,github}/**/*.{md,yml}",
  "{docs,bench,deploy,e2e,examples,packages,tools,website}/**/*.{md,ts,tsx,js,mjs,mts,kt,java,c,cpp,h,mm,sql,py,sh,yaml,yml}",
  "website/.vitepress/**/*.{ts,mts}",
];
const EXCLUDED = [
  "**/node_modules/**",
  "{bench,examples,packages,tools,website}/**/{dist,build,target}/**", // Output of builds.
  "packages/react-native/generated/**", // Written by React Native's codegen.
  "website/.pages/**", // Copies of docs.
  "tools/prose/{prose.test,terms}.ts", // Their strings contain words to avoid.
];

export interface Finding {
  readonly line: number;
  readonly message: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Replaces text by characters that are no words and no white space, so that all positions stay. */
const hide = (text: string): string => text.replaceAll(/[^\n]/g, "\0");

/** Hides all but the spans, in which `clean` may replace text by text of the same length. */
function show(source: string, spans: readonly Span[], clean: (text: string) => string): string {
  let [text, at] = ["", 0];
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    text += hide(source.slice(at, start)) + clean(source.slice(start, end));
    at = end;
  }
  return text + hide(source.slice(at));
}

const spansOf = (source: string, pattern: RegExp): readonly Span[] =>
  Array.from(source.matchAll(pattern), ({ 0: match, index }) => ({ start: index, end: index + match.length }));

const FENCE = /^( *)(```+|~~~+)[^]*?\n\1\2/gm;
const CODE = /(`+)[^`][^]*?\1|\]\([^)\s]*\)|<[^>\s][^>]*>|https?:\/\/\S+|^\[[^\]]+\]: \S+/gm;

/** The words of Markdown: without code, tags and the targets of links. */
const proseOf = (markdown: string): string => markdown.replaceAll(FENCE, hide).replaceAll(CODE, hide);

const C = /^[ \t]*\/\*[\s\S]*?\*\/|(?:^|(?<=[\s;,{}()]))\/\/ .*$/gm;
const SQL = /^[ \t]*\/\*[\s\S]*?\*\/|(?:^|(?<=[\s;,()]))-- .*$/gm;
const SHELL = /(?:^|(?<=\s))# .*$/gm;
const MARKER = /^[ \t]*(?:\/\*+|\*+\/|\/\/\/?|--|#|\*)?[ \t]?|\*+\/$/gm;

const commentsIn = (path: string, source: string): readonly Span[] =>
  spansOf(source, path.endsWith(".sql") ? SQL : /\.(py|sh|ya?ml)$/.test(path) ? SHELL : C);

const withoutMarkers = (comment: string): string => comment.replaceAll(MARKER, (marker) => " ".repeat(marker.length));

interface Node extends Span {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly Node[];
}

function* walk(value: unknown): Generator<Node> {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value && "start" in value) yield value as Node;
  for (const child of Object.values(value)) yield* walk(child);
}

const IGNORED_IN_STRINGS = /'[\w.-]+'|`[^`$]*`|\\[nt]|^["']|["']$/g;

/** The messages, help texts and test names of a script: strings of two words or more, without values in quotes. */
function stringsOf(path: string, source: string): string {
  const lang = /\.m?([tj]sx?)$/.exec(path)?.[1];
  if (lang === undefined) return "";
  const spans = Array.from(walk(parseAst(source, { lang: lang as "ts" }))).flatMap(
    ({ type, value, start, end, quasis }): readonly Span[] => {
      const parts: readonly Span[] =
        quasis ?? (type === "Literal" && typeof value === "string" ? [{ start, end }] : []);
      return /\p{L}[\p{L}',;:]* +\p{L}/u.test(parts.map((part) => source.slice(part.start, part.end)).join(""))
        ? parts
        : [];
    },
  );
  return show(source, spans, (text) => text.replaceAll(IGNORED_IN_STRINGS, (found) => " ".repeat(found.length)));
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;

/** The findings of a pattern in a text. The message may leave out a match. */
function find(text: string, pattern: RegExp, message: (match: string) => string | undefined): readonly Finding[] {
  return Array.from(text.matchAll(pattern)).flatMap(({ 0: match, index }) => {
    const said = message(match);
    return said === undefined ? [] : [{ line: lineAt(text, index), message: said }];
  });
}

const writes = new Map(TERMS.flatMap(({ avoid, write }) => avoid.map((phrase) => [phrase, write] as const)));
const phrases = [...writes.keys()].map((phrase) => phrase.replaceAll(" ", "\\s+")).join("|");
const AVOIDED = new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${phrases})(?![\\p{L}\\p{N}_-])`, "giu");

const terms = (text: string): readonly Finding[] =>
  find(text, AVOIDED, (match) => {
    const phrase = match.toLowerCase().replaceAll(/\s+/g, " ");
    return `"${phrase}": write ${writes.get(phrase)}`;
  });

// A token is a name and not a word if it contains a digit, a sign such as an underscore or a dot inside, or a capital
// letter after a small one, or if it consists of capital letters.
const TOKEN = /[\p{L}\p{N}_$@./:\\#%&=+-]*[\p{L}](?:[\p{L}\p{N}_'’$@/:\\#%&=+-]|\.(?=[\p{L}\p{N}]))*/gu;
const NAME = /[\p{N}_$@/\\#%&=+:.]|[\p{Ll}]\p{Lu}|^\p{Lu}+s?$/u;

/** Accepts British English, terms of software, and the project's words in `words.txt`. */
async function readDictionary(): Promise<(word: string) => boolean> {
  const { resolve } = createRequire(import.meta.url);
  const folder = (name: string): string => dirname(resolve(`@cspell/${name}/cspell-ext.json`));
  const read = async (path: string) => {
    const bytes = await readFile(path);
    return path.endsWith(".gz") ? gunzipSync(bytes) : bytes;
  };
  const english = decodeTrie(await read(join(folder("dict-en-gb"), "en_GB.trie.gz")));
  const software = join(folder("dict-software-terms"), "dict");
  const lists = [`${software}/softwareTerms.txt.gz`, `${software}/coding-compound-terms.txt`];
  const texts = await Promise.all([...lists, join(import.meta.dirname, "words.txt")].map(read));
  const words = new Set(
    texts.flatMap((text) => text.toString().split("\n")).map((line) => line.replace(/#.*/, "").trim()),
  );
  const knows = (word: string): boolean => words.has(word) || english.hasWord(word, true);
  return (word) => word.length < 3 || knows(word) || knows(word.toLowerCase());
}

const MAX_CELL_WORDS = 14;
const CELL_WORD = /`[^`]*`|\[[^\]]*\]\([^)]*\)|[^\s|`]+/g;

/** The cells of tables that are longer than a phrase. */
const cells = (markdown: string): readonly Finding[] =>
  find(markdown.replaceAll(FENCE, hide), /(?<=^\|.*)[^|\n]+(?=\|)/gm, (cell) => {
    const words = cell.match(CELL_WORD)?.length ?? 0;
    return words > MAX_CELL_WORDS ? `a table cell of ${words} words: move the text below the table` : undefined;
  });

/** Returns the findings in the text of a Markdown file, or in the comments and strings of another file. */
export async function createLinter(): Promise<(path: string, source: string) => readonly Finding[]> {
  const isWord = await readDictionary();
  const spelling = (text: string): readonly Finding[] =>
    Array.from(text.matchAll(TOKEN)).flatMap(({ 0: token, index }) =>
      token
        .replaceAll("’", "'")
        .split("-")
        .filter((word) => !NAME.test(word) && !isWord(word.replace(/'s?$/, "")))
        .map((word) => ({ line: lineAt(text, index), message: `"${word}" is not in the dictionary` })),
    );
  return (path, source) => {
    if (path.endsWith(".md")) {
      const text = proseOf(source);
      return [...terms(text), ...spelling(text), ...(source.startsWith("<!-- Generated") ? [] : cells(source))];
    }
    const comments = proseOf(show(source, commentsIn(path, source), withoutMarkers));
    return [...terms(comments), ...spelling(comments), ...terms(stringsOf(path, source))];
  };
}

async function main(): Promise<void> {
  const lint = await createLinter();
  for (const path of (await Array.fromAsync(glob(INCLUDED, { cwd: ROOT, exclude: EXCLUDED }))).sort()) {
    for (const { line, message } of lint(path, await readFile(join(ROOT, path), "utf8"))) {
      process.stdout.write(`${path}:${line}: ${message}\n`);
      process.exitCode = 1;
    }
  }
}

if (import.meta.main) await main();
