import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PATCHES } from "./patches.ts";

test.each(PATCHES)("the patch for $rule still finds its piece, once", async ({ file, find, replace }) => {
  const source = await readFile(join(import.meta.dirname, "../..", file), "utf8");
  expect(source.split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});
