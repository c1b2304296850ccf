/**
 * `npm run pack [-- --out DIR]`: builds the public packages into folders below DIR (`dist/`) and packs them there. In the repository they run from
 * their TypeScript; Node runs none from `node_modules`, so what is published is JavaScript with declarations.
 *
 * Two kinds: a *tree* keeps its files as they are, one module each (for Node: assets lie beside the code). A *bundle* is
 * one file an entry, as ESM and as CommonJS, with the contract inside (for apps: Metro and Jest take either).
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildBundle } from "./bundle.ts";
import { type Manifest, ROOT } from "./manifest.ts";
import { buildTree } from "./tree.ts";

const PACKAGES = {
  contract: buildTree,
  server: buildTree,
  "host-client": buildBundle,
  "react-native": buildBundle,
} as const;

const { values } = parseArgs({ options: { out: { type: "string", default: join(ROOT, "dist") } } });

mkdirSync(values.out, { recursive: true });
for (const [name, build] of Object.entries(PACKAGES)) {
  const source = join(ROOT, "packages", name);
  const target = join(values.out, name);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Manifest;
  const published = await build(source, target, manifest);
  writeFileSync(join(target, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`);
  cpSync(join(ROOT, "LICENSE"), join(target, "LICENSE"));
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", values.out], {
    cwd: target,
    encoding: "utf8",
  });
  process.stdout.write(`${join(values.out, packed.trim())}\n`);
}
