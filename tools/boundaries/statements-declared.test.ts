import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SERVER, sourceFiles } from "./imports.ts";

const UNCHECKED = /\.query</;
const DECLARATION = /(?<![\w.])(?:sql|prepared|composed|partitionQuery|eventSearch|subjectSearch)\(/;
const RUNS = /\.query\(\s*(?:"|`)\s*(?:select|insert|update|delete|with)\b/;

/**
 * Matches the text before a declaration that a function returns or that is a member. The caller of that function then
 * declares the statement at the top level.
 */
const IS_RETURNED = /(?:\breturn|=>|\b\w+:)\s*$/;

/** Lines that declare a statement inside a block, so that only a call of the function would check it. */
function nestedDeclarations(text: string): readonly string[] {
  return [...text.matchAll(new RegExp(DECLARATION, "g"))]
    .map(({ index }) => ({ index, from: text.lastIndexOf("\n", index) + 1 }))
    .filter(({ index, from }) => text[from] === " " && !IS_RETURNED.test(text.slice(0, index)))
    .map(({ from }) => text.slice(from, text.indexOf("\n", from)).trim());
}

const filesWith = (pattern: RegExp): readonly string[] =>
  sourceFiles().filter((file) => pattern.test(readFileSync(join(SERVER, file), "utf8")));

test("no caller gives the columns of a statement by a type argument", () => {
  expect(filesWith(UNCHECKED)).toEqual([]);
});

test("all statements are declared", () => {
  expect(filesWith(RUNS)).toEqual([]);
});

test("declarations are at the top level, and are checked even if no test runs them", () => {
  const nested = sourceFiles().flatMap((file) =>
    nestedDeclarations(readFileSync(join(SERVER, file), "utf8")).map((line) => `${file}: ${line}`),
  );
  expect(nested).toEqual([]);
  expect(filesWith(DECLARATION).length).toBeGreaterThan(20);
});

test.each([
  ["assigned in a function", "function f() {\n  const FIND = sql(`select`);\n}", true],
  ["assigned in a method", "class C {\n  m() {\n    const FIND = composed(f, {}, []);\n  }\n}", true],
  ["an argument", "async function f() {\n  await query(executor, sql(`select`));\n}", true],
  [
    "an argument on its own line",
    "async function f() {\n  await query(\n    executor,\n    sql(`select`),\n  );\n}",
    true,
  ],
  ["at the top level", "const FIND = sql(`select`);", false],
  ["of a table at the top level", "const FIND = {\n  account: sql(`select`),\n};", false],
  ["what a function returns", "const find = (table: string) =>\n  sql(`select from ${table}`);", false],
])("a declaration %s", (_, text, isNested) => {
  expect(nestedDeclarations(text).length > 0).toBe(isNested);
});
