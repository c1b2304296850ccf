/** `npm run soak`: the suites whose rounds are random or timed, with many rounds each. */
import { defineConfig, mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

export default mergeConfig(
  shared,
  defineConfig({
    test: {
      env: { SOAK: "1" },
      testTimeout: 600_000,
    },
  }),
);
