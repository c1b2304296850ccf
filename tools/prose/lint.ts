import { TextlintKernel, type TextlintKernelRule } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import { commentsOf, type Prose } from "./comments.ts";
import { readDictionary } from "./dictionary.ts";
import { spelling, tableCell, terminology } from "./rules.ts";

export interface Finding {
  readonly line: number;
  readonly message: string;
}

/** Findings in the text of a Markdown file, or in the comments of a source file. */
export type Linter = (path: string, source: string) => Promise<readonly Finding[]>;

export async function createLinter(): Promise<Linter> {
  const kernel = new TextlintKernel();
  const plugins = [{ pluginId: "markdown", plugin: markdown.default ?? markdown }];
  const rules: TextlintKernelRule[] = [
    { ruleId: "terminology", rule: terminology },
    { ruleId: "spelling", rule: spelling(await readDictionary()) },
  ];
  const page = [...rules, { ruleId: "table-cell", rule: tableCell }];
  return async (path, source) => {
    const prose: Prose | undefined = path.endsWith(".md") ? { text: source, lines: [] } : commentsOf(path, source);
    if (prose === undefined) return [];
    const options = { filePath: path, ext: ".md", plugins, rules: isWrittenPage(path, source) ? page : rules };
    const { messages } = await kernel.lintText(prose.text, options);
    return messages.map(({ loc, message }) => ({
      line: prose.lines[loc.start.line - 1] ?? loc.start.line,
      message,
    }));
  };
}

const isWrittenPage = (path: string, source: string): boolean =>
  path.endsWith(".md") && !source.startsWith("<!-- Generated");
