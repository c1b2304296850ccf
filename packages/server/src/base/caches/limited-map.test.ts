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

test("names are dropped in the order in which they were set, also after names were deleted and after the map was cleared", () => {
  const map = new LimitedMap<number>(3);
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 10; index++) map.set(String(index), index);
    map.delete("8");
    for (const name of ["7", "10", "11"]) map.set(name, 0);
    expect([...map].map(([name]) => name)).toEqual(["7", "10", "11"]);
    map.clear();
  }
});
