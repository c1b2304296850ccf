import { describe, expect, it } from "vitest";
import type { Share } from "./shares.tsx";
import { byDifference, differenceOf, statePairs, valuePairs } from "./version-differences.ts";

const share = (name: string, events: number | null, of: number | null): Share => ({ name, events, share: of });
const results = (output: string, values: readonly Share[], states: readonly Share[] = []) => ({
  output,
  events: 100,
  states: [...states],
  values: [...values],
});

describe("two versions of a feature", () => {
  it("are compared on the groups of values that both have", () => {
    const left = results("count", [share("0", 50, 0.5), share("1", 30, 0.3), share("4", 20, 0.2)]);
    const right = results("count", [
      share("0", 40, 0.4),
      share("1", 10, 0.1),
      share("2", 20, 0.2),
      share("4", 30, 0.3),
    ]);
    expect(valuePairs(left, right)).toEqual([
      { name: "0", left: share("0", 50, 0.5), right: share("0", 40, 0.4) },
      { name: "1", left: share("1", 30, 0.3), right: { name: "1", events: 30, share: expect.closeTo(0.3) as number } },
      { name: "4", left: share("4", 20, 0.2), right: share("4", 30, 0.3) },
    ]);
  });

  it("have one group below the first common bound, and no group in common if no bound is", () => {
    const left = results("number", [share("below 10", 10, 0.1), share("10", 90, 0.9)]);
    const right = results("number", [share("-1.5", 20, 0.2), share("5", 30, 0.3), share("10", 50, 0.5)]);
    expect(valuePairs(left, right).map(({ name }) => name)).toEqual(["below 10", "10"]);
    const other = results("number", [share("7", 100, 1)]);
    expect(valuePairs(left, other).map(({ name }) => name)).toEqual(["below"]);
  });

  it("keep the texts of a category, also a text that only one of them has", () => {
    const left = results("category", [share("__proto__", 10, null), share("low", 90, null)]);
    const right = results("category", [share("high", 10, null)]);
    expect(valuePairs(left, right).map(({ name }) => name)).toEqual(["__proto__", "low", "high"]);
  });

  it("list the largest difference first; a state that one never had is 0 there, and small numbers are last", () => {
    const left = results(
      "flag",
      [],
      [share("observed", 80, 0.8), share("omitted", 20, 0.2), share("error", null, null)],
    );
    const right = results("flag", [], [share("observed", 70, 0.7), share("masked", 30, 0.3)]);
    const pairs = byDifference(statePairs(left, right));
    expect(pairs.map((pair) => [pair.name, differenceOf(pair)])).toEqual([
      ["masked", 0.3],
      ["omitted", -0.2],
      ["observed", expect.closeTo(-0.1)],
      ["error", undefined],
    ]);
  });
});
