import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { MicroBatcher, type MicroBatcherOptions } from "./micro-batcher.ts";

type Work = MicroBatcherOptions<number, string>["work"];

/** A batcher that records its batches. Each batch waits for `hold`. */
function scene(
  options: Partial<MicroBatcherOptions<number, string>> = {},
  hold: () => Promise<unknown> = async () => {},
) {
  const batches: { items: readonly number[]; slot: number }[] = [];
  const under = { now: 0, most: 0 };
  const work: Work = async (items, slot) => {
    batches.push({ items, slot });
    under.most = Math.max(under.most, ++under.now);
    await hold();
    under.now--;
    return items.map((item) => `of ${item}`);
  };
  const batcher = new MicroBatcher<number, string>({ work, maxItems: 8, parallelBatches: 1, ...options });
  return { batcher, batches, under };
}

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

describe("results of the micro-batcher", () => {
  it("reach the caller that asked, with batches of any size, one or several at a time", async () => {
    const settings = fc.record({
      maxItems: fc.integer({ min: 1, max: 20 }),
      parallelBatches: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(settings, fc.integer({ min: 1, max: 100 }), async (given, count) => {
        const { batcher, batches, under } = scene(given, () => sleep(Math.random() * 2));
        const results = await Promise.all(range(count).map((item) => batcher.add(item)));
        expect(results).toEqual(range(count).map((item) => `of ${item}`));
        expect(batches.flatMap(({ items }) => items).toSorted((a, b) => a - b)).toEqual(range(count));
        expect(Math.max(...batches.map(({ items }) => items.length))).toBeLessThanOrEqual(given.maxItems);
        expect(under.most).toBeLessThanOrEqual(given.parallelBatches);
      }),
      { numRuns: 40 },
    );
  });

  it("are worked on in the order in which items came", async () => {
    const { batcher, batches } = scene({ maxItems: 3 });
    await Promise.all(range(10).map((item) => batcher.add(item)));
    expect(batches.map(({ items }) => items)).toEqual([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]);
  });
});

describe("batches of the micro-batcher", () => {
  it("have what came in one turn of the event loop", async () => {
    const { batcher, batches } = scene();
    await Promise.all(range(5).map((item) => batcher.add(item)));
    expect(batches).toEqual([{ items: range(5), slot: 0 }]);
  });

  it("gather what comes while every slot is busy", async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { batcher, batches } = scene({ maxItems: 100 }, () => gate);
    const all = [batcher.add(0)];
    await new Promise(setImmediate);
    for (const item of range(50)) {
      all.push(batcher.add(item + 1));
      await new Promise(setImmediate);
    }
    release();
    await Promise.all(all);
    expect(batches.map(({ items }) => items.length)).toEqual([1, 50]);
  });

  it("use every slot, and no slot twice at once", async () => {
    const busy = new Set<number>();
    const used = new Set<number>();
    const batcher = new MicroBatcher<number, number>({
      maxItems: 1,
      parallelBatches: 3,
      work: async (items, slot) => {
        expect(busy.has(slot)).toBe(false);
        busy.add(slot);
        used.add(slot);
        await sleep(2);
        busy.delete(slot);
        return items;
      },
    });
    await Promise.all(range(30).map((item) => batcher.add(item)));
    expect([...used].toSorted()).toEqual([0, 1, 2]);
  });
});

describe("a failing batch of the micro-batcher", () => {
  it("rejects its own items and no others, and the next batch runs", async () => {
    const batcher = new MicroBatcher<number, number>({
      maxItems: 2,
      parallelBatches: 1,
      work: async (items) => {
        if (items.includes(3)) throw new Error("three");
        return items;
      },
    });
    const outcomes = await Promise.allSettled(range(8).map((item) => batcher.add(item)));
    expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
    expect(await batcher.add(9)).toBe(9);
  });

  it("rejects its items, too, if `work` throws synchronously", async () => {
    const batcher = new MicroBatcher<number, number>({
      maxItems: 2,
      parallelBatches: 1,
      work: () => {
        throw new Error("at once");
      },
    });
    await expect(batcher.add(1)).rejects.toThrow("at once");
    await expect(batcher.add(2)).rejects.toThrow("at once");
  });
});

describe("the micro-batcher's wait for more items", () => {
  /** Measures the milliseconds that one lone item takes. */
  async function alone(batcher: MicroBatcher<number, string>): Promise<number> {
    const started = performance.now();
    await batcher.add(-1);
    return performance.now() - started;
  }

  /** Adds items at intervals that are much shorter than the wait, and enough of them for the batcher to notice. */
  async function rush(batcher: MicroBatcher<number, string>, count = 600): Promise<void> {
    await Promise.all(range(count).map((item) => batcher.add(item)));
  }

  /** A batcher whose batches take several times as long as an item may wait. */
  const slowScene = (linger: number): ReturnType<typeof scene> =>
    scene({ linger, maxItems: 1_000 }, () => sleep(5 * linger));

  it("never happens without a linger, however fast items come", async () => {
    const { batcher } = scene();
    await rush(batcher);
    for (let round = 0; round < 5; round++) expect(await alone(batcher)).toBeLessThan(500);
  });

  it("never happens while items come slowly", async () => {
    const { batcher } = scene({ linger: 2_000 });
    // A first item, and one after a pause.
    expect(await alone(batcher)).toBeLessThan(1_000);
  });

  it("never happens while batches are quick", async () => {
    const { batcher } = scene({ linger: 2_000 });
    await rush(batcher);
    expect(await alone(batcher)).toBeLessThan(1_000);
  });

  it("happens under load, no longer than the option says", async () => {
    const { batcher } = slowScene(50);
    // On a machine with other work, a rush may be too slow to count as load.
    await vi.waitFor(async () => {
      await rush(batcher);
      const waited = await alone(batcher);
      expect(waited).toBeGreaterThan(250 + 40);
      expect(waited).toBeLessThan(1_500);
    }, 20_000);
  });

  it("is no longer than a quarter of the time of a batch", async () => {
    const { batcher } = scene({ linger: 2_000, maxItems: 1_000 }, () => sleep(40));
    await rush(batcher);
    expect(await alone(batcher)).toBeLessThan(1_000);
  });

  it("ends as soon as there are enough items", async () => {
    const { batcher, batches } = slowScene(60);
    await rush(batcher);
    const first = range(23).map((item) => batcher.add(item));
    await new Promise(setImmediate);
    const last = batcher.add(23);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(batches.slice(1).map(({ items }) => items.length)).toEqual([24]);
    await Promise.all([...first, last]);
  });

  it("includes the callers that come meanwhile", async () => {
    const { batcher, batches } = slowScene(60);
    await rush(batcher);
    const before = batches.length;
    const first = batcher.add(1);
    await new Promise(setImmediate);
    await Promise.all([first, batcher.add(2), batcher.add(3)]);
    expect(batches.slice(before).map(({ items }) => items)).toEqual([[1, 2, 3]]);
  });
});
