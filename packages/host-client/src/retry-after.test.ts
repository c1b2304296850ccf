import { describe, expect, it } from "vitest";
import { readRetryAfter } from "./retry-after.ts";

const NOW = Date.parse("2026-03-01T00:00:00Z");
const at = (ms: number): string => new Date(NOW + ms).toUTCString();

describe("a Retry-After header", () => {
  it.each([
    ["0", 0],
    [" 7 ", 7_000],
    ["99999999999999999999", 86_400_000],
    [at(90_000), 90_000],
    [at(-90_000), 0],
    [at(10 * 86_400_000), 86_400_000],
  ])("is read as a pause: %s", (text, ms) => expect(readRetryAfter(text, null, NOW)).toBe(ms));

  it.each([[null], [""], ["-1"], ["1.5"], ["1e3"], ["soon"], ["7, 8"], ["2026-03-01T00:00:00Z"], ["no day GMT"]])(
    "is ignored: %s",
    (text) => expect(readRetryAfter(text, null, NOW)).toBeUndefined(),
  );

  it("counts a date from the Date header of the answer, and ignores the device's clock", () => {
    expect(readRetryAfter(at(30_000), at(0), NOW - 5 * 86_400_000)).toBe(30_000);
    expect(readRetryAfter(at(30_000), "nonsense", NOW)).toBe(30_000);
  });
});
