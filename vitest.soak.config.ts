/** `npm run soak`: the suites whose rounds are random or timed, with many rounds each. */
import { defineConfig } from "vitest/config";

const SUITES = ["crash", "exactly-once", "exact-bytes", "retention", "holds", "erasure"];

export default defineConfig({
  test: {
    name: "soak",
    include: [
      ...SUITES.flatMap((name) => [`e2e/${name}*.test.ts`, `e2e/${name}/*.test.ts`]),
      "packages/server/src/events/many-partitions.test.ts",
      "packages/server/src/admin/fuzz.test.ts",
      "packages/server/src/exports/run-export.test.ts",
      "packages/server/src/scanner/scanner.test.ts",
    ],
    globalSetup: "e2e/support/shared-postgres.ts",
    env: { SOAK: process.env["SOAK"] ?? "1" },
    testTimeout: 600_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
