/** Tests that links between pages, and pages that sources name, lead somewhere. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const filesOf = (patterns: readonly string[]): readonly string[] =>
  globSync(patterns, { cwd: ROOT, exclude: ["**/node_modules/**", "**/dist/**"] });
const PAGES = filesOf(["*.md", "docs/**/*.md", "{packages,examples}/*/README.md"]);

const withoutCode = (text: string): string => text.replaceAll(/^ *```.*?^ *```/gms, "");

/** The anchors of a page's headings, as GitHub and the site write them. */
function anchorsOf(page: string): readonly string[] {
  return [...withoutCode(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(PAGES)("every link of %s leads to a file and a heading", (page) => {
  const dead = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, href = ""]) => href)
    .filter((href) => !/^[a-z]+:/.test(href))
    .filter((href) => {
      const [path = "", anchor] = href.split("#");
      const file = path === "" ? page : relative(ROOT, join(ROOT, dirname(page), path));
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && file.endsWith(".md") && !anchorsOf(file).includes(anchor);
    });
  expect(dead).toEqual([]);
});

test("every page that a source names exists", () => {
  const sources = filesOf(["{packages,tools,e2e,deploy,website}/**/*.{ts,tsx,sql,sh,mjs,yaml}", "*.{yaml,ts}"]);
  const dead = sources.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w/.-]+\.md\b/g)]
      .filter(([page]) => !existsSync(join(ROOT, page)))
      .map(([page]) => `${file}: ${page}`),
  );
  expect(dead).toEqual([]);
});
