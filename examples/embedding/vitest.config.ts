import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts"],
    // Two files build the same application of Next.
    fileParallelism: false,
    globalSetup: "../../e2e/support/shared-postgres.ts",
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
