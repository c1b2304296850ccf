import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    globalSetup: "../../e2e/support/shared-postgres.ts",
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
