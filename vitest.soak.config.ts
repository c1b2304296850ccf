/** `npm run soak`: the suites whose rounds are random or timed, with many rounds each. */
import { defineConfig } from "vitest/config";

const SUITES = ["crash", "exactly-once", "exact-bytes", "retention", "holds", "erasure", "features", "data-scientist"];
/** Suites that run on servers of three processes. */
const WITH_PROCESSES = ["crash", "exactly-once", "rejections", "operations"];

const filesOf = (suites: readonly string[]): string[] =>
  suites.flatMap((name) => [`e2e/${name}*.test.ts`, `e2e/${name}/*.test.ts`]);

const globalSetup = "e2e/support/shared-postgres.ts";
const SOAK = process.env["SOAK"] ?? "1";

export default defineConfig({
  test: {
    testTimeout: 600_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: "soak",
          include: [
            ...filesOf(SUITES),
            "packages/server/src/store/events/many-partitions.test.ts",
            "packages/server/src/http/admin/fuzz.test.ts",
            "packages/server/src/features/exports/many-labels.test.ts",
            "packages/server/src/features/exports/run-export.test.ts",
            "packages/scanner/src/scanner.test.ts",
          ],
          globalSetup,
          env: { SOAK },
        },
      },
      {
        extends: true,
        test: {
          name: "three processes",
          include: filesOf(WITH_PROCESSES),
          globalSetup,
          env: { SOAK, TEST_PROCESSES: "3" },
        },
      },
    ],
  },
});
