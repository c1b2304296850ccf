import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const NAMED = /`([^`]+\.test\.ts)`(?: › ([^`]+?))?(?=; `|, `|$)/g;

test("the tests that the table of attacks names exist", () => {
  const page = readFileSync(join(ROOT, "docs/testing.md"), "utf8");
  const section = page.split("## Attacks on the admin API\n")[1]?.split("\n## ")[0] ?? "";
  const rows = [...section.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|$/gm)].slice(2);
  expect(rows.length).toBeGreaterThan(40);
  const wrong = rows.filter(([, , cell = ""]) => {
    const named = [...cell.matchAll(NAMED)];
    return named.length === 0 || named.some(([, file = "", parts = ""]) => lacks(file, parts));
  });
  expect(wrong.map(([, subject]) => subject)).toEqual([]);
});

/** Whether the file lacks one of the given parts of names of tests. */
function lacks(file: string, parts: string): boolean {
  const path = /^(?:e2e|packages)\//.test(file) ? file : `packages/server/src/${file}`;
  const text = readFileSync(join(ROOT, path), "utf8");
  return parts.split("; ").some((part) => !text.includes(part));
}
