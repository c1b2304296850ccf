import { expect, it } from "vitest";
import { type ResultCount, roundedCount, showResults } from "./counted-results.ts";

const counted = (state: string, occurrences: number, bin = ""): ResultCount => ({ state, bin, occurrences });
const shown = (name: string, events: number | null, share: number | null) => ({ name, events, share });

it("shows numbers in tens, and none below ten", () => {
  const counts = [counted("observed", 255, "true"), counted("observed", 7, "false"), counted("omitted", 82)];
  expect(showResults({ type: "flag" }, counts)).toEqual({
    events: 340,
    states: [shown("observed", 260, 0.765), shown("omitted", 80, 0.235)],
    values: [shown("true", 250, 0.962), shown("false", null, null)],
  });
});

it("shows numbers without shares of fewer than a hundred events, of which 10 of 19 would be 100 %", () => {
  const counts = [counted("observed", 10, "true"), counted("omitted", 9), counted("timeout", 90)];
  expect(showResults({ type: "flag" }, counts)).toEqual({
    events: 100,
    states: [shown("observed", 10, 0.1), shown("omitted", null, null), shown("timeout", 90, 0.9)],
    values: [shown("true", 10, null), shown("false", 0, null)],
  });
});

it("shows nothing of a group of fewer than ten events", () => {
  const counts = [counted("observed", 4, "true"), counted("omitted", 5)];
  expect(showResults({ type: "flag" }, counts)).toEqual({ events: null, states: [], values: [] });
});

it("lists every declared bin in its order, also one without values", () => {
  const values = (...args: Parameters<typeof showResults>) => showResults(...args).values.map(({ name }) => name);
  const counts = [counted("observed", 20, "10"), counted("observed", 10, "below 0")];
  expect(values({ type: "number", unit: "ms", bins: [0, 2, 10] }, counts)).toEqual(["below 0", "0", "2", "10"]);
  expect(values({ type: "category", values: ["b", "__proto__"] }, counts)).toEqual(["b", "__proto__"]);
  expect(showResults({ type: "count", bins: [0, 10] }, counts).values).toContainEqual(shown("0", 0, null));
});

/** The hidden numbers from 1 to 9 that fit to rounded numbers: a total, and the other parts of it. */
function possible(total: number, others: readonly number[]): readonly number[] {
  const residues = Array.from({ length: 10 ** others.length }, (_, at) => String(at).padStart(others.length, "0"));
  const sums = residues.map((digits) => others.reduce((sum, other, at) => sum + other + Number(digits[at]), 0));
  return Array.from({ length: 9 }, (_, at) => at + 1).filter((hidden) =>
    sums.some((sum) => roundedCount(sum + hidden) === total),
  );
}

it("leaves many possible numbers for a hidden one, whichever total and other numbers are shown", () => {
  for (let hidden = 1; hidden < 10; hidden++) {
    for (let one = 10; one < 20; one++) {
      expect(possible(roundedCount(hidden + one), [roundedCount(one)]).length).toBe(9);
      for (let other = 10; other < 20; other++) {
        const found = possible(roundedCount(hidden + one + other), [roundedCount(one), roundedCount(other)]);
        expect(found.length).toBeGreaterThanOrEqual(8);
        expect(found).toContain(hidden);
      }
    }
  }
});
