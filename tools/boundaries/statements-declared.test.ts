import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SERVER, sourceFiles } from "./imports.ts";

const UNCHECKED = /\.query</;
const DECLARATION = /(?<![\w.])(?:sql|composed|partitionQuery|eventSearch|subjectSearch)\(/;
const RUNS = /\.query\(\s*(?:"|`)\s*(?:select|insert|update|delete|with)\b/;

const filesWith = (pattern: RegExp): readonly string[] =>
  sourceFiles().filter((file) => pattern.test(readFileSync(join(SERVER, file), "utf8")));

test("no caller says of its own what a statement returns", () => {
  expect(filesWith(UNCHECKED)).toEqual([]);
});

test("statements are declared", () => {
  expect(filesWith(RUNS)).toEqual([]);
});

test("declarations are at the top level, where they are checked whether or not a test runs them", () => {
  const nested = sourceFiles().flatMap((file) =>
    readFileSync(join(SERVER, file), "utf8")
      .split("\n")
      .filter(
        (line) => /^ {4,}/.test(line) && /= (?:sql|composed|partitionQuery|eventSearch|subjectSearch)\(/.test(line),
      )
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(nested).toEqual([]);
  expect(filesWith(DECLARATION).length).toBeGreaterThan(20);
});
