import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { LimitedTasks } from "./limited-tasks.ts";

it("tasks run in their order, at most the limit at a time, also after one that failed", async () => {
  const tasks = new LimitedTasks(2);
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const task = (index: number) => async (): Promise<number> => {
    started.push(index);
    most = Math.max(most, ++running);
    for (let turn = 0; turn < 3; turn++) await setImmediate();
    running--;
    if (index === 1) throw new Error("failed");
    return index;
  };
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map((index) => tasks.run(task(index))));
  expect(results.map((one) => (one.status === "fulfilled" ? one.value : "failed"))).toEqual([0, "failed", 2, 3, 4]);
  expect(started).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
});
