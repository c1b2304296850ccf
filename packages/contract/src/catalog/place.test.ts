import fc from "fast-check";
import { expect, test } from "vitest";
import { pointerOf } from "../pointer.ts";
import { CATALOG } from "./catalog.ts";
import { placeOf } from "./place.ts";

test.each([
  ["", ""],
  ["/platform", "/platform"],
  ["/observations/collected_at", "/observations/collected_at"],
  ["/observations/probes/fonts/data/fontsDigest", "/observations/probes/fonts/data/fontsDigest"],
  ["/observations/probes/fonts/reason", "/observations/probes/fonts/reason"],
  [
    "/observations/probes/device_identity/data/androidBuild/sdkInt",
    "/observations/probes/device_identity/data/androidBuild/sdkInt",
  ],
])("names of the contract and the catalog are kept: %j", (pointer, place) => {
  expect(placeOf(pointer)).toBe(place);
});

test.each([
  ["a member that the contract does not list", "/secret", "/*"],
  ["a name below an unknown member", "/secret/platform/status", "/*"],
  ["an unknown member of the raw event", "/observations/secret", "/observations/*"],
  [
    "an unknown probe, not the members of its outcome",
    "/observations/probes/secret/status",
    "/observations/probes/*/status",
  ],
  ["the data of an unknown probe", "/observations/probes/secret/data/secret", "/observations/probes/*/data/*"],
  ["a field of another probe", "/observations/probes/fonts/data/imei/0", "/observations/probes/fonts/data/*"],
  ["an index", "/observations/probes/locale/data/languages/3", "/observations/probes/locale/data/languages/*"],
  ["an escaped name", "/observations/probes/fonts~1data", "/observations/probes/*"],
  ["a name that every object has", "/observations/probes/constructor/data/__proto__", "/observations/probes/*/data/*"],
])("%s is *", (_, pointer, place) => {
  expect(placeOf(pointer)).toBe(place);
});

test("a place holds only names of the contract and the catalog, wherever a pointer has another name", () => {
  const fields = CATALOG.flatMap((probe) =>
    Object.values(probe.fields).flatMap(({ fields: inner }) => Object.keys(inner ?? {})),
  );
  const known = [
    "observations",
    "probes",
    "data",
    "status",
    ...CATALOG.flatMap(({ id, fields: of }) => [id, ...Object.keys(of)]),
  ];
  const name = fc.oneof(
    fc.constantFrom(...known, ...fields),
    fc.string().map((text) => `secret${text}`),
    fc.nat(300),
  );
  fc.assert(
    fc.property(fc.array(name, { maxLength: 12 }), (path) => {
      const place = placeOf(pointerOf(path));
      expect(place).toMatch(/^(\/(\w+|\*))*$/);
      expect(place).not.toContain("secret");
      expect(place).not.toMatch(/\/\d/);
    }),
  );
});
