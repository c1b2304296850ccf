/**
 * `npm run mutation [-- PACKAGE … OPTION …]`: Stryker changes the sources of each package in a copy, and the package's
 * tests that need no database must fail. Options are those of `stryker run`, such as `--mutate FILE` and `--force`. A
 * later run repeats only what changed.
 */
import { spawnSync } from "node:child_process";
import { PACKAGES } from "./packages.ts";

const args = process.argv.slice(2);
const named = Object.keys(PACKAGES).filter((name) => args.includes(name));
const options = args.filter((arg) => !named.includes(arg));
for (const name of named.length > 0 ? named : Object.keys(PACKAGES)) {
  const command = ["run", "tools/mutation/stryker.config.js", ...options];
  const env = { ...process.env, MUTATED_PACKAGE: name };
  process.stdout.write(`${name}\n`);
  if (spawnSync("tools/node_modules/.bin/stryker", command, { env, stdio: "inherit" }).status !== 0) process.exit(1);
}
