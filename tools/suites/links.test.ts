import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const PAGES = globSync("{*.md,{docs,packages,examples,bench,tools,deploy}/**/*.md}", {
  cwd: ROOT,
  exclude: ["**/node_modules/**", "**/build/**"],
});
const textOf = (page: string): string => readFileSync(join(ROOT, page), "utf8").replace(/^ *```[^]*?^ *```/gm, "");

/** The anchors that GitHub gives to the headings of a page. */
const anchorsOf = (page: string): readonly string[] =>
  [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-"),
  );

test("each link of a page leads to a file, and to a heading of it", () => {
  const dead = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?![a-z]+:|\/)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .map(([, path = "", anchor]) => ({ path, anchor, target: path === "" ? page : join(dirname(page), path) }))
      .filter(
        ({ anchor, target }) => !existsSync(join(ROOT, target)) || (anchor && !anchorsOf(target).includes(anchor)),
      )
      .map(({ path, anchor = "" }) => `${page}: ${path}#${anchor}`),
  );
  expect(dead).toEqual([]);
});

test("each page that a message or a comment names exists", () => {
  const sources = globSync(["{packages,tools,e2e,deploy,website}/**/*.{ts,tsx,sql,sh,mjs,yaml}", "*.{yaml,ts}"], {
    cwd: ROOT,
    exclude: ["**/node_modules/**", "**/dist/**"],
  });
  const dead = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(/\bdocs\/[\w/.-]+\.md\b/g)]
      .filter(([page]) => !existsSync(join(ROOT, page)))
      .map(([page]) => `${file}: ${page}`),
  );
  expect(dead).toEqual([]);
});
