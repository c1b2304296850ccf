import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts", "e2e/**/*.test.ts"],
    exclude: ["**/node_modules/**", "tools/pack/**"],
    globalSetup: "e2e/support/shared-postgres.ts",
    typecheck: { enabled: false },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
