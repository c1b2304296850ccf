import { describe, expect, it } from "vitest";
import { fullEvent } from "../../../bench/src/full-event.ts";
import { fullRounds } from "../../../e2e/support/soak.ts";
import { comparePaths, type Verdict } from "./compare-paths.fixture.ts";
import { bodiesWithOneTokenMore, bodiesWithOneValueChanged, BodyMaker } from "./mutated-body.fixture.ts";
import { openScanner } from "./scanner.ts";

const scanner = openScanner();

/** Compares both ways to read each body, and counts the verdicts. */
function compareAll(bodies: Iterable<Buffer>): Record<Verdict, number> {
  const counts = { accepted: 0, unsure: 0, rejected: 0 };
  for (const body of bodies) {
    try {
      counts[comparePaths(scanner, body)]++;
    } catch (cause) {
      throw new Error(`${(cause as Error).message}, for ${body.toString("latin1")}`, { cause });
    }
  }
  return counts;
}

function* repeated(count: number, make: () => Iterable<Buffer>): Iterable<Buffer> {
  for (let made = 0; made < count;) {
    for (const body of make()) {
      yield body;
      made++;
    }
  }
}

const requestOf = (observations: object): Buffer =>
  Buffer.from(
    JSON.stringify({ action_id: "a", action_type: "payment", sdk_version: "1.0.0", platform: "ios", observations }),
  );

/** An event with these probes. */
const eventOf = (probes: object): object => ({ ...fullEvent(1, new Date(0)), probes });

describe("the scanner", () => {
  it("agrees with the slow path about any value at any place", () => {
    const { accepted, rejected } = compareAll(bodiesWithOneValueChanged());
    expect([accepted > 500, rejected > 2_000]).toEqual([true, true]);
  });

  it("agrees with the slow path about a body with one more token", () => {
    const { accepted, rejected } = compareAll(bodiesWithOneTokenMore());
    expect([accepted > 5_000, rejected > 10_000]).toEqual([true, true]);
  });

  it("agrees with the slow path about bodies that were changed anywhere", { timeout: 7_200_000 }, () => {
    const maker = new BodyMaker(Date.now());
    compareAll(repeated(fullRounds(4_000, 10_000_000), () => maker.mutated()));
  });

  it("accepts at least 99 of 100 valid bodies in any spelling", () => {
    const maker = new BodyMaker(1);
    const count = 1_000;
    const { accepted, unsure, rejected } = compareAll(repeated(count, () => [maker.valid()]));
    expect([accepted + unsure, rejected]).toEqual([count, 0]);
    expect(unsure / count).toBeLessThanOrEqual(0.01);
  });

  it("accepts full events, those with emoji and with departures from the catalog", () => {
    const full = Array.from({ length: 50 }, (_, seed) => requestOf(fullEvent(seed, new Date(seed))));
    const departing = requestOf(
      eventOf({
        fonts: { status: "success", data: { fontsDigest: 7, novel: { "\u{1F600}": ["é"] } } },
        os_integrity: { status: "success", data: {} },
        novel: { status: "error", error: "\u{1F600}" },
      }),
    );
    expect(compareAll([...full, departing])).toEqual({ accepted: 51, unsure: 0, rejected: 0 });
  });

  it.each([
    ["is larger than its memory for bodies", { x: "a".repeat(262_144) }],
    ["has more names than its table", Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`n${n}`, n]))],
  ])("leaves to the slow path a body that %s, and reads the next body correctly", (_, more) => {
    const body = requestOf(fullEvent(3, new Date(0)));
    const before = scanner.scan(body);
    expect(scanner.scan(requestOf({ ...fullEvent(1, new Date(0)), ...more }))).toBeUndefined();
    expect(scanner.scan(body)).toEqual(before);
  });

  it("leaves an event with very many departures to the slow path", () => {
    const data = Object.fromEntries(Array.from({ length: 513 }, (_, n) => [`n${n}`, n]));
    expect(scanner.scan(requestOf(eventOf({ fonts: { status: "success", data } })))).toBeUndefined();
  });

  it("does not change the results of an earlier body when it scans a later one", () => {
    const first = scanner.scan(requestOf(fullEvent(1, new Date(0))));
    const copy = structuredClone(first);
    scanner.scan(requestOf(eventOf({ novel: { status: "timeout" } })));
    expect(first).toEqual(copy);
  });
});
