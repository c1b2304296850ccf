import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CATALOG } from "../../packages/contract/src/catalog/catalog.ts";
import { installTimePermissions } from "../../packages/react-native/src/app-config/permissions.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const PAGES = globSync(["README.md", "docs/**/*.md", "packages/*/README.md", "examples/*/README.md"], { cwd: ROOT });
const GUIDE = read("docs/integrator-mobile.md");

/** Numbers in the pages that the first group of a pattern matches, each with its page. */
const numbersOf = (what: RegExp): readonly (readonly [page: string, count: number])[] =>
  PAGES.flatMap((page) => [...read(page).matchAll(what)].map(([, count]) => [page, Number(count)] as const));

test("each page gives the number of probes of the catalog", () => {
  const found = numbersOf(/\b(\d+) probes\b/g);
  expect(found.length).toBeGreaterThan(3);
  expect(found.filter(([, count]) => count !== CATALOG.length)).toEqual([]);
});

test("each page gives the number of starter features in their folder", () => {
  const features = globSync("packages/features/src/starter/*.feature.ts", { cwd: ROOT }).length;
  expect(numbersOf(/has (\d+) features to begin with/g)).toEqual([[expect.any(String), features]]);
});

test("the guide for apps gives the number of fields that are omitted without a permission", () => {
  const [, permission = "", probe = "", count] =
    /^\| `(\w+)` +\| `(\w+)` +\| (\d+) fields are omitted; `isVpnActive`/m.exec(GUIDE) ?? [];
  const fields = installTimePermissions([probe]).find((one) => one.permission === permission)?.fields ?? [];
  expect(fields.filter((field) => field !== "isVpnActive")).toHaveLength(Number(count));
});

test("the guide's table of purposes names probes of the catalog, and which of them are off by default", () => {
  const section = GUIDE.split("## Which probes for which purpose")[1]?.split("\n## ")[0] ?? "";
  const rows = [...section.matchAll(/^\| [^|`]+\| (`[^|]+) \| ([^|]+) \|$/gm)];
  expect(rows.length).toBeGreaterThan(3);
  const probeNamed = (id: string) => CATALOG.find((probe) => probe.id === id);
  const namesOf = (text: string): string[] => [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  for (const [, probes = "", note = ""] of rows) {
    for (const id of namesOf(probes)) expect(probeNamed(id), id).toBeDefined();
    if (note.startsWith("off by default") || note.startsWith("cheap, on by default")) {
      const isOn = note.includes("on by default");
      for (const id of namesOf(probes)) expect(probeNamed(id)?.enabledByDefault, id).toBe(isOn);
    }
    const [, off = ""] = /`(\w+)` is off by default/.exec(note) ?? [];
    if (off) for (const id of namesOf(probes)) expect(probeNamed(id)?.enabledByDefault, id).toBe(id !== off);
  }
});
