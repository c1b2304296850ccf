import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SERVER, sourceFiles } from "./imports.ts";

const COMMENT_OR_STRING = /\/\*[^]*?\*\/|\/\/.*|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

/** The source without its messages, which are strings of more than one word. */
const withoutMessages = (source: string): string =>
  source.replaceAll(COMMENT_OR_STRING, (found) => (/^["`].*\s/s.test(found) ? '""' : found));

test("names of environment variables occur only in base/config/ and in messages for operators", () => {
  const files = sourceFiles().filter((file) => !file.startsWith("base/config/"));
  const naming = files.filter((file) => withoutMessages(readFileSync(join(SERVER, file), "utf8")).includes("DRS_"));
  expect(naming).toEqual([]);
});

test("a message is not mistaken for the name of a variable", () => {
  expect(withoutMessages('fail("name one in DRS_DATABASE_URL", `DRS_PORT: ${why}`)')).not.toContain("DRS_");
  for (const name of ["config.DRS_PORT", 'environment["DRS_PORT"]', "`DRS_PORT`", "// the DRS_PORT of it"]) {
    expect(withoutMessages(`f("a b", ${name});`)).toContain("DRS_");
  }
});
