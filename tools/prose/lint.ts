import { TextlintKernel, type TextlintKernelRule } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import { commentsOf, fragmentsOf, type Prose } from "./comments.ts";
import { readDictionary } from "./dictionary.ts";
import { spelling, tableCell, terminology } from "./rules.ts";
import { stringsOf } from "./strings.ts";

export interface Finding {
  readonly line: number;
  readonly message: string;
}

/** Returns the findings in the text of a Markdown file, or in the comments and strings of a source file. */
export type Linter = (path: string, source: string) => Promise<readonly Finding[]>;

export async function createLinter(): Promise<Linter> {
  const kernel = new TextlintKernel();
  const plugins = [{ pluginId: "markdown", plugin: markdown.default ?? markdown }];
  const terms: TextlintKernelRule[] = [{ ruleId: "terminology", rule: terminology }];
  const words = [...terms, { ruleId: "spelling", rule: spelling(await readDictionary()) }];
  const page = [...words, { ruleId: "table-cell", rule: tableCell }];
  const lint = async (path: string, prose: Prose | undefined, rules: TextlintKernelRule[]): Promise<Finding[]> => {
    if (prose === undefined) return [];
    const { messages } = await kernel.lintText(prose.text, { filePath: path, ext: ".md", plugins, rules });
    return messages.map(({ loc, message }) => ({ line: prose.lines[loc.start.line - 1] ?? loc.start.line, message }));
  };
  return async (path, source) => {
    if (path.endsWith(".md")) {
      return lint(path, { text: source, lines: [] }, isGenerated(source) ? words : page);
    }
    return [
      ...fragmentsOf(path, source).map(({ line, words: first }) => ({
        line,
        message: `a comment starts with "${first}": name what it is about`,
      })),
      ...(await lint(path, commentsOf(path, source), words)),
      ...(await lint(path, stringsOf(path, source), terms)),
    ];
  };
}

const isGenerated = (source: string): boolean => source.startsWith("<!-- Generated");
