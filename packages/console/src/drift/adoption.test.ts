import { describe, expect, it } from "vitest";
import { byDay } from "./adoption.ts";

const row = (last: string, ...daily: readonly number[]) => ({ last_seen: `${last}T23:59:59.999Z`, daily: [...daily] });

describe("the days of a path", () => {
  it("are those of all its rows, which were last seen on different days", () => {
    expect(byDay([row("2027-03-01", 0, 2, 3), row("2027-02-28", 4, 0, 5)])).toEqual([
      { day: "2027-02-27", events: 0 },
      { day: "2027-02-28", events: 7 },
      { day: "2027-03-01", events: 3 },
    ]);
  });

  it("have no row that was last seen before them, and are none if nothing was seen", () => {
    expect(byDay([row("2027-03-01", 1, 1, 1), row("2026-01-01", 9, 9, 9)]).map(({ events }) => events)).toEqual([
      1, 1, 1,
    ]);
    expect(byDay([])).toEqual([]);
  });
});
