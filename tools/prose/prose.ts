/**
 * Checks the words of all Markdown files and of the comments in sources: terms to avoid, and spelling. With `--pending`
 * it counts the findings in the folders that are not checked yet.
 */
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createLinter } from "./lint.ts";
import { EXCLUDED, INCLUDED, PENDING } from "./scope.ts";

const root = join(import.meta.dirname, "../..");

async function main(pending: boolean): Promise<number> {
  const lint = await createLinter();
  const counts = new Map(PENDING.map((folder) => [folder, 0]));
  let findings = 0;
  for (const path of (await Array.fromAsync(glob(INCLUDED, { cwd: root, exclude: EXCLUDED }))).sort()) {
    const folder = path.endsWith(".md") ? undefined : PENDING.find((prefix) => `${path}/`.startsWith(`${prefix}/`));
    if ((folder === undefined) === pending) continue;
    const found = await lint(path, await readFile(join(root, path), "utf8"));
    if (folder !== undefined) counts.set(folder, (counts.get(folder) ?? 0) + found.length);
    else for (const { line, message } of found) process.stdout.write(`${path}:${line}: ${message}\n`);
    findings += found.length;
  }
  for (const [folder, count] of pending ? counts : []) process.stdout.write(`${folder}: ${count}\n`);
  return pending || findings === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.includes("--pending"));
