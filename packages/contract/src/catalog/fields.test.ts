import { expect, it } from "vitest";
import { CATALOG } from "./catalog.ts";
import type { Field } from "./declare.ts";
import { type FieldFacts, factsOf, isProbeId, PROBE_IDS } from "./fields.ts";

function plain(fields: ReadonlyMap<string, FieldFacts>): Record<string, unknown> {
  return Object.fromEntries(
    [...fields].map(([name, { fields: members, ...rest }]) => [
      name,
      members ? { ...rest, fields: plain(members) } : rest,
    ]),
  );
}

function expectedFacts(fields: Readonly<Record<string, Field>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { type, platforms, required, constantOn, fields: members }]) => [
      name,
      {
        type,
        platforms,
        required,
        constantOnIos: constantOn !== undefined,
        ...(members && { fields: expectedFacts(members) }),
      },
    ]),
  );
}

it("the fields cover every probe of the catalog, in its order", () => {
  expect(PROBE_IDS).toEqual(CATALOG.map(({ id }) => id));
});

it.each(CATALOG)("the facts of $id say what the catalog says", (probe) => {
  if (!isProbeId(probe.id)) throw new Error("not in the index");
  const facts = factsOf(probe.id);
  expect(facts.platforms).toEqual(probe.platforms);
  expect(facts.enabledByDefault).toBe(probe.enabledByDefault);
  expect(plain(facts.fields)).toEqual(expectedFacts(probe.fields));
});

it("the only constants are constants of iOS", () => {
  const constants = CATALOG.flatMap(({ fields }) =>
    Object.values(fields).flatMap(({ constantOn }) => constantOn ?? []),
  );
  expect(new Set(constants)).toEqual(new Set(["ios"]));
});

it("a name that objects inherit is no probe", () => {
  expect(isProbeId("constructor")).toBe(false);
});
