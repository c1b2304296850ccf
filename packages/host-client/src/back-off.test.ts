import fc from "fast-check";
import { expect, it } from "vitest";
import { backOffMs } from "./back-off.ts";

const bounds = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

it("the upper bound of the pause doubles with each attempt, up to the longest pause", () => {
  expect([1, 2, 3, 6, 7, 1_000].map((attempt) => backOffMs(attempt, 1, bounds))).toEqual([
    1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
  ]);
});

it("the pause is random between zero and its upper bound, so that devices spread out", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
      const most = backOffMs(attempt, 1, bounds);
      expect(backOffMs(attempt, random, bounds)).toBeCloseTo(random * most, 6);
    }),
  );
});
