import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    globalSetup: "../../e2e/support/shared-postgres.ts",
    // The modules of the server are read once, and not for each file.
    isolate: false,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
