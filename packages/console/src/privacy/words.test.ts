import { describe, expect, it } from "vitest";
import { dueWords } from "./words.ts";

const NOON = Date.parse("2026-11-29T12:00:00Z");

describe("the words of a deadline", () => {
  it.each([
    ["2026-12-29T11:59:59Z", "due in 30 days"],
    ["2026-12-29T12:00:00Z", "due in 30 days"],
    ["2026-11-30T00:00:00Z", "due in 1 day"],
    ["2026-11-29T12:00:00Z", "due today"],
    ["2026-11-29T11:59:59Z", "overdue since today"],
    ["2026-11-28T23:59:59Z", "1 day overdue"],
    ["2026-11-19T12:00:00Z", "10 days overdue"],
  ])("count days of the calendar: %s", (at, words) => {
    expect(dueWords(at, NOON)).toBe(words);
  });
});
