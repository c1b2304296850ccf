/**
 * `npm run mutation`: Stryker changes the sources of each package in a copy, and the package's tests that need no
 * database must fail. `--package NAME` runs one package, `--file PATH` mutates one of its files, `--concurrency N` sets
 * the number of test runners. The last lines are the scores. A later run repeats only what changed; `--force` repeats
 * all.
 */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packageNamed, PACKAGES } from "./packages.ts";

const ROOT = join(import.meta.dirname, "../..");
const STRYKER = join(ROOT, "tools/node_modules/@stryker-mutator/core/bin/stryker.js");

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

const { values } = parseArgs({
  options: {
    package: { type: "string" },
    file: { type: "string" },
    concurrency: { type: "string" },
    force: { type: "boolean", default: false },
  },
});

async function run(command: string, args: readonly string[], cwd: string, env = process.env): Promise<void> {
  const child = spawn(command, args, { cwd, env, stdio: "inherit" });
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("exit", resolve));
  // The error has already been printed.
  if (code !== 0) process.exit(1);
}

async function mutate(name: string): Promise<void> {
  const args = ["run", "tools/mutation/stryker.config.js"];
  if (values.concurrency !== undefined) args.push("--concurrency", values.concurrency);
  if (values.force) args.push("--force");
  const file = values.file === undefined ? {} : { MUTATED_FILE: values.file };
  await run(process.execPath, [STRYKER, ...args], ROOT, { ...process.env, MUTATED_PACKAGE: name, ...file });
}

/**
 * Detected mutants in percent of all mutants that could be detected. A mutant is detected if a test fails or does not
 * end.
 */
async function scoreOf(name: string): Promise<string> {
  const text = await readFile(join(import.meta.dirname, "reports", name, "mutation.json"), "utf8");
  const { files } = JSON.parse(text) as Report;
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const count = (...of: string[]): number => statuses.filter((status) => of.includes(status)).length;
  const detected = count("Killed", "Timeout");
  const all = detected + count("Survived", "NoCoverage");
  return `${name}: ${((100 * detected) / all).toFixed(1)} %, ${detected} of ${all} mutants detected`;
}

const names = values.package === undefined ? PACKAGES.map(({ name }) => name) : [packageNamed(values.package).name];
for (const name of names) await mutate(name);
for (const name of names) process.stdout.write(`${await scoreOf(name)}\n`);
