import { join } from "node:path";
import { packageNamed } from "./packages.ts";

const { MUTATED_PACKAGE: name = "", MUTATED_FILE: file = "" } = process.env;
const reports = join(import.meta.dirname, "reports", name);

/** The run of one package. mutation.ts starts it in the root of the repository. */
export default {
  mutate: file === "" ? packageNamed(name).sources : [file],
  testRunner: "vitest",
  plugins: [import.meta.resolve("@stryker-mutator/vitest-runner")],
  vitest: { configFile: "tools/mutation/vitest.config.ts", related: false, pool: "forks" },
  coverageAnalysis: "perTest",
  // Stryker's checker and its reader of tsconfig.json need a compiler API that TypeScript 7 does not have. Both are
  // disabled, and a mutant that does not compile counts like any other.
  checkers: [],
  tsconfigFile: "none",
  disableTypeChecks: false,
  ignorePatterns: [".data", ".keys", "tools/mutation/reports"],
  incremental: true,
  incrementalFile: join(reports, "incremental.json"),
  reporters: ["progress-append-only", "clear-text", "html"],
  clearTextReporter: { allowColor: false, allowEmojis: false, reportTests: false, skipFull: true },
  htmlReporter: { fileName: join(reports, "mutation.html") },
  allowConsoleColors: false,
};
