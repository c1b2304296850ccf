import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type LockReport, lockFeatures } from "./lock-features.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

const DEFINITION = `import { feature, field, flag } from "@device-risk-signals/features";

export const vpnActive = feature({
  id: "vpn_active",
  version: 1,
  owner: "the team that answers questions about it",
  meaning: "A VPN was active",
  falseReadings: ["Companies and careful people use a VPN all the time"],
  purposes: ["default"],
  inputs: { vpn: field("network.isVpnActive") },
  output: flag(),
  compute: ({ vpn }) => (vpn.state === "observed" ? vpn.value : null),
  fixtures: "./vpn-active.fixtures.json",
});
`;

const FIXTURES = {
  cases: [
    { name: "a VPN is active", inputs: { vpn: { observed: true } }, result: { observed: true } },
    { name: "no VPN is active", inputs: { vpn: { observed: false } }, result: { observed: false } },
  ],
};

const WORKFLOW = `name: features
on: pull_request
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npm ci --ignore-scripts
      - run: npm run typecheck
      - run: git show "origin/$GITHUB_BASE_REF:features.lock.json" > base.lock.json
      - run: npm test -- --base base.lock.json
`;

const README = `# Features

Definitions of features: facts about observations, computed from raw events. \`npm test\` checks them.

1. Edit or add a file that ends in \`.feature.ts\`, with its fixtures.
2. If the code of a version changed, increase its \`version\` by 1.
3. \`npx drs feature lock\` writes \`features.lock.json\`. Commit it with the change.
4. A second person reviews the difference of the source.

\`overlay.json\` lists fields beyond the catalog that were accepted after a review.
`;

function filesOf(name: string): Readonly<Record<string, string>> {
  // Formatters write an array of one text in one line.
  const json = (value: unknown): string =>
    `${JSON.stringify(value, undefined, 2).replaceAll(/\[\n\s+("[^"\n]*")\n\s+\]/g, "[$1]")}\n`;
  return {
    "package.json": json({
      name,
      private: true,
      type: "module",
      engines: { node: ">=24.6" },
      scripts: { test: "drs feature test", typecheck: "tsc" },
      devDependencies: {
        "@device-risk-signals/features": version,
        "@device-risk-signals/server": version,
        typescript: ">=6",
      },
    }),
    "tsconfig.json": json({
      compilerOptions: {
        target: "es2024",
        lib: ["es2024"],
        module: "nodenext",
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        erasableSyntaxOnly: true,
        verbatimModuleSyntax: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        noEmit: true,
        types: [],
      },
      include: ["**/*.ts"],
    }),
    ".gitignore": "node_modules/\nbase.lock.json\n",
    ".npmrc": "ignore-scripts=true\n",
    ".github/workflows/features.yml": WORKFLOW,
    "README.md": README,
    "overlay.json": json({ fields: [] }),
    "features/vpn-active.feature.ts": DEFINITION,
    "features/vpn-active.fixtures.json": json(FIXTURES),
  };
}

/**
 * Makes a repository of definitions: a package with one feature, its fixtures, a lock file and a workflow for CI.
 *
 * @param folder a folder that is empty or does not exist
 */
export async function initProject(folder: string): Promise<LockReport> {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    return { features: 0, problems: ["the folder is not empty"] };
  }
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-");
  for (const [path, text] of Object.entries(filesOf(name))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return lockFeatures(folder);
}
