import { expect, it } from "vitest";
import { isStorable } from "./storable.ts";

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

it.each([null, true, 1.5, "é\u{1F600}", { a: [{ b: "c" }] }, nested(100)])("%j can be stored as jsonb", (value) => {
  expect(isStorable(value)).toBe(true);
});

it.each(["a\0", "\ud800", { a: ["\udc00"] }, { "\0": 1 }, nested(101)])("%j can't be stored as jsonb", (value) => {
  expect(isStorable(value)).toBe(false);
});
