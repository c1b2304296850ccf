/** The path and the imports of a test file decide to which suite it belongs. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `unit` starts no PostgreSQL. `integration` calls the code of the server on a real PostgreSQL. `e2e` uses the server
 * only through its command line and HTTP.
 */
export const SUITES = ["unit", "integration", "e2e"] as const;
export type Suite = (typeof SUITES)[number];

export const TEST_FILES = ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts", "e2e/**/*.test.ts"];

/** Folders whose tests belong to no suite: they need the packages of `tools`, and a separate check runs them. */
const SEPARATE_FOLDERS = ["tools/pack/", "tools/browser/"];

/** Matches an import of a package, or of support code that opens a system or a part of it in the test's process. */
const IN_PROCESS_TESTS =
  /from "\.{1,2}\/(?:\.\.\/)*(?:packages\/|support\/(?:parties|past-event|test-system|(?:erasure|hold|retention|restore)-scene)\.ts)/;

/** Matches a call of support code that starts a PostgreSQL, or uses the PostgreSQL of the run. */
const STARTS_POSTGRES =
  /\b(?:sharedDatabase|startDatabase|startEmptyDatabase|useTestSystem|useFeatureScene|useOrderScene|makeHome|makeEmptyHome)\(/;

export function suiteOf(file: string, text: string): Suite {
  if (file.startsWith("e2e/")) return IN_PROCESS_TESTS.test(text) ? "integration" : "e2e";
  return STARTS_POSTGRES.test(text) ? "integration" : "unit";
}

/** Paths of the test files of a suite, from the root of the repository. */
export function filesOf(suite: Suite, root: string): string[] {
  return globSync(TEST_FILES, { cwd: root, exclude: (name) => name === "node_modules" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !SEPARATE_FOLDERS.some((folder) => file.startsWith(folder)))
    .filter((file) => suiteOf(file, readFileSync(join(root, file), "utf8")) === suite);
}
