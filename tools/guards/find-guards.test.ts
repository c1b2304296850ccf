import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findGuards, ROOT } from "./find-guards.ts";
import { switchOff } from "./switch-off.ts";

const IMPORT = /from "(\.\/[^"]+)"/g;

/**
 * The text of a test file. For a test in e2e, also the texts of the files that it imports from its folder, because they
 * may list its cases.
 */
async function textOfTests(path: string): Promise<string> {
  const text = await readFile(join(ROOT, path), "utf8");
  if (!path.startsWith("e2e/")) return text;
  const imported = [...text.matchAll(IMPORT)].map(([, name = ""]) => textOfTests(join(dirname(path), name)));
  return [text, ...(await Promise.all(imported))].join("\n");
}

test("each guard of the sources can be switched off, and names a test that exists", async () => {
  const guards = await findGuards();
  expect(guards.length).toBeGreaterThan(0);
  const tests = new Map<string, Promise<string>>();
  for (const guard of guards) {
    const text = await readFile(join(ROOT, guard.path), "utf8");
    const where = `${guard.path}:${guard.line}`;
    const { file, name } = guard.test;
    expect(switchOff(text, guard), where).not.toBe(text);
    expect(existsSync(join(ROOT, file)), `${where} names ${file}`).toBe(true);
    const named = tests.get(file) ?? textOfTests(file);
    tests.set(file, named);
    expect((await named).includes(name), `${where} names a test "${name}", which ${file} does not have`).toBe(true);
  }
});
