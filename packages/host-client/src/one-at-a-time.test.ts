import { expect, it } from "vitest";
import { oneAtATime } from "./one-at-a-time.ts";

it("functions run in the order of the calls, and a failure affects no other call", async () => {
  const exclusively = oneAtATime();
  const seen: number[] = [];
  const work = (n: number, ms: number) => async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    seen.push(n);
    if (n === 2) throw new Error("two");
    return n;
  };
  const results = await Promise.allSettled([
    exclusively(work(1, 20)),
    exclusively(work(2, 0)),
    exclusively(work(3, 0)),
  ]);
  expect(seen).toEqual([1, 2, 3]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
