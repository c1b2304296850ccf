/**
 * Decides which Markdown files of the repository are pages, where they are copied to, and where the sidebar lists them.
 */
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "..");
/** The source folder of VitePress. Pages are copied into this package, so that their imports are found. */
export const COPY_FOLDER = join(import.meta.dirname, ".pages");

/** Titles of the sidebar's groups, and their pages. A page belongs to the first group that names it. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: ["README.md"],
  Mobile: [
    "docs/integrator-mobile.md",
    "docs/{migrating,store-privacy,data-dictionary}.md",
    "packages/{react-native,host-client}/README.md",
    "examples/mobile/README.md",
  ],
  Backend: ["docs/integrator-backend.md", "docs/errors.md", "examples/embedding/README.md"],
  Operator: [
    "docs/operator.md",
    "docs/operator/first-start.md",
    "docs/operator/*.md",
    "docs/{deployment,access,permissions,configuration,database-roles,metrics}.md",
  ],
  Privacy: ["docs/privacy/*.md"],
  Analyst: ["docs/{analyst,features}.md"],
  Contributor: [
    "CONTRIBUTING.md",
    "docs/contributing/*.md",
    "docs/*.md",
    "packages/*/README.md",
    "examples/*/README.md",
  ],
  Decisions: ["docs/decisions/*.md"],
  Project: ["CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md"],
};

const listed = new Set<string>();
const groups = Object.entries(GROUPS).map(([text, patterns]) => {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }).toSorted());
  const unlisted = [...new Set(files)].filter((file) => !listed.has(file));
  for (const file of unlisted) listed.add(file);
  return { text, files: unlisted };
});

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
