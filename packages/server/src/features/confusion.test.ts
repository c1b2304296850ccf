import { expect, it } from "vitest";
import { type Cell, Confusion, type ShownCounts, suppressSmall } from "./confusion.ts";

const cell = (before: string, after: string, events: number): Cell => {
  return { platform: "android", sdk_version: "1.2.3", before, after, events };
};
const shown = (...counts: readonly number[]): unknown[] => suppress(counts).cells.map(({ events }) => events);
const suppress = (counts: readonly number[], undecided = 0): ShownCounts =>
  suppressSmall({
    cells: counts.map((events, at) => cell(`before ${at}`, "after", events)),
    events: counts.reduce((sum, events) => sum + events, 0),
    undecided,
  });

it("counts results of the same events by platform and SDK version", () => {
  const confusion = new Confusion();
  const { events: _events, ...one } = cell("omitted", "observed true", 0);
  for (const after of ["observed true", "observed true", "omitted"]) confusion.add({ ...one, after });
  confusion.add({ ...one, platform: "ios" });
  expect(confusion.cells).toEqual([
    cell("omitted", "observed true", 2),
    cell("omitted", "omitted", 1),
    { ...cell("omitted", "observed true", 1), platform: "ios" },
  ]);
});

it("suppresses small cells, and further cells if the total would reveal the small ones", () => {
  expect(shown(100, 10, 50)).toEqual([100, 10, 50]);
  expect(shown(100, 9, 50)).toEqual([100, null, null]);
  expect(shown(100, 2, 3, 50)).toEqual([100, null, null, null]);
  expect(shown(100, 6, 7, 50)).toEqual([100, null, null, 50]);
  expect(shown(3)).toEqual([null]);
  expect(shown()).toEqual([]);
});

it("does not show the number of events if that number would reveal a small one", () => {
  for (const counts of [[3], [1, 2], [4, 5]]) expect(suppress(counts).events, counts.join()).toBeNull();
  for (const counts of [[], [10], [9, 50], [6, 7, 100]]) {
    expect(suppress(counts).events, counts.join()).toBe(counts.reduce((sum, events) => sum + events, 0));
  }
});

it("suppresses a small number of undecided events like a small cell, and the number of events with it", () => {
  const shownOf = (counts: readonly number[], undecided: number): unknown[] => {
    const { cells, events, undecided: shownUndecided } = suppress(counts, undecided);
    return [cells.map((one) => one.events), events, shownUndecided];
  };
  expect(shownOf([100, 50], 0)).toEqual([[100, 50], 150, 0]);
  expect(shownOf([100, 50], 10)).toEqual([[100, 50], 150, 10]);
  expect(shownOf([100, 50], 1)).toEqual([[100, null], null, null]);
  expect(shownOf([100, 3], 8)).toEqual([[100, null], null, null]);
  expect(shownOf([100, 3], 20), "the next smallest number").toEqual([[100, null], null, null]);
  expect(shownOf([100, 6, 7], 20)).toEqual([[100, null, null], 113, 20]);
  expect(shownOf([], 1)).toEqual([[], null, null]);
});
