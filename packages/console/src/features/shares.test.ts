import { expect, it } from "vitest";
import { rangeNameOf } from "./shares.tsx";

it.each([
  ["count", ["0", "1", "2", "4"], ["0", "1", "2 to 3", "4 or more"]],
  ["number", ["below 10", "10", "20.5"], ["below 10", "10 to below 20.5", "20.5 or more"]],
  ["number", ["-1.5", "0"], ["-1.5 to below 0", "0 or more"]],
  ["count", ["below"], ["below"]],
  ["category", ["1", "__proto__", "\u202Egnp"], ["1", "__proto__", "\u202Egnp"]],
  ["flag", ["true", "false"], ["true", "false"]],
] as const)("groups of a %s say where they begin and end: %j", (output, names, shown) => {
  expect(names.map((name) => rangeNameOf(name, names, output))).toEqual(shown);
});
