import { expect, it } from "vitest";
import { poolOfProcess } from "./pool-of-process.ts";

it.each([
  { pool: 200, processes: 3, part: 67 },
  { pool: 8, processes: 2, part: 4 },
  { pool: 8, processes: 7, part: 4 },
  { pool: 3, processes: 2, part: 3 },
  { pool: 2, processes: 8, part: 2 },
])("each of $processes processes has $part connections of a pool of $pool", ({ pool, processes, part }) => {
  expect(poolOfProcess(pool, processes)).toBe(part);
});
