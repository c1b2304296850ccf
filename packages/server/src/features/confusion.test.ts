import { expect, it } from "vitest";
import { type Cell, Confusion, type Suppressed, suppressSmall } from "./confusion.ts";

const cell = (before: string, after: string, events: number): Cell => {
  return { platform: "android", sdk_version: "1.2.3", before, after, events };
};
const shown = (...counts: readonly number[]): unknown[] => suppress(counts).cells.map(({ events }) => events);
const suppress = (counts: readonly number[]): Suppressed =>
  suppressSmall(counts.map((events, at) => cell(`before ${at}`, "after", events)));

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

it("suppresses small cells, and further ones where the total would tell them", () => {
  expect(shown(100, 10, 50)).toEqual([100, 10, 50]);
  expect(shown(100, 9, 50)).toEqual([100, null, null]);
  expect(shown(100, 2, 3, 50)).toEqual([100, null, null, null]);
  expect(shown(100, 6, 7, 50)).toEqual([100, null, null, 50]);
  expect(shown(3)).toEqual([null]);
  expect(shown()).toEqual([]);
});

it("tells where the total would give a small number away", () => {
  for (const counts of [[3], [1, 2], [4, 5]]) expect(suppress(counts).isTotalTelling, counts.join()).toBe(true);
  for (const counts of [[], [10], [9, 50], [6, 7, 100]])
    expect(suppress(counts).isTotalTelling, counts.join()).toBe(false);
});
