#!/usr/bin/env node
// Plain JavaScript, so that it also speaks on a Node too old to read our TypeScript.
import module from "node:module";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 6)) {
  process.stderr.write(
    `drs needs Node 24.6 or later; this is ${process.version} (${process.execPath}).\n` +
      "The repository brings one along with `npm ci`: start it through npm or npx.\n",
  );
  process.exit(1);
}
// The cache is not in the shared temporary folder, where others could leave code for us to run.
module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));
const { main } = await import("../src/main.ts");
process.exitCode = await main(process.argv.slice(2));
