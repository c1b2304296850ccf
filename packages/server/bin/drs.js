#!/usr/bin/env node
// This file is plain JavaScript, so that a Node that is too old for our TypeScript can still print the message below.
import module from "node:module";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 6)) {
  process.stderr.write(
    `drs needs Node 24.6 or later; this is ${process.version} (${process.execPath}).\n` +
      "In a checkout of Device Risk Signals, `npm ci` of npm 11 or later installs a suitable Node (after an older one run `npm rebuild`): start drs through npm or npx.\n",
  );
  process.exit(1);
}
// Some commands replace their process once: V8 reads these options only at the start, and Node rejects two of them in
// NODE_OPTIONS. Sizes are in MB. The old generation is collected when it has grown by the given percentage: a server
// collects seldom, and an export needs a quarter less memory. docs/performance.md and bench/tries.md have the
// measurements. An option that the operator has set is not changed. The process is not replaced in three cases: on
// Windows, which has no `execve`; under Node's permission model, which forbids it; and if the process has a channel to
// a parent, because the new process would lose the channel.
const V8_OPTIONS = {
  serve: {
    "--max-semi-space-size": 8,
    "--initial-old-space-size": 32,
    "--heap-growing-percent": 50,
    "--v8-pool-size": 1,
  },
  export: { "--heap-growing-percent": 100 },
};
const given = `${process.execArgv.join(" ")} ${process.env.NODE_OPTIONS ?? ""}`.replaceAll("_", "-");
const missing = Object.entries(V8_OPTIONS[process.argv[2]] ?? {}).flatMap(([flag, value]) =>
  given.includes(flag) ? [] : [`${flag}=${value}`],
);
const isReplaceable = process.platform !== "win32" && !process.permission && !process.channel;
if (missing.length > 0 && isReplaceable) {
  process.execve(
    process.execPath,
    [process.execPath, ...missing, ...process.execArgv, ...process.argv.slice(1)],
    process.env,
  );
}
// The cache is not in the shared temporary folder, where another user could store code that this process would run.
module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));
const { main } = await import("../src/main.ts");
process.exitCode = await main(process.argv.slice(2));
