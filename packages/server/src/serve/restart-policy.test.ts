import { describe, expect, it } from "vitest";
import { type EndedProcess, RestartPolicy } from "./restart-policy.ts";

const QUICK = { servedMs: 50, isOutage: false };
const LONG = { servedMs: 60_000, isOutage: false };
const FAILED = { isOutage: false };

const delays = (...ends: readonly EndedProcess[]): (number | undefined)[] => {
  const policy = new RestartPolicy();
  return ends.map((end) => policy.ended(end));
};

describe("a process that ended", () => {
  it("is replaced at once, and later if it has repeatedly ended early", () => {
    expect(delays(LONG, LONG)).toEqual([0, 0]);
    expect(delays(...Array.from({ length: 8 }, () => QUICK))).toEqual([0, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    expect(delays(QUICK, QUICK, LONG, QUICK)).toEqual([0, 200, 0, 0]);
  });

  it("is given up after five failed starts in a row", () => {
    expect(delays(FAILED, FAILED, FAILED, FAILED, FAILED)).toEqual([0, 200, 400, 800, undefined]);
    expect(delays(FAILED, FAILED, FAILED, FAILED, QUICK, FAILED)).not.toContain(undefined);
  });

  it("is not given up if a dependency was the cause", () => {
    const outage = { isOutage: true };
    expect(delays(...Array.from({ length: 20 }, () => outage)).at(-1)).toBe(5_000);
  });
});
