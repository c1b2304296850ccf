/** Converts links in the repository's Markdown, which may name a folder or a source file as well as a page. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { MarkdownRenderer } from "vitepress";
import { COPY_FOLDER, copyOf, isPage, ROOT } from "./pages.ts";

/** Set only in the workflow. Without it, links to source files are shown as text. */
const repositoryName = process.env["GITHUB_REPOSITORY"];

/** Makes links work on the site. A link whose target does not exist is not changed, so that VitePress fails. */
export function useFileLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("file-links", ({ tokens, env }: { tokens: Token[]; env: { path?: string } }) => {
    const folder = join(ROOT, relative(COPY_FOLDER, dirname(env.path ?? COPY_FOLDER)));
    for (const { children } of tokens) resolveLinks(children ?? [], folder);
  });
}

type Token = Parameters<MarkdownRenderer["renderer"]["render"]>[0][number];

function resolveLinks(tokens: readonly Token[], folder: string): void {
  let isText = false;
  for (const token of tokens) {
    if (token.type === "link_open") {
      const target = targetOf(token.attrGet("href") ?? "", folder);
      isText = target === undefined;
      if (target !== undefined) token.attrSet("href", target);
      else token.attrs = null;
    }
    if (token.type === "link_open" || token.type === "link_close") token.hidden = isText;
  }
}

/** @returns the address on the site; `undefined` for a source file whose address is not known. */
function targetOf(href: string, folder: string): string | undefined {
  if (/^([a-z]+:|[#/])/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const file = fileOf(join(folder, path));
  if (!existsSync(file)) return href;
  if (isPage(file)) {
    return `/${copyOf(relative(ROOT, file))}${anchor === undefined ? "" : `#${anchor}`}`;
  }
  return repositoryName && `https://github.com/${repositoryName}/blob/HEAD/${relative(ROOT, file)}`;
}

function fileOf(path: string): string {
  const readme = join(path, "README.md");
  return existsSync(path) && statSync(path).isDirectory() && isPage(readme) ? readme : path;
}
