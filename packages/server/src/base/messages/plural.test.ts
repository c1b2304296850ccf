import { expect, test } from "vitest";
import { plural } from "./plural.ts";

test("a count of one has a singular noun, and any other count a plural noun", () => {
  expect([0, 1, 2].map((count) => plural(count, "secret"))).toEqual(["0 secrets", "1 secret", "2 secrets"]);
  expect([1, 3].map((count) => plural(count, "entry", "entries"))).toEqual(["1 entry", "3 entries"]);
});
