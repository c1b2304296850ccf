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
