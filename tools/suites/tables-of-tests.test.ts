import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const NAMED = /`([^`]+\.test\.ts)`(?: › ([^`]+?))?(?=; `|, `|$)/g;

test.each([
  ["Attacks on the admin API", 40],
  ["Bad input of features and exports", 30],
])("the tests that the table under %j names exist", (heading, least) => {
  const page = readFileSync(join(ROOT, "docs/testing.md"), "utf8");
  const section = page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = [...section.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|$/gm)].slice(2);
  expect(rows.length).toBeGreaterThan(least);
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
