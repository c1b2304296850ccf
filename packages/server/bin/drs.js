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
// The server replaces its process once: V8 reads the sizes of its heap (in MB) and the number of its threads only at the
// start, and Node refuses the second one in NODE_OPTIONS. Values that the operator sets stay. Windows can't replace a
// process, the permission model forbids it, and the new one would lose the channel to a parent.
const V8_OPTIONS = { "--max-semi-space-size": 16, "--initial-old-space-size": 32, "--v8-pool-size": 1 };
const given = `${process.execArgv.join(" ")} ${process.env.NODE_OPTIONS ?? ""}`.replaceAll("_", "-");
const missing = Object.entries(V8_OPTIONS).flatMap(([flag, value]) =>
  given.includes(flag) ? [] : [`${flag}=${value}`],
);
const isReplaceable = process.platform !== "win32" && !process.permission && !process.channel;
if (process.argv[2] === "serve" && missing.length > 0 && isReplaceable) {
  process.execve(
    process.execPath,
    [process.execPath, ...missing, ...process.execArgv, ...process.argv.slice(1)],
    process.env,
  );
}
// The cache is not in the shared temporary folder, where others could leave code for us to run.
module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));
const { main } = await import("../src/main.ts");
process.exitCode = await main(process.argv.slice(2));
