import { expect, it } from "vitest";
import { dayNumber, dayOfEpochMs, equalAscii, lowerAscii } from "./exact.ts";

it("dayNumber counts days as UTC does, and returns undefined for a day that does not exist", () => {
  for (let day = -1000; day < 40_000; day += 7) {
    expect(dayNumber(new Date(day * 86_400_000).toISOString().slice(0, 10))).toBe(day);
  }
  expect([dayNumber("2000-02-29"), dayNumber("1970-01-01T00:00:00Z")]).toEqual([11_016, 0]);
  for (const text of ["2001-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "26-01-01", ""]) {
    expect(dayNumber(text)).toBeUndefined();
  }
});

it("dayOfEpochMs rounds towards the past", () => {
  expect([-1, 0, 86_399_999, 86_400_000].map(dayOfEpochMs)).toEqual([-1, 0, 0, 1]);
});

it("lowerAscii changes no character beyond ASCII", () => {
  expect(lowerAscii("ÄZaİK\u212a")).toBe("Äzaİk\u212a");
  expect([equalAscii("DE", "de"), equalAscii("ß", "SS")]).toEqual([true, false]);
});
