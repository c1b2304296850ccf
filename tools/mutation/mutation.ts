/**
 * `npm run mutation`: Stryker changes the sources of each package in a copy, and the package's tests that need no
 * database must fail. `--package NAME` runs one package, `--file PATH` mutates one of its files, `--concurrency N` sets
 * the number of test runners. A later run repeats only what changed; `--force` repeats all.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packageNamed, PACKAGES } from "./packages.ts";

const ROOT = join(import.meta.dirname, "../..");
const STRYKER = join(ROOT, "tools/node_modules/@stryker-mutator/core/bin/stryker.js");

const { values } = parseArgs({
  options: {
    package: { type: "string" },
    file: { type: "string", default: "" },
    concurrency: { type: "string" },
    force: { type: "boolean", default: false },
  },
});

const flags = [
  ...(values.concurrency ? ["--concurrency", values.concurrency] : []),
  ...(values.force ? ["--force"] : []),
];
const named = values.package === undefined ? PACKAGES : [packageNamed(values.package)];
for (const { name } of named) {
  const env = { ...process.env, MUTATED_PACKAGE: name, MUTATED_FILE: values.file };
  const args = [STRYKER, "run", "tools/mutation/stryker.config.js", ...flags];
  process.stdout.write(`${name}\n`);
  if (spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: "inherit" }).status !== 0) process.exit(1);
}
