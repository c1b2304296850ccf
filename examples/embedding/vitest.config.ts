import { defineConfig } from "vitest/config";
import shared from "../../vitest.config.ts";

export default defineConfig({
  test: {
    ...shared.test,
    include: ["src/**/*.test.ts"],
    globalSetup: "../../e2e/support/shared-postgres.ts",
  },
});
