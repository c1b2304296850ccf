/** The tests that Stryker runs for each mutant: the tests of one package that need no database. */
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { packageNamed } from "./packages.ts";

export default defineConfig({
  root: join(import.meta.dirname, "../.."),
  test: { include: [...packageNamed(process.env["MUTATED_PACKAGE"] ?? "").tests], testTimeout: 60_000 },
});
