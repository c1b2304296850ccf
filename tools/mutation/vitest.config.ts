/** The tests that Stryker runs against each mutant: those of one package, without a database. */
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { packageNamed } from "./packages.ts";

export default defineConfig({
  root: join(import.meta.dirname, "../.."),
  test: { include: [...packageNamed(process.env["MUTATED_PACKAGE"] ?? "").tests], testTimeout: 60_000 },
});
