import { expect, test } from "vitest";
import { LimitedMap } from "./limited-map.ts";

test("a name beyond the limit drops the name that was set longest ago", () => {
  const map = new LimitedMap<number>(2);
  for (const [name, value] of Object.entries({ first: 1, second: 2, third: 3 })) map.set(name, value);
  expect([...map]).toEqual([
    ["second", 2],
    ["third", 3],
  ]);
});

test("a name that is set again counts as new", () => {
  const map = new LimitedMap<number>(2);
  map.set("first", 1);
  map.set("second", 2);
  map.set("first", 3);
  map.set("third", 4);
  expect([...map].map(([name]) => name)).toEqual(["first", "third"]);
});
