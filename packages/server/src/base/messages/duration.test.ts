import { expect, test } from "vitest";
import { describeDuration } from "./duration.ts";

test.each([
  [0, "0 milliseconds"],
  [1, "1 millisecond"],
  [1_999, "1999 milliseconds"],
  [7_400, "7 seconds"],
  [90_000, "90 seconds"],
  [259_200_068, "3 days"],
])("%i ms is written for people", (ms, text) => {
  expect(describeDuration(ms)).toBe(text);
});
