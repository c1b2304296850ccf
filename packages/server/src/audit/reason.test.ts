import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isReason } from "./reason.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const MIN_LENGTH = 8;

test("commands accept each reason in an example of the docs", () => {
  const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })];
  const reasons = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), "utf8").matchAll(/--reason "([^"]*)"/g)].map(([, reason = ""]) => reason),
  );
  expect(reasons.length).toBeGreaterThan(20);
  expect(reasons.filter((reason) => !isReason(reason, MIN_LENGTH))).toEqual([]);
});

test("a reason has no half of a surrogate pair", () => {
  expect(isReason("it was justified \u{1f600}", MIN_LENGTH)).toBe(true);
  expect(isReason("it was justified \ud83d", MIN_LENGTH)).toBe(false);
});
