import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { type InputOptions, type OutputChunk, type OutputOptions, type Plugin, rolldown } from "rolldown";
import { findDefinition, withComputeOnly } from "./definition-source.ts";
import { childrenOf, parse, type SyntaxNode } from "./syntax.ts";

const KIT = ["../definition/kit.ts", "../definition/kit.js"]
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path)) as string;
const KIT_NAME = "@device-risk-signals/features";
const ENTRY = "\0definition";

export interface Program {
  /**
   * The normalised program, which sets a variable `feature`. It stays the same if the sources are only formatted
   * differently.
   */
  readonly text: string;
  /** The program as the bundler wrote it, before it is normalised. */
  readonly written: string;
  /** The source line from which the code at an offset of `written` comes. */
  readonly origin: (offset: number) => Origin | undefined;
}

export interface Origin {
  readonly file: string;
  readonly line: number;
}

export type Bundled =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Bundles a definition with everything that it imports into one program without types, comments and white space.
 *
 * @param part `compute` bundles the function alone, `definition` bundles all members.
 */
export async function bundleProgram(file: string, part: "compute" | "definition"): Promise<Bundled> {
  const problems: string[] = [];
  try {
    const definition = findDefinition(readFileSync(file, "utf8"));
    if (!definition.ok) return { ok: false, problems: [definition.problem] };
    await using bundle = await rolldown(inputOptions(file, definition.name, part, problems));
    const { output } = await bundle.generate({ ...OUTPUT, dir: dirname(file) });
    return programOf(dirname(file), output[0], problems);
  } catch (error) {
    return { ok: false, problems: [...problems, ...problemsOf(error)] };
  }
}

function programOf(folder: string, chunk: OutputChunk, problems: string[]): Bundled {
  for (const name of chunk.imports) problems.push(`imports ${JSON.stringify(name)}, which can't be bundled`);
  if (problems.length > 0 || !chunk.map) return { ok: false, problems };
  const map = new SourceMap(JSON.parse(chunk.map.toString()) as ConstructorParameters<typeof SourceMap>[0]);
  const text = withPlainNames(chunk.code);
  return { ok: true, program: { text, written: chunk.code, origin: (offset) => originOf(folder, map, offset) } };
}

const OUTPUT: OutputOptions = {
  format: "iife",
  name: "feature",
  exports: "default",
  strict: true,
  comments: false,
  sourcemap: "hidden",
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
};

function inputOptions(file: string, name: string, part: string, problems: string[]): InputOptions {
  const plugin: Plugin = {
    name: "definition",
    resolveId: (id) => {
      if (id === ENTRY) return ENTRY;
      return id === KIT_NAME ? { id: KIT, moduleSideEffects: false } : undefined;
    },
    load: (id) =>
      id === ENTRY ? `import { ${name} } from ${JSON.stringify(file)};\nexport default ${name};` : undefined,
    transform: (code, id) => {
      const found = id === file && part === "compute" ? findDefinition(code) : undefined;
      return found?.ok ? { code: withComputeOnly(code, found), map: null } : undefined;
    },
  };
  return {
    input: ENTRY,
    cwd: dirname(file),
    platform: "neutral",
    tsconfig: false,
    plugins: [plugin],
    onLog: (level, { message }) => {
      if (level === "warn") problems.push(stripVTControlCharacters(message).trim());
    },
  };
}

/** The problems in an error of the bundler, which throws one error for all, without the source excerpt after each. */
function problemsOf(error: unknown): string[] {
  const { errors = [error] } = error as { readonly errors?: readonly unknown[] };
  return errors.map((one) => {
    const [first = ""] = stripVTControlCharacters(one instanceof Error ? one.message : String(one)).split("\n   ");
    return first.replaceAll("\n", " ").trim();
  });
}

function originOf(folder: string, map: SourceMap, offset: number): Origin | undefined {
  const entry = map.findEntry(0, offset);
  if (!("originalSource" in entry)) return undefined;
  return { file: resolve(folder, entry.originalSource), line: entry.originalLine + 1 };
}

const NAME = /^[A-Za-z_$][\w$]*$/;

/** Removes the quotes around names of properties, because formatters add and remove such quotes. */
function withPlainNames(text: string): string {
  const quoted: SyntaxNode[] = [];
  const visit = (node: SyntaxNode): void => {
    const key = node["key"] as SyntaxNode | undefined;
    if (key?.type === "Literal" && node["computed"] !== true && NAME.test(String(key["value"]))) quoted.push(key);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(parse(text, "js"));
  let plain = "";
  let copiedTo = 0;
  for (const key of quoted) {
    plain += text.slice(copiedTo, key.start) + String(key["value"]);
    copiedTo = key.end;
  }
  return plain + text.slice(copiedTo);
}
