/**
 * `npm run pack [-- --out DIR --package NAME … --release]`: packs the public packages, or the named ones, and writes
 * their tarballs into DIR (`dist/`), in which it deletes nothing. With `--release` it first checks that
 * `tools/release/project.json` says where the project is published. In the repository the packages run from TypeScript.
 * Node runs no TypeScript in `node_modules`, so the published files are JavaScript with declarations.
 *
 * There are two kinds of packages. A *tree* keeps one file for each module. It is for Node, because modules find
 * assets, such as SQL files, next to their own file. A *bundle* has one file for each entry, as ESM and as CommonJS,
 * and contains the contract. It is for apps, because Metro and Jest accept either format.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildConsole } from "../../packages/console/build.ts";
import { buildBundle } from "./bundle.ts";
import { compile } from "./compile.ts";
import { manifestOf, published, releaseProblem, ROOT } from "./manifest.ts";
import { buildTree, CONSOLE } from "./tree.ts";

const PACKAGES = {
  contract: buildTree,
  "admin-api": buildTree,
  features: buildTree,
  scanner: buildTree,
  server: buildTree,
  "host-client": buildBundle,
  "react-native": buildBundle,
} as const;

type PackageName = keyof typeof PACKAGES;
const NAMES = Object.keys(PACKAGES) as readonly PackageName[];

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(ROOT, "dist") },
    package: { type: "string", multiple: true, default: [...NAMES] },
    release: { type: "boolean", default: false },
  },
});

const unknown = values.package.find((name) => !(name in PACKAGES));
const problem =
  unknown === undefined
    ? values.release && releaseProblem()
    : `there is no package ${JSON.stringify(unknown)}: name ${NAMES.join(", ")}.`;
if (!problem) await packInto(values.out);
else {
  process.stderr.write(`pack: ${problem}\n`);
  process.exitCode = 1;
}

/** Writes into the folder only after every package was packed. */
async function packInto(folder: string): Promise<void> {
  const staging = mkdtempSync(join(tmpdir(), "drs-pack-"));
  try {
    const names = NAMES.filter((name) => values.package.includes(name));
    // Bundles contain the contract.
    compile([...new Set(["contract", ...names])], join(staging, "compiled"));
    const tarballs: string[] = [];
    for (const name of names) tarballs.push(await pack(name, staging));
    mkdirSync(folder, { recursive: true });
    for (const tarball of tarballs) {
      cpSync(join(staging, tarball), join(folder, tarball));
      process.stdout.write(`${join(folder, tarball)}\n`);
    }
  } finally {
    rmSync(staging, { recursive: true });
  }
}

/** Builds one package below `staging` and packs it there. @returns the tarball's name. */
async function pack(name: PackageName, staging: string): Promise<string> {
  const target = join(staging, name);
  mkdirSync(target);
  const source = join(ROOT, "packages", name);
  const members = await PACKAGES[name](source, target, manifestOf(name), join(staging, "compiled"));
  if (name === "server") await buildConsole(join(target, CONSOLE));
  writeFileSync(join(target, "package.json"), `${JSON.stringify({ ...published(name), ...members }, undefined, 2)}\n`);
  cpSync(join(ROOT, "LICENSE"), join(target, "LICENSE"));
  const flags = ["pack", "--silent", "--pack-destination", staging];
  return execFileSync("npm", flags, { cwd: target, encoding: "utf8" }).trim();
}
