import { defineConfig } from "vitest/config";
import { filesOf } from "./tools/suites/suites.ts";

const root = import.meta.dirname;
const globalSetup = "e2e/support/shared-postgres.ts";

export default defineConfig({
  test: {
    typecheck: { enabled: false },
    // These limits end a test that hangs. They are far above what a slow machine needs, and no test asserts them.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Tests of a database wait more than they compute.
    maxWorkers: 4,
    // One process for many files: loading the modules again takes as long as the tests do.
    isolate: false,
    projects: [
      { extends: true, test: { name: "unit", include: filesOf("unit", root) } },
      { extends: true, test: { name: "integration", include: filesOf("integration", root), globalSetup } },
      { extends: true, test: { name: "e2e", include: filesOf("e2e", root), globalSetup } },
    ],
  },
});
