import { describe, expect, it } from "vitest";
import { bucketsOf } from "./count-events.ts";

const HOUR_MS = 3_600_000;
const at = (text: string): number => Date.parse(`2026-01-${text}Z`);
const shown = (from: string, to: string, max: number): readonly string[] =>
  bucketsOf({ from: at(from), to: at(to) }, max).map((one) => new Date(one.from).toISOString().slice(8, 19));

describe("the parts of a time", () => {
  it("begin at multiples of their length, and cover all of it", () => {
    expect(shown("01T10:30:00", "01T13:10:00", 4)).toEqual([
      "01T10:30:00",
      "01T11:00:00",
      "01T12:00:00",
      "01T13:00:00",
    ]);
    const parts = bucketsOf({ from: at("01T10:30:00"), to: at("09T00:00:01") }, 60);
    expect(parts.length).toBeLessThanOrEqual(60);
    expect([parts[0]?.from, parts.at(-1)?.to]).toEqual([at("01T10:30:00"), at("09T00:00:01")]);
    for (const [index, { to }] of parts.slice(0, -1).entries()) expect(parts[index + 1]?.from).toBe(to);
  });

  it("are one, if no more is wanted", () => {
    expect(bucketsOf({ from: 0, to: at("02T00:00:00") }, 1)).toEqual([{ from: 0, to: at("02T00:00:00") }]);
    expect(shown("01T10:59:59.999", "01T11:00:00.001", 1)).toHaveLength(1);
  });

  it("are as many as fit into the number, for any time", () => {
    for (const hours of [0.0001, 0.1, 1, 23, 24 * 9, 24 * 400, 24 * 4_000]) {
      for (const max of [1, 2, 24, 60]) {
        const parts = bucketsOf({ from: at("03T04:05:06"), to: at("03T04:05:06") + hours * HOUR_MS }, max);
        expect(parts.length, `${hours} in ${max}`).toBeLessThanOrEqual(max);
        expect(parts.length).toBeGreaterThan(0);
      }
    }
  });

  it("are none of no time", () => {
    for (const [from, to] of [
      [2, 1],
      [1, 1],
      [Number.POSITIVE_INFINITY, 1],
    ] as const) {
      expect(bucketsOf({ from, to }, 10)).toEqual([]);
    }
  });
});
