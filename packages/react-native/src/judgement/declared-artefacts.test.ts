import { expect, it } from "vitest";
import { DECLARED_PACKAGES, DECLARED_SCHEMES } from "./declared-artefacts.ts";
import { mergeSources } from "./judgement.ts";
import { JUDGEMENTS } from "./judgements.ts";

function askedFor(platform: "android" | "ios", source: "packages" | "schemes"): Record<string, string[]> {
  const asked = Object.entries(JUDGEMENTS[platform]).map(([probe, judgements]) => {
    const names = mergeSources(Object.values(judgements).map(({ sources }) => sources))[source] ?? [];
    return [probe, [...names].sort()] as const;
  });
  return Object.fromEntries(asked.filter(([, names]) => names.length > 0));
}

function sorted(declared: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(declared).map(([probe, names]) => [probe, [...names].sort()]));
}

it("the declared packages are exactly the ones that each probe needs", () => {
  expect(sorted(DECLARED_PACKAGES)).toEqual(askedFor("android", "packages"));
});

it("the declared schemes are exactly the ones that each probe needs, and no more than iOS allows", () => {
  expect(sorted(DECLARED_SCHEMES)).toEqual(askedFor("ios", "schemes"));
  expect(new Set(Object.values(DECLARED_SCHEMES).flat()).size).toBeLessThanOrEqual(50);
});
