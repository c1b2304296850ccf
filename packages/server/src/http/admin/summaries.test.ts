import type { Answer } from "@device-risk-signals/admin-api";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
const RANGE = { from: "2026-03-01T00:00:00Z", to: "2026-03-03T00:00:00Z" } as const;

beforeAll(async () => {
  const { pool } = scene.system;
  await pool.query(
    `insert into probe_outcome (hour, platform, sdk_version, os_major, probe, state, reason, occurrences) values
      ('2026-02-28T23:00:00Z', 'ios', '1.0.0', '18', 'network', 'success', '', 1000),
      ('2026-03-01T00:00:00Z', 'ios', '1.0.0', '18', 'network', 'success', '', 1),
      ('2026-03-01T00:00:00Z', 'ios', '1.0.0', '18', 'network', 'error', 'a', 2),
      ('2026-03-01T00:00:00Z', 'ios', '1.0.0', '18', 'network', 'error', 'b', 4),
      ('2026-03-01T05:00:00Z', 'android', '1.0.0', '', 'network', 'timeout', '', 8),
      ('2026-03-02T23:00:00Z', 'android', '1.1.0', '15', 'fonts', 'omitted', '', 16),
      ('2026-03-03T00:00:00Z', 'android', '1.1.0', '15', 'fonts', 'omitted', '', 1000)`,
  );
  await pool.query(
    `insert into rejection (hour, problem, violation, place, sdk_version, occurrences) values
      ('2026-02-28T23:00:00Z', 'request-invalid', 'required', '/observations', '1.0.0', 1000),
      ('2026-03-01T00:00:00Z', 'request-invalid', 'required', '/observations', '1.0.0', 1),
      ('2026-03-02T03:00:00Z', 'request-invalid', 'required', '/observations', '1.0.0', 2),
      ('2026-03-02T04:00:00Z', 'credentials-invalid', '', '', '', 7)`,
  );
});

const sums = ({ outcomes }: Answer<"summarizeOutcomes">): readonly string[] =>
  outcomes.map(({ group, probe, state, occurrences }) => `${group} ${probe} ${state} ${occurrences}`);

describe("the summary of outcomes", () => {
  it.each([
    [
      "sdk_version",
      ["1.0.0 network error 6", "1.0.0 network success 1", "1.0.0 network timeout 8", "1.1.0 fonts omitted 16"],
    ],
    [
      "os",
      [
        "android 15 fonts omitted 16",
        "android unknown network timeout 8",
        "ios 18 network error 6",
        "ios 18 network success 1",
      ],
    ],
    [
      "platform",
      ["android fonts omitted 16", "android network timeout 8", "ios network error 6", "ios network success 1"],
    ],
    [
      "day",
      [
        "2026-03-01 network error 6",
        "2026-03-01 network success 1",
        "2026-03-01 network timeout 8",
        "2026-03-02 fonts omitted 16",
      ],
    ],
  ] as const)("by %s sums the hours of the range, and keeps states apart", async (by, expected) => {
    const client = await listener.client(["analyst"]);
    const answer = await client.call("summarizeOutcomes", { by, ...RANGE });
    expect(sums(answer)).toEqual(expected);
    expect(answer).toMatchObject({ from: "2026-03-01T00:00:00.000Z", to: "2026-03-03T00:00:00.000Z", more: false });
  });

  it("is of one platform, SDK version or probe", async () => {
    const client = await listener.client(["analyst"]);
    const of = async (filter: object) =>
      sums(await client.call("summarizeOutcomes", { by: "platform", ...RANGE, ...filter }));
    expect(await of({ platform: "ios" })).toHaveLength(2);
    expect(await of({ sdk_version: "1.1.0" })).toEqual(["android fonts omitted 16"]);
    expect(await of({ probe: "network", platform: "android" })).toEqual(["android network timeout 8"]);
  });

  it("is of the last seven days, and of at most 92", async () => {
    const client = await listener.client(["analyst"]);
    const { from, to } = await client.call("summarizeOutcomes", { by: "day" });
    const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(7);
    expect(days).toBeLessThan(7.05);
    const long = { by: "day", from: "2026-01-01T00:00:00Z", to: "2026-06-01T00:00:00Z" } as const;
    await expect(client.call("summarizeOutcomes", long)).rejects.toThrow("at most 92 days");
    const backwards = await client.call("summarizeOutcomes", { by: "day", from: RANGE.to, to: RANGE.from });
    expect(backwards.outcomes).toEqual([]);
    const earliest = await client.call("summarizeOutcomes", { by: "day", to: "0001-01-01T00:00:00Z" });
    expect(earliest.outcomes).toEqual([]);
  });
});

describe("the summary of rejections", () => {
  it("has the most frequent first, with the hours in which they occurred", async () => {
    const client = await listener.client(["analyst"]);
    const { rejections, more } = await client.call("summarizeRejections", RANGE);
    expect(more).toBe(false);
    expect(rejections).toEqual([
      {
        problem: "credentials-invalid",
        violation: null,
        place: null,
        sdk_version: null,
        occurrences: 7,
        first_hour: "2026-03-02T04:00:00.000Z",
        last_hour: "2026-03-02T04:00:00.000Z",
      },
      {
        problem: "request-invalid",
        violation: "required",
        place: "/observations",
        sdk_version: "1.0.0",
        occurrences: 3,
        first_hour: "2026-03-01T00:00:00.000Z",
        last_hour: "2026-03-02T03:00:00.000Z",
      },
    ]);
  });

  it("says when there are more rows than it has", async () => {
    await scene.system.pool.query(
      `insert into rejection (hour, problem, violation, place, sdk_version, occurrences)
        select '2026-04-01T00:00:00Z', 'request-invalid', 'v' || n, '', '', 1 from generate_series(1, 501) n`,
    );
    const client = await listener.client(["analyst"]);
    const answer = await client.call("summarizeRejections", {
      from: "2026-04-01T00:00:00Z",
      to: "2026-04-02T00:00:00Z",
    });
    expect(answer.more).toBe(true);
    expect(answer.rejections).toHaveLength(500);
  });
});
