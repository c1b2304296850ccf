import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findGuards, ROOT } from "./find-guards.ts";
import { switchOff } from "./switch-off.ts";

test("each guard of the sources can be switched off, and names a test file", async () => {
  const guards = await findGuards();
  expect(guards.length).toBeGreaterThan(0);
  for (const guard of guards) {
    const text = await readFile(join(ROOT, guard.path), "utf8");
    const where = `${guard.path}:${guard.line}`;
    expect(switchOff(text, guard), where).not.toBe(text);
    expect(existsSync(join(ROOT, guard.test.file)), `${where} names ${guard.test.file}`).toBe(true);
  }
});
