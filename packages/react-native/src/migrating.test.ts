import { readFileSync } from "node:fs";
import { join } from "node:path";
import { factsOf, PROBE_IDS } from "@device-risk-signals/contract/catalog/fields";
import { expect, it } from "vitest";

it("every field that docs/migrating.md names exists", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../docs/migrating.md"), "utf8");
  const namesOf = (fields: ReturnType<typeof factsOf>["fields"]): string[] =>
    [...fields].flatMap(([name, facts]) => [name, ...(facts.fields ? namesOf(facts.fields) : [])]);
  const known = new Set<string>([...PROBE_IDS, ...PROBE_IDS.flatMap((probe) => namesOf(factsOf(probe).fields))]);
  const cells = guide.split("\n").flatMap((line) => (line.startsWith("| ") ? [line.split("|")[2] ?? ""] : []));
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([\w.]+)`/g)].flatMap(([, name = ""]) => name.split(".")));
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
