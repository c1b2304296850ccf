import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test.concurrent.each([
  ["on the database", []],
  ["through the admin API", ["--remote"]],
])(
  "npm run demo:privacy demonstrates the lifecycle of an account %s",
  async (_, options) => {
    const script = join(import.meta.dirname, "../tools/demo-privacy/demo-privacy.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...options], { timeout: 100_000 });
    const shown = stdout.match(/^ {2}✓ /gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(20);
    expect(stdout).toContain(`Shown: ${shown}\n`);
  },
  110_000,
);
