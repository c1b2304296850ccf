import { expect, it } from "vitest";
import { fullEvent } from "../../../../bench/src/full-event.ts";
import { costOf } from "./cost.ts";
import { scanText } from "../base/json/scan-text.ts";

it.each([
  [0, 0, 1],
  [15 * 1024, 700, 1],
  [16_384, 1_024, 1],
  [16_385, 10, 2],
  [100, 1_025, 2],
  [262_144, 10, 16],
  [262_144, 40_000, 40],
])("a body of %i bytes with %i members costs %i", (bytes, members, cost) => {
  expect(costOf(bytes, members)).toBe(cost);
});

it("escapes double the part of a request's cost that exceeds 1", () => {
  expect([costOf(15_000, 400, true), costOf(262_144, 10, true)]).toEqual([1, 31]);
});

it("an event with every field of the catalog costs exactly 1", () => {
  const body = Buffer.from(JSON.stringify({ action_id: "a", observations: fullEvent(1, new Date(0)) }));
  expect(costOf(body.length, scanText(body).members)).toBe(1);
});

it.each([
  ['{"a":1,"b":{"c":[{"d":":"}]}}', 4, false],
  ['{"a\\"":":\\"","a":1}', 2, true],
  ['{"a":"\\n:"}', 1, false],
  ['{"a":"\\u0041","b":1,"c":1}', 3, true],
  ['{"\\n" : 1,"b":1}', 2, true],
  ['{"a":"open', 1, false],
])("members are counted in one pass, also after escapes: %s", (text, members, escapes) => {
  expect(scanText(Buffer.from(text))).toEqual({ members, escapes });
});
