import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CATALOG } from "./catalog.ts";
import { consentFor } from "./consent.ts";

it("a consent screen can list every probe with its meaning and sensitivity, and can pass its id to consentFor", () => {
  expect(CATALOG).toHaveLength(19);
  expect(consentFor(...CATALOG.map(({ id }) => id)).probes.size).toBe(19);
  const shown = CATALOG.map(({ id, title, meaning, sensitivity, enabledByDefault }) => {
    expect([title, meaning]).not.toContain("");
    return [id, { sensitivity, enabledByDefault }];
  });
  expect(Object.fromEntries(shown)).toMatchObject({
    network: { sensitivity: "high", enabledByDefault: true },
    geolocation: { sensitivity: "high", enabledByDefault: false },
    numeric_consistency: { sensitivity: "low", enabledByDefault: false },
  });
});

it("the guide's table of purposes names probes of the catalog, and says which of them are off by default", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../docs/integrator-mobile.md"), "utf8");
  const section = guide.split("## Which probes for which purpose")[1]?.split("\n## ")[0] ?? "";
  const rows = [...section.matchAll(/^\| [^|`]+\| (`[^|]+) \| ([^|]+) \|$/gm)];
  expect(rows.length).toBeGreaterThan(3);
  for (const [, cell = "", note = ""] of rows) {
    const off = /`(\w+)` is off by default/.exec(note)?.[1];
    for (const [, id = ""] of cell.matchAll(/`(\w+)`/g)) {
      const probe = CATALOG.find((one) => one.id === id);
      expect(probe, id).toBeDefined();
      const says = off === undefined ? /\b(on|off) by default/.exec(note)?.[1] : id === off ? "off" : "on";
      if (says) expect(probe?.enabledByDefault, id).toBe(says === "on");
    }
  }
});
