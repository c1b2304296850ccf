import { expect, test } from "vitest";
import { hourOf } from "./hours.ts";

test("an hour begins with its first millisecond", () => {
  const hour = Date.parse("2026-03-01T12:00:00.000Z");
  expect([hourOf(hour), hourOf(hour + 3_599_999), hourOf(hour + 3_600_000)]).toEqual([hour, hour, hour + 3_600_000]);
});
