/**
 * Decides which Markdown files of the repository are pages, where they are copied to, and where the sidebar lists them.
 */
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "..");
/** The source folder of VitePress. Pages are copied into this package, so that their imports are found. */
export const COPY_FOLDER = join(import.meta.dirname, ".pages");

/** Titles of the sidebar's groups, and their pages. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: ["README.md"],
  Guides: ["docs/*.md"],
  Operation: ["docs/operator/*.md"],
  Privacy: ["docs/privacy/*.md"],
  Packages: ["packages/*/README.md", "examples/*/README.md"],
  Decisions: ["docs/decisions/*.md"],
  Project: ["CONTRIBUTING.md", "docs/contributing/*.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md"],
};

const groups = Object.entries(GROUPS).map(([text, patterns]) => ({
  text,
  files: patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }).toSorted()),
}));

/** Paths from the root of the repository. */
export const PAGES: readonly string[] = groups.flatMap(({ files }) => files);

export const SIDEBAR = groups.map(({ text, files }) => ({
  text,
  items: files.map((file) => ({ text: titleOf(file), link: `/${copyOf(file).replace(/(index)?\.md$/, "")}` })),
}));

/** @param file an absolute path. */
export const isPage = (file: string): boolean => PAGES.includes(relative(ROOT, file));

/** The path of a page's copy. A README becomes the page of its folder. */
export function copyOf(file: string): string {
  return file.replace(/README\.md$/, "index.md");
}

function titleOf(file: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(join(ROOT, file), "utf8"))?.[1] ?? file;
  return heading.replaceAll("`", "");
}
