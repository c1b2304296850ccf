import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LOCKS } from "../../packages/server/src/store/postgres/locks.ts";
import { SQL_STATES } from "../../packages/server/src/store/postgres/sql-states.ts";
import { SERVER, sourceFiles } from "./imports.ts";

/** Files that contain one of the literals, except the file that lists them. */
const filesWith = (literals: readonly (string | number)[], list: string): readonly string[] =>
  sourceFiles().filter((file) => {
    const text = readFileSync(join(SERVER, file), "utf8").replaceAll(/(\d)_(?=\d)/g, "$1");
    return file !== list && literals.some((literal) => new RegExp(`\\b${literal}\\b`).test(text));
  });

test("SQLSTATEs occur in one file", () => {
  expect(filesWith(Object.values(SQL_STATES), "store/postgres/sql-states.ts")).toEqual([]);
});

test("lock numbers occur in one file", () => {
  expect(filesWith(Object.values(LOCKS), "store/postgres/locks.ts")).toEqual([]);
});
