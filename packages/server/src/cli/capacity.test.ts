import { describe, expect, it } from "vitest";
import { objects, runAsGiven } from "../../../../e2e/support/command.ts";

const DEMAND = ["capacity", "--events-per-day", "1000000", "--retention", "P90D", "--event-kb", "13"];

interface Shown {
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
  readonly how: string;
}

const figuresOf = async (
  environment: Record<string, string>,
  ...args: readonly string[]
): Promise<Map<string, Shown>> => {
  const { code, stdout, stderr } = await runAsGiven(environment, ...DEMAND, ...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return new Map(objects<Shown>(stdout).map((figure) => [figure.figure, figure]));
};

describe("drs capacity", () => {
  it("prints each figure with its unit and how it was computed, without a database", async () => {
    const { code, stdout, stderr } = await runAsGiven({}, ...DEMAND);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const line of stdout.trimEnd().split("\n")) expect(line).toMatch(/^\S.*: [\d.]+(?: [KMGTP]iB)? \(.+\)$/);
    expect(stdout).toMatch(/^disk: [\d.]+ TiB /m);
    expect(stdout).toMatch(/^partitions: 98 /m);
  });

  it("reads how long ledger and audit log keep an event from the settings", async () => {
    const usual = await figuresOf({});
    const shorter = await figuresOf({ DRS_AUDIT_RETENTION: "73d", DRS_REPLAY_WINDOW: "1d" });
    expect(shorter.get("audit log")?.value).toBeCloseTo(Number(usual.get("audit log")?.value) / 10, -3);
    expect(shorter.get("ledger")?.value).toBeLessThan(Number(usual.get("ledger")?.value));
    expect(shorter.get("events")).toEqual(usual.get("events"));
  });

  it("sums up the disk, and sizes WAL and cores by the peak", async () => {
    const many = ["--events-per-day", "50000000"];
    const [usual, peak] = [await figuresOf({}, ...many, "--peak", "1"), await figuresOf({}, ...many, "--peak", "100")];
    for (const figures of [usual, peak]) {
      const sum = [...figures.values()].slice(1, 6).reduce((total, { value }) => total + value, 0);
      expect(Number(figures.get("disk")?.value) / sum).toBeCloseTo(1.25, 3);
    }
    for (const figure of ["max_wal_size", "cores"])
      expect(peak.get(figure)?.value, figure).toBeGreaterThan(Number(usual.get(figure)?.value));
  });

  it.each([
    ["--events-per-day", "0"],
    ["--events-per-day", "many"],
    ["--retention", "90d"],
    ["--event-kb", "-1"],
    ["--peak", "0.5"],
  ])("refuses %s %s", async (...wrong) => {
    const { code, stdout } = await runAsGiven({}, ...DEMAND, ...wrong);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });
});
