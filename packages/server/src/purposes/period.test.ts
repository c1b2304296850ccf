import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { sharedDatabase, type TestDatabase } from "../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../e2e/support/parties.ts";
import type { System } from "../runtime/system.ts";
import { addPeriod, endsNoLater, parsePeriod, type Period } from "./period.ts";

function period(text: string): Period {
  const parsed = parsePeriod(text);
  if (!parsed) throw new Error(`${text} is no period`);
  return parsed;
}

const ended = (start: string, text: string): string =>
  new Date(addPeriod(Date.parse(start), period(text))).toISOString();

describe("the text of a period", () => {
  test.each([
    "P90D",
    "P1Y",
    "P1Y6M",
    "P2W",
    "PT30S",
    "PT1H30M",
    "P1DT12H",
    "P100Y",
    "P1200M",
    "P99Y12M",
    "P36524D",
    "P0Y1D",
  ])("is valid: %s", (text) => {
    expect(parsePeriod(text)).toBeDefined();
  });

  test.each([
    [
      "",
      "P",
      "PT",
      "P1",
      "90D",
      "p90d",
      "P90d",
      "P-1D",
      "-P1D",
      "P1.5D",
      "PT0.5S",
      "P1DT",
      "P1D1Y",
      "P1H",
      " P1D",
      "P1D\n",
    ],
    [
      "P0D",
      "PT0S",
      "P0Y0M0DT0S",
      "P101Y",
      "P1201M",
      "P100Y1D",
      "P100YT1S",
      "P36525D",
      "P40000D",
      "PT99999999999999999999S",
    ],
  ])("is invalid in these cases", (...texts) => {
    expect(texts.filter((text) => parsePeriod(text) !== undefined)).toEqual([]);
  });

  it("is counted on the calendar of UTC", () => {
    expect(ended("2026-01-31T10:00:00.000Z", "P1M")).toBe("2026-02-28T10:00:00.000Z");
    expect(ended("2024-02-29T10:00:00.000Z", "P1Y")).toBe("2025-02-28T10:00:00.000Z");
    expect(ended("2026-12-31T23:59:59.999Z", "P2M")).toBe("2027-02-28T23:59:59.999Z");
    expect(ended("2026-03-29T00:30:00.000Z", "PT24H")).toBe("2026-03-30T00:30:00.000Z");
    expect(ended("2026-01-30T00:00:00.000Z", "P1M1D")).toBe("2026-03-01T00:00:00.000Z");
  });
});

describe("a period ends no later than another one", () => {
  test.each([
    ["P30D", "P31D", true],
    ["P28D", "P1M", true],
    ["P1M", "P31D", true],
    ["P1M", "P30D", false],
    ["P30D", "P1M", false],
    ["P12M", "P1Y", true],
    ["P1Y", "P12M", true],
    ["PT23H59M59S", "P1D", true],
    ["P1Y", "P365D", false],
  ])("%s and %s: %s", (first, second, expected) => {
    expect(endsNoLater(period(first), period(second))).toBe(expected);
  });
});

describe("PostgreSQL's interval", () => {
  let database: TestDatabase;
  let system: System;

  beforeAll(async () => {
    database = await sharedDatabase();
    system = await openTestSystem(await database.environment());
  });

  afterAll(async () => {
    await system?.close();
    await database?.close();
  });

  it("gives the same dates as this code, and accepts the same texts", async () => {
    const part = (letter: string): fc.Arbitrary<string> => fc.nat({ max: 40 }).map((count) => `${count}${letter}`);
    const texts = fc
      .tuple(part("Y"), part("M"), part("D"), part("H"), part("M"), part("S"))
      .map(([years, months, days, hours, minutes, seconds]) => `P${years}${months}${days}T${hours}${minutes}${seconds}`)
      .filter((text) => parsePeriod(text) !== undefined);
    const starts = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2060, 0, 1) });
    const cases = fc.sample(fc.tuple(texts, starts), 500);
    const { rows } = await system.pool.query<{ ended: number }>(
      `select extract(epoch from to_timestamp(at / 1000.0) + period::interval)::float8 * 1000 as ended
        from unnest($1::text[], $2::float8[]) with ordinality as given (period, at, place) order by place`,
      [cases.map(([text]) => text), cases.map(([, start]) => start)],
    );
    expect(rows.map((row) => Math.round(row.ended))).toEqual(
      cases.map(([text, start]) => addPeriod(start, period(text))),
    );
  });
});
