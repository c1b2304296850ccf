import { expect, test } from "vitest";
import { SearchBackoff } from "./search-backoff.ts";

const HOUR_MS = 3_600_000;

/** Milliseconds between the searches of passes that come every second. */
function waitsOf(passes: number, shortestPeriod: number | undefined): number[] {
  let now = 0;
  const backoff = new SearchBackoff(() => now);
  const searches: number[] = [];
  for (; now < passes * 1_000; now += 1_000) {
    if (!backoff.isDue(["hold"], shortestPeriod)) continue;
    searches.push(now);
    backoff.searched(["hold"]);
  }
  return searches.slice(1).map((at, index) => at - (searches[index] ?? 0));
}

test("the wait between searches for the same holds doubles, up to an hour", () => {
  const waits = waitsOf(20_000, undefined);
  expect(waits.slice(0, 4)).toEqual([10_000, 20_000, 40_000, 80_000]);
  expect(waits.at(-1)).toBe(HOUR_MS);
});

test("the wait never exceeds half of the shortest retention period", () => {
  expect(Math.max(...waitsOf(2_000, 120_000))).toBe(60_000);
});

test("after the clock is set back, the next pass searches at once, and each later pass until a search succeeds", () => {
  let now = 0;
  const backoff = new SearchBackoff(() => now);
  const isDueAt = (at: number): boolean => {
    now = at;
    return backoff.isDue(["hold"], undefined);
  };
  now = 100_000;
  backoff.searched(["hold"]);
  expect([isDueAt(101_000), isDueAt(109_000)]).toEqual([false, false]);
  expect([isDueAt(102_000), isDueAt(103_000)]).toEqual([true, true]);
  backoff.searched(["hold"]);
  expect([isDueAt(122_999), isDueAt(123_000)]).toEqual([false, true]);
});

test("a new hold is searched for at once", () => {
  const backoff = new SearchBackoff(() => 0);
  backoff.searched(["one"]);
  expect(backoff.isDue(["one"], undefined)).toBe(false);
  expect(backoff.isDue(["one", "two"], undefined)).toBe(true);
});
