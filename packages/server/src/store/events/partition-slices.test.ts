import { describe, expect, it } from "vitest";
import { joinAdjacent, type Partition, SAMPLE_PARTITION, spansOf } from "./partition-slices.ts";

const DAY_MS = 86_400_000;

/** A partition of a purpose for some days, from a day on. */
const partition = (purpose: number, day: number, days = 1): Partition => ({
  ...SAMPLE_PARTITION,
  purpose,
  lower_ms: day * DAY_MS,
  upper_ms: (day + days) * DAY_MS,
});

describe("adjacent partitions", () => {
  it("are one range, unless a gap or another purpose is between them", () => {
    const partitions = [partition(2, 1), partition(1, 5), partition(1, 2), partition(1, 0, 2)];
    expect(joinAdjacent(partitions)).toEqual([
      { purpose: 1, lower_ms: 0, upper_ms: 3 * DAY_MS },
      { purpose: 1, lower_ms: 5 * DAY_MS, upper_ms: 6 * DAY_MS },
      { purpose: 2, lower_ms: DAY_MS, upper_ms: 2 * DAY_MS },
    ]);
  });
});

describe("spans", () => {
  const partitions = Array.from({ length: 60 }, (_, day) => partition(1, 59 - day));

  it("double their number of partitions, from the first number up to a slice", () => {
    const spans = [...spansOf(partitions, 4)];
    expect(spans.map((span) => span.partitions.length)).toEqual([4, 8, 16, 20, 12]);
  });

  it("have each partition once, newest first, and cover all time without a gap", () => {
    const spans = [...spansOf(partitions, 4)];
    expect(spans.flatMap((span) => span.partitions.map(({ lower_ms }) => lower_ms))).toHaveLength(60);
    expect(spans.slice(1).map(({ to }) => to)).toEqual(spans.slice(0, -1).map(({ from }) => from));
    expect([spans[0]?.to, spans.at(-1)?.from]).toEqual([undefined, undefined]);
  });
});
