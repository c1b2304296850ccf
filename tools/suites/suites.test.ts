import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesOf, suiteOf, SUITES } from "./suites.ts";

const importing = (from: string): string => `import { a } from "${from}";\n`;
const calling = (name: string): string => `database = await ${name}();\n`;

test.each([
  ["packages/server/src/audit/audit.test.ts", calling("sharedDatabase"), "integration"],
  ["packages/server/src/http/admin.test.ts", importing("../../../../e2e/support/client.ts"), "unit"],
  ["e2e/behind.test.ts", importing("./support/server.ts"), "e2e"],
  ["e2e/holds.test.ts", importing("../packages/server/src/store/events/read-events.ts"), "integration"],
  ["e2e/holds/hold.test.ts", importing("../support/hold-scene.ts"), "integration"],
  ["e2e/audited-access.test.ts", importing("./support/parties.ts"), "integration"],
  ["e2e/rejections/rejections.test.ts", importing("../support/past-event.ts"), "integration"],
  ["e2e/packages.test.ts", importing("../tools/pack/manifest.ts"), "e2e"],
] as const)("%s with %j is of the suite %s", (file, text, suite) => {
  expect(suiteOf(file, text)).toBe(suite);
});

test("no file of a suite that shares a process replaces modules, because files that loaded them before would keep the real ones", () => {
  const root = join(import.meta.dirname, "../..");
  const files = (["unit", "integration"] as const).flatMap((suite) => filesOf(suite, root));
  const replaces = (file: string): boolean => /^vi\.(?:do)?mock\(/im.test(readFileSync(join(root, file), "utf8"));
  expect(files.filter(replaces)).toEqual([]);
});

test("each suite has files, and no file is in two suites", () => {
  const root = join(import.meta.dirname, "../..");
  const suites = SUITES.map((suite) => filesOf(suite, root));
  for (const files of suites) expect(files).not.toHaveLength(0);
  expect(new Set(suites.flat()).size).toBe(suites.flat().length);
});
