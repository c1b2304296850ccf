import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const TESTS = globSync("{packages,e2e,tools}/**/*.{test,contract}.ts", { cwd: ROOT, exclude: ["**/node_modules/**"] });

test.each(["docs/testing.md", "docs/privacy/threat-model.md", "SECURITY.md"])("%s names tests that exist", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  const names = [...text.matchAll(/`([\w./-]+\.(?:test|contract)\.ts)`/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !TESTS.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
});
