import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { tests } from "./packages.ts";

export default defineConfig({
  root: join(import.meta.dirname, "../.."),
  test: { include: [...tests], testTimeout: 60_000 },
});
