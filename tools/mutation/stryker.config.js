import { sources } from "./packages.ts";

const reports = `tools/mutation/reports/${process.env.MUTATED_PACKAGE}`;

export default {
  mutate: [...sources, "!**/*.{test,fixture,contract}.ts"],
  testRunner: "vitest",
  plugins: [import.meta.resolve("@stryker-mutator/vitest-runner")],
  vitest: { configFile: "tools/mutation/vitest.config.ts", related: false, pool: "forks" },
  // Stryker's reader of tsconfig.json needs a compiler API that TypeScript 7 does not have. A mutant that does not compile
  // counts like any other.
  tsconfigFile: "none",
  disableTypeChecks: false,
  ignorePatterns: [".data", ".keys", "tools/mutation/reports", "tools/*/build"],
  incremental: true,
  incrementalFile: `${reports}/incremental.json`,
  reporters: ["progress-append-only", "clear-text", "html"],
  clearTextReporter: { allowColor: false, allowEmojis: false, reportTests: false, skipFull: true },
  htmlReporter: { fileName: `${reports}/mutation.html` },
};
