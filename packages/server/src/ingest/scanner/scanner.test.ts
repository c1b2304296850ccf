import { adoptFields, NOTHING_ADOPTED } from "@device-risk-signals/contract/catalog/adopted";
import { describe, expect, it } from "vitest";
import { fullEvent } from "../../../../../bench/src/full-event.ts";
import { fullRounds } from "../../../../../e2e/support/soak.ts";
import { comparePaths, type Verdict } from "./compare-paths.fixture.ts";
import { bodiesWithOneTokenMore, bodiesWithOneValueChanged, BodyMaker } from "./mutated-body.fixture.ts";
import { readScan } from "../read-scan.ts";
import { createScanBody } from "./scan-body.ts";
import { compiledScanner, WasmScanner } from "./scanner.ts";

const scanner = new WasmScanner(compiledScanner());

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

  it("leaves an event that departs in an adopted field to the slow path", () => {
    const adoption = adoptFields([["fonts", "fontsDigest"]]);
    const body = requestOf(eventOf({ fonts: { status: "success", data: { fontsDigest: 7 } } }));
    const scan = scanner.scan(body);
    if (!scan || !adoption.ok) throw new Error("no scan");
    expect(readScan(scan, body, NOTHING_ADOPTED)?.probes.departures()).toEqual([
      { kind: "wrong-type", path: ["fonts", "fontsDigest"], found: "number" },
    ]);
    expect(readScan(scan, body, adoption.adopted)).toBeUndefined();
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

describe("an error of the scanner", () => {
  const body = requestOf(fullEvent(1, new Date(0)));

  function scanBodyWith(open: () => { scan(): undefined }): {
    results: string[];
    errors: unknown[];
    run: () => unknown;
  } {
    const results: string[] = [];
    const errors: unknown[] = [];
    const meter = { scanned: (result: string) => void results.push(result) };
    const scanBody = createScanBody({ meter, onError: (...error) => void errors.push(error) }, open);
    return { results, errors, run: () => scanBody(body) };
  }

  it("leaves the body to the slow path, is counted and reported, and makes a new instance scan the next body", () => {
    let opened = 0;
    const trap = new Error("unreachable");
    const { results, errors, run } = scanBodyWith(() => {
      const isFirst = opened++ === 0;
      return {
        scan: () => {
          if (isFirst) throw trap;
          return undefined;
        },
      };
    });
    expect([run(), run(), run()]).toEqual([undefined, undefined, undefined]);
    expect(results).toEqual(["failed", "unsure", "unsure"]);
    expect(errors).toEqual([[trap, "scan body"]]);
    expect(opened).toBe(2);
  });

  it("ends scanning after several errors, or at once if the runtime can't scan", () => {
    const failing = scanBodyWith(() => ({
      scan: () => {
        throw new Error("unreachable");
      },
    }));
    for (let request = 0; request < 20; request++) failing.run();
    expect(failing.errors).toHaveLength(8);
    const unable = scanBodyWith(() => {
      throw new Error("no SIMD");
    });
    for (let request = 0; request < 20; request++) unable.run();
    expect(unable.errors).toHaveLength(1);
  });
});
