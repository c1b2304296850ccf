/**
 * Decides which Markdown files of the repository are pages, where they are copied to, and where the sidebar lists them.
 */
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "..");
/** The source folder of VitePress. Pages are copied into this package, so that their imports are found. */
export const COPY_FOLDER = join(import.meta.dirname, ".pages");

interface Group {
  readonly text: string;
  /** Patterns of its pages. A page belongs to the first group that names it. */
  readonly files: readonly string[];
  /** What the home page says about the group, next to a link to its first page. */
  readonly door?: string;
  readonly interface?: Interface;
}

/** A page about an OpenAPI document. */
interface Interface {
  readonly text: string;
  readonly name: string;
  readonly document: string;
}

const GROUPS: readonly Group[] = [
  { text: "Start", files: ["README.md"] },
  {
    text: "Mobile",
    door: "Collect signals in a React Native app, with consent, and send each event once.",
    files: [
      "docs/integrator-mobile.md",
      "docs/{attestation,migrating,store-privacy,data-dictionary}.md",
      "packages/{react-native,host-client}/README.md",
      "examples/mobile/README.md",
    ],
  },
  {
    text: "Backend",
    door: "Receive events in your server, or run the endpoint next to it.",
    files: ["docs/integrator-backend.md", "docs/errors.md", "examples/embedding/README.md"],
    interface: { text: "HTTP API", name: "openapi", document: "packages/contract/schema/openapi.json" },
  },
  {
    text: "Operator",
    door: "Start, upgrade, back up and watch a server and its databases.",
    files: [
      "docs/operator.md",
      "docs/operator/first-start.md",
      "docs/operator/*.md",
      "docs/{deployment,scaling,access,permissions,configuration,database-roles,metrics}.md",
    ],
    interface: { text: "Admin API", name: "admin-api", document: "packages/admin-api/schema/openapi.json" },
  },
  {
    text: "Privacy",
    door: "Answer requests, hold, restrict and erase data, and prove who read what.",
    files: ["docs/privacy/{requests,erasure,restriction,holds,retention,purposes}.md", "docs/privacy/*.md"],
  },
  {
    text: "Analyst",
    door: "Compute features that can be recomputed, and export them with their lineage.",
    files: ["docs/{console,analyst,features}.md", "docs/exports/*.md"],
  },
  {
    text: "Contributor",
    files: ["CONTRIBUTING.md", "docs/contributing/*.md", "docs/*.md", "packages/*/README.md", "examples/*/README.md"],
  },
  { text: "Decisions", files: ["docs/decisions/*.md"] },
  { text: "Project", files: ["CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md"] },
];

const listed = new Set<string>();
const groups = GROUPS.map(({ files: patterns, ...group }) => {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }).toSorted());
  const unlisted = [...new Set(files)].filter((file) => !listed.has(file));
  for (const file of unlisted) listed.add(file);
  return { ...group, files: unlisted };
});

/** Paths from the root of the repository. */
export const PAGES: readonly string[] = groups.flatMap(({ files }) => files);

/** Pages with wide tables or diagrams, which need the space of the outline. */
export const WIDE_PAGES: readonly string[] = [
  "access",
  "architecture",
  "configuration",
  "data-dictionary",
  "database-roles",
  "errors",
  "metrics",
  "migrating",
  "permissions",
  "store-privacy",
].map((name) => `docs/${name}.md`);

export const INTERFACES: readonly Interface[] = GROUPS.flatMap(({ interface: one }) => one ?? []);

/** Each group is closed, except the one of the open page. */
export const SIDEBAR = groups.map(({ text, files, interface: one }) => ({
  text,
  collapsed: true,
  items: [
    ...files.map((file) => ({ text: titleOf(file), link: linkOf(file) })),
    ...(one ? [{ text: one.text, link: `/${one.name}` }] : []),
  ],
}));

/** The front matter of the home page. */
export const HOME = {
  layout: "home",
  hero: {
    name: "Device Risk Signals",
    text: "Raw device observations, stored exactly",
    tagline: "In your own infrastructure: no score, no vendor, no identifier of the device.",
    image: { src: "/inspector.png", alt: "The example app: probes with consent, outcome and duration" },
    actions: [
      { text: "Try it", link: "/overview#try-it" },
      { text: "How it works", link: "/docs/architecture", theme: "alt" },
    ],
  },
  features: groups.flatMap(({ text, door, files: [first = ""] }) =>
    door === undefined ? [] : [{ title: text, details: door, link: linkOf(first) }],
  ),
};

/** @param file an absolute path. */
export const isPage = (file: string): boolean => PAGES.includes(relative(ROOT, file));

/** The path of a page's copy. A README becomes the page of its folder; the site has its own home page. */
export function copyOf(file: string): string {
  return file === "README.md" ? "overview.md" : file.replace(/README\.md$/, "index.md");
}

/** The address of a page on the site. */
function linkOf(file: string): string {
  return `/${copyOf(file).replace(/(index)?\.md$/, "")}`;
}

function titleOf(file: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(join(ROOT, file), "utf8"))?.[1] ?? file;
  return heading.replaceAll("`", "");
}
