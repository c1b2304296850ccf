import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Loop, type LoopOptions } from "./loop.ts";

let runs = 0;
let errors: unknown[] = [];
let gate: PromiseWithResolvers<unknown> | undefined;
let loop: Loop;

const start = (options: Partial<LoopOptions> = {}): Loop =>
  (loop = new Loop(
    async (signal) => {
      runs++;
      const result = await gate?.promise;
      if (result === "interrupted") throw signal.reason;
      if (result instanceof Error) throw result;
      return result;
    },
    { everyMs: 100, onError: (error) => errors.push(error), ...options },
  ));

const pass = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => {
  vi.useFakeTimers();
  [runs, errors, gate] = [0, [], undefined];
});

afterEach(async () => {
  gate?.resolve(undefined);
  await loop.close();
  vi.useRealTimers();
});

test.each([
  [false, [0, 1, 2]],
  [true, [1, 2, 3]],
])("the first run begins at once: %s", async (atOnce, expected) => {
  start({ atOnce });
  const counts = [runs];
  for (const milliseconds of [150, 100]) {
    await pass(milliseconds);
    counts.push(runs);
  }
  expect(counts).toEqual(expected);
});

test("no run overlaps another, and the pause begins at the end of a run", async () => {
  gate = Promise.withResolvers();
  start({ atOnce: true });
  await pass(1_000);
  expect(runs).toBe(1);
  gate.resolve(undefined);
  await pass(99);
  expect(runs).toBe(1);
  await pass(1);
  expect(runs).toBe(2);
});

test("an error is reported, and the next run follows", async () => {
  gate = Promise.withResolvers();
  start();
  await pass(100);
  gate.resolve(new Error("no database"));
  await pass(100);
  expect([runs, errors]).toEqual([2, [new Error("no database"), new Error("no database")]]);
});

test("the work chooses the next pause", async () => {
  gate = Promise.withResolvers();
  gate.resolve(10);
  start({ atOnce: true });
  await pass(35);
  expect(runs).toBe(4);
});

test("a call of wake ends the pause, and omits the next one during a run", async () => {
  start();
  loop.wake();
  await pass(0);
  expect(runs).toBe(1);
  gate = Promise.withResolvers();
  await pass(100);
  loop.wake();
  gate.resolve(undefined);
  await pass(0);
  expect(runs).toBe(3);
});

test("close aborts the signal, waits for the run and reports no interruption", async () => {
  gate = Promise.withResolvers();
  start({ atOnce: true });
  const ended = vi.fn();
  const closing = loop.close().then(ended);
  await pass(1_000);
  expect(ended).not.toHaveBeenCalled();
  gate.resolve("interrupted");
  await closing;
  expect([runs, errors]).toEqual([1, []]);
});

test("close ends a pause, and no run follows", async () => {
  start();
  await loop.close();
  await pass(1_000);
  expect(runs).toBe(0);
});
