/** Checks the words of all Markdown files, and of comments and strings in sources: terms to avoid, and spelling. */
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createLinter } from "./lint.ts";
import { EXCLUDED, INCLUDED } from "./scope.ts";

const root = join(import.meta.dirname, "../..");

async function main(): Promise<number> {
  const lint = await createLinter();
  let findings = 0;
  for (const path of (await Array.fromAsync(glob(INCLUDED, { cwd: root, exclude: EXCLUDED }))).sort()) {
    const found = await lint(path, await readFile(join(root, path), "utf8"));
    for (const { line, message } of found) process.stdout.write(`${path}:${line}: ${message}\n`);
    findings += found.length;
  }
  return findings === 0 ? 0 : 1;
}

process.exitCode = await main();
