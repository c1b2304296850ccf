import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { expect, it } from "vitest";
import { EMULATORS } from "./emulator-artefacts.ts";

const products = EMULATORS.map(([product]) => product).sort();

it("the catalog has the name of each emulator", () => {
  const { emulatorVendorMarkers } = CATALOG.find(({ id }) => id === "os_integrity")?.fields ?? {};
  expect([...(emulatorVendorMarkers?.values?.android ?? [])].sort()).toEqual(products);
});

it("the list of sources has a row with an address and a date for each emulator", () => {
  const list = readFileSync(join(import.meta.dirname, "../../evidence/emulators.md"), "utf8");
  const rows = [...list.matchAll(/^\| `(\w+)` +\| (.*) \| (before )?2\d{3}-\d\d(-\d\d)? +\|$/gm)];
  for (const [, product, sources] of rows) expect(sources, product).toContain("](https://");
  expect(rows.map(([, product]) => product).sort()).toEqual(products);
});
