import { defineConfig } from "vitest/config";
import { filesOf, SUITES } from "./tools/suites/suites.ts";

const only = process.env["TEST_SUITE"];
const suites = SUITES.filter((suite) => only === undefined || only === suite);

export default defineConfig({
  test: {
    include: suites.flatMap((suite) => filesOf(suite, import.meta.dirname)),
    ...(only !== "unit" && { globalSetup: "e2e/support/shared-postgres.ts" }),
    typecheck: { enabled: false },
    // These limits end a test that hangs. They are far above what a slow machine needs, and no test asserts them.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Tests of a database wait more than they compute.
    maxWorkers: 4,
    // One process for many files of all suites: loading the modules again takes as long as the tests do.
    isolate: false,
  },
});
