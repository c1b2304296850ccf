import { randomBytes } from "node:crypto";
import { checkAgainstCatalog } from "@device-risk-signals/contract/catalog/check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { BufferedDriftLog, type DriftRow, listDrift } from "./drift.ts";

const MAX_PATHS = 500;
const MAX_VERSIONS = 200;
const MAX_NEW_PATHS = 20;

const opened = useTestSystem();
let now: number;
const clock = { now: () => now };
const logs: BufferedDriftLog[] = [];

beforeEach(() => {
  now = Date.parse("2026-03-01T12:00:00.000Z");
});

afterEach(async () => {
  await Promise.all(logs.splice(0).map((log) => log.close()));
});

interface DriftLogScene {
  readonly log: {
    readonly observe: (
      sdkVersion: string,
      probes: Record<string, unknown>,
      members?: number,
      platform?: "android" | "ios",
    ) => void;
    readonly flush: () => Promise<void>;
    readonly close: () => Promise<void>;
  };
  readonly errors: unknown[];
}

/** Opens a log. Its requests have few members unless a test gives another number. */
function openLog(executor: Executor = opened.system.pool): DriftLogScene {
  const errors: unknown[] = [];
  const log = new BufferedDriftLog(executor, clock, (error) => errors.push(error));
  logs.push(log);
  return {
    log: {
      observe: (sdkVersion, probes, members = 10, platform = "android") =>
        log.observe(
          { platform, sdkVersion },
          { departures: () => checkAgainstCatalog(probes), parsed: () => probes },
          members,
        ),
      flush: () => log.flush(),
      close: () => log.close(),
    },
    errors,
  };
}

/** Probes with one success outcome; `fonts` has one known field, `fontsDigest`, a string. */
const fonts = (data: Record<string, unknown>): Record<string, unknown> => ({ fonts: { status: "success", data } });

async function rowsOf(version: string): Promise<readonly DriftRow[]> {
  return (await listDrift(opened.system.pool)).filter((row) => row.sdk_version === version);
}

/** What a row has of its 30 days. @param last the numbers of the last days. */
const dailyOf = (...last: readonly number[]): number[] => [
  ...Array.from({ length: 30 - last.length }, () => 0),
  ...last,
];

const total = (rows: readonly DriftRow[]): number => rows.reduce((sum, row) => sum + row.occurrences, 0);

describe("a departure from the catalog", () => {
  it("is counted by path, JSON type, platform and SDK version, with the times of its first and last event", async () => {
    const { log } = openLog();
    log.observe("1.0.0", fonts({ fontsDigest: 7 }));
    log.observe("1.0.0", fonts({ fontsDigest: 8, novel: ["a"] }));
    await log.flush();
    now += 60_000;
    log.observe("1.0.0", fonts({ fontsDigest: 9 }));
    log.observe("1.0.1", fonts({ fontsDigest: 9 }));
    log.observe("1.0.1", fonts({ fontsDigest: 9 }), 10, "ios");
    await log.flush();
    const row = {
      platform: "android",
      sdk_version: "1.0.0",
      first_seen: "2026-03-01T12:00:00.000Z",
      last_seen: "2026-03-01T12:00:00.000Z",
    };
    expect(await rowsOf("1.0.0")).toEqual([
      {
        ...row,
        path: "fonts.fontsDigest",
        json_type: "number",
        occurrences: 3,
        daily: dailyOf(3),
        last_seen: "2026-03-01T12:01:00.000Z",
      },
      { ...row, path: "fonts.novel", json_type: "array", occurrences: 1, daily: dailyOf(1) },
    ]);
    expect(await rowsOf("1.0.1")).toMatchObject(
      ["android", "ios"].map((platform) => ({ path: "fonts.fontsDigest", platform, occurrences: 1 })),
    );
  });

  it("is counted by day in UTC for 30 days, also in a session of another time zone and if the clock is set back", async () => {
    await opened.owner.query("set timezone to 'Pacific/Kiritimati'");
    const { log } = openLog(opened.owner as unknown as Executor);
    const see = async (time: string, events: number): Promise<readonly number[] | undefined> => {
      now = Date.parse(time);
      for (let event = 0; event < events; event++) log.observe("1.1.0", fonts({ novel: 1 }));
      await log.flush();
      return (await rowsOf("1.1.0"))[0]?.daily;
    };
    try {
      expect(await see("2026-03-01T23:59:59Z", 2)).toEqual(dailyOf(2));
      expect(await see("2026-03-02T00:00:00Z", 1)).toEqual(dailyOf(2, 1));
      expect(await see("2026-03-02T12:00:00Z", 4)).toEqual(dailyOf(2, 5));
      expect(await see("2026-03-04T12:00:00Z", 1)).toEqual(dailyOf(2, 5, 0, 1));
      expect(await see("2026-03-02T12:00:00Z", 1)).toEqual(dailyOf(2, 5, 0, 2));
      expect(await see("2026-04-02T12:00:00Z", 3)).toEqual([2, ...dailyOf(3).slice(1)]);
      expect(await see("2026-04-03T12:00:00Z", 1)).toEqual(dailyOf(3, 1));
      expect(await see("2027-04-03T12:00:00Z", 1)).toEqual(dailyOf(1));
      expect((await rowsOf("1.1.0"))[0]?.occurrences).toBe(14);
    } finally {
      await opened.owner.query("reset timezone");
    }
  });

  it("is not counted if the event matches the published schema, or if the outcome is not a success", async () => {
    const { log } = openLog();
    log.observe("2.0.0", {
      ...fonts({ fontsDigest: "a" }),
      telephony: { status: "timeout" },
      network: { status: "error", error: "x" },
    });
    await log.flush();
    expect(await rowsOf("2.0.0")).toEqual([]);
  });

  it("is listed with the fields of an unknown probe and their types", async () => {
    const { log } = openLog();
    const inner = { mode: "x", deeper: { value: 1 } };
    const data = { found: true, names: ["a"], "anna@example.com": 1, toString: "x", inner };
    log.observe("2.0.3", { novel_probe: { status: "success", data }, other_probe: { status: "timeout" } });
    await log.flush();
    const seen = (await rowsOf("2.0.3")).map(({ path, json_type }) => `${path} ${json_type}`);
    expect(seen.toSorted()).toEqual([
      "novel_probe object",
      "novel_probe.* number",
      "novel_probe.found boolean",
      "novel_probe.inner object",
      "novel_probe.inner.deeper object",
      "novel_probe.inner.mode string",
      "novel_probe.names array",
      "novel_probe.toString string",
      "other_probe object",
    ]);
  });

  it("keeps the five states apart, of which absent, null and false are three", async () => {
    const { log } = openLog();
    const integrity = (data: Record<string, unknown>) => ({ os_integrity: { status: "success", data } });
    const known = { isEmulator: false, isDebuggerAttached: false };
    log.observe("2.0.1", integrity({ ...known }));
    log.observe("2.0.1", integrity({ ...known, developerModeEnabled: null }));
    log.observe("2.0.1", integrity({ ...known, developerModeEnabled: false }));
    await log.flush();
    expect((await rowsOf("2.0.1")).map(({ path, json_type }) => [path, json_type])).toEqual([
      ["os_integrity.developerModeEnabled", "absent"],
      ["os_integrity.developerModeEnabled", "null"],
    ]);
  });

  it("reaches the table within some seconds", async () => {
    const { log } = openLog();
    log.observe("2.0.2", fonts({ novel: 1 }));
    await expect.poll(() => rowsOf("2.0.2"), { timeout: 8_000 }).toHaveLength(1);
  });
});

describe("a name that a client sent", () => {
  it("is kept if it is well-formed, and counted under * otherwise", async () => {
    const { log } = openLog();
    const odd = [
      "anna@example.com",
      "a b",
      "",
      "é",
      "x".repeat(65),
      "a-b",
      "<script>",
      "\u0000",
      "'; drop table drift",
      "a\nb",
    ];
    for (const name of odd) log.observe("3.0.0", fonts({ [name]: 1 }));
    for (const name of ["novel", "x".repeat(64), "_1"]) log.observe("3.0.0", fonts({ [name]: 1 }));
    log.observe("3.0.0", { "anna@example.com": { status: "timeout" }, novel_probe: { status: "timeout" } });
    await log.flush();
    expect((await rowsOf("3.0.0")).map(({ path, occurrences }) => [path, occurrences])).toEqual([
      ["fonts.*", odd.length],
      ["*", 1],
      ["fonts._1", 1],
      ["fonts.novel", 1],
      [`fonts.${"x".repeat(64)}`, 1],
      ["novel_probe", 1],
    ]);
  });

  it("is kept if it is a member of a known object, or of an unknown one", async () => {
    const { log } = openLog();
    const data = { manufacturer: "a", model: "a", brand: "a", systemName: "a", systemVersion: "a", isTablet: false };
    const identity = (more: object) => ({ device_identity: { status: "success", data: { ...data, ...more } } });
    const unknown = { "anna@example.com": 1, mode: "x", deeper: { value: 1 } };
    log.observe("3.0.1", identity({ androidBuild: { novel: true, more: { value: 1 } }, unknown }));
    await log.flush();
    expect((await rowsOf("3.0.1")).map(({ path }) => path)).toEqual([
      "device_identity.androidBuild.more",
      "device_identity.androidBuild.novel",
      "device_identity.unknown",
      "device_identity.unknown.*",
      "device_identity.unknown.deeper",
      "device_identity.unknown.mode",
    ]);
  });

  it("that looks like the path of a known member is not counted as that member", async () => {
    const { log } = openLog();
    const data = { manufacturer: "a", model: "a", brand: "a", systemName: "a", systemVersion: "a", isTablet: false };
    const identity = (more: object) => ({ device_identity: { status: "success", data: { ...data, ...more } } });
    log.observe("3.0.4", identity({ "androidBuild.sdkInt": 1 }));
    log.observe("3.0.4", identity({ androidBuild: { sdkInt: "1" } }));
    await log.flush();
    expect((await rowsOf("3.0.4")).map(({ path, json_type }) => [path, json_type])).toEqual([
      ["device_identity.*", "number"],
      ["device_identity.androidBuild.sdkInt", "string"],
    ]);
  });

  it("is counted under * if it is very long, and does not delay the request", async () => {
    const { log, errors } = openLog();
    // The name is longer than an index entry can be, and not compressible.
    const endless = Array.from({ length: 100 }, () => randomBytes(32).toString("hex")).join(".");
    log.observe("3.0.2", fonts({ [endless]: 1, novel: 1 }));
    await log.flush();
    expect(errors).toEqual([]);
    expect((await rowsOf("3.0.2")).map(({ path }) => path)).toEqual(["fonts.*", "fonts.novel"]);
  });

  it("is counted under the version `*` if it is an SDK version without a valid form", async () => {
    const { log } = openLog();
    const before = total(await rowsOf("*"));
    for (const version of ["anna@example.com", "1 0", "é", "x".repeat(33), ""])
      log.observe(version, fonts({ novel: 1 }));
    await log.flush();
    expect(total(await rowsOf("*")) - before).toBe(5);
  });

  it("is kept without its value", async () => {
    const { log } = openLog();
    log.observe(
      "3.0.3",
      fonts({ novel: "a telling value", more: { inner: "another telling value" }, list: ["telling too"] }),
    );
    await log.flush();
    const { rows } = await opened.system.pool.query<{ row: string }>(
      "select d::text as row from drift d where sdk_version = '3.0.3'",
    );
    expect(rows).toHaveLength(4);
    expect(rows.map(({ row }) => row).join()).not.toContain("telling");
  });
});

/** Makes this many unknown fields, each with a name of its own. */
const novelties = (count: number, prefix: string): Record<string, unknown> =>
  fonts(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}_${index}`, 1])));

/** Observes events with unknown fields, as many in each as one event can add. */
function flood(log: DriftLogScene["log"], version: string, fields: number, prefix: string): void {
  for (let from = 0; from < fields; from += MAX_NEW_PATHS)
    log.observe(version, novelties(MAX_NEW_PATHS, `${prefix}_${from}`));
}

describe("the drift that a client can cause", () => {
  it("is bounded for one version and one write: further paths are counted under *", async () => {
    const { log } = openLog();
    flood(log, "4.0.0", MAX_PATHS + 300, "a");
    flood(log, "4.0.0", MAX_PATHS + 300, "b");
    await log.flush();
    const rows = await rowsOf("4.0.0");
    expect(rows.length).toBeLessThanOrEqual(MAX_PATHS + 1);
    expect(rows.length).toBeGreaterThanOrEqual(MAX_PATHS);
    expect(total(rows)).toBe(2 * (MAX_PATHS + 300));
  });

  it("is bounded for one event: it adds few names, and the next event can add others", async () => {
    const { log } = openLog();
    const named = async () => (await rowsOf("4.0.3")).filter(({ path }) => path !== "*").length;
    for (const expected of [MAX_NEW_PATHS, 2 * MAX_NEW_PATHS, 45, 45]) {
      log.observe("4.0.3", novelties(45, "release"));
      await log.flush();
      expect(await named()).toBe(expected);
    }
    expect(total(await rowsOf("4.0.3"))).toBe(4 * 45);
  });

  it("is bounded for one event: an event with many more members than the catalog is not walked, and is counted as not-walked", async () => {
    const { log } = openLog();
    const wide = new Proxy(novelties(1, "wide"), {
      ownKeys: () => {
        throw new Error("walked");
      },
    });
    log.observe("4.0.2", wide, 40_000);
    log.observe("4.0.2", wide, 40_000);
    log.observe("4.0.2", novelties(1, "narrow"), 2_000);
    await log.flush();
    expect((await rowsOf("4.0.2")).map(({ path, json_type, occurrences }) => [path, json_type, occurrences])).toEqual([
      ["*", "not-walked", 2],
      ["fonts.narrow_0", "number", 1],
    ]);
  });

  it("leaves the fields of other clients listed: paths that were seen longest ago give way", async () => {
    const { log } = openLog();
    const honest = fonts({ honest: true });
    for (let minute = 0; minute < 4; minute++, now += 60_000) {
      flood(log, "4.0.1", 400, `invented_${minute}`);
      if (minute > 1) log.observe("4.0.1", honest);
      await log.flush();
    }
    const rows = await rowsOf("4.0.1");
    expect(rows.length).toBeLessThanOrEqual(MAX_PATHS + 1);
    expect(rows).toContainEqual(
      expect.objectContaining({ path: "fonts.honest", occurrences: 2, first_seen: "2026-03-01T12:02:00.000Z" }),
    );
    expect(rows.filter(({ path }) => path.startsWith("fonts.invented_3"))).toHaveLength(400);
  });

  it("takes no count from a path that events still have, even if one write is full", async () => {
    const { log } = openLog();
    for (let write = 0; write < 2; write++) {
      flood(log, "4.0.5", MAX_PATHS + 100, "full");
      await log.flush();
    }
    const rows = await rowsOf("4.0.5");
    expect(rows).toHaveLength(MAX_PATHS + 1);
    expect(rows.filter(({ occurrences }) => occurrences === 1)).toEqual([]);
  });

  it("is bounded over restarts, and over several servers", async () => {
    for (let restart = 0; restart < 3; restart++, now += 60_000) {
      const { log } = openLog();
      flood(log, "4.0.4", 400, `restart_${restart}`);
      await log.close();
    }
    const rows = await rowsOf("4.0.4");
    expect(rows.length).toBeLessThanOrEqual(MAX_PATHS + 1);
    expect(rows.length).toBeGreaterThanOrEqual(MAX_PATHS);
    const { log } = openLog();
    flood(log, "4.0.4", 400, "restart_2");
    await log.close();
    expect(
      (await rowsOf("4.0.4")).find(({ path }) => path === "fonts.restart_2_0_1"),
      "existing rows are still counted",
    ).toMatchObject({ occurrences: 2 });
  });

  it("is bounded in the number of versions: the oldest ones give way", async () => {
    for (let restart = 0; restart < 3; restart++, now += 60_000) {
      const { log } = openLog();
      for (let version = 0; version < 150; version++) log.observe(`5.${restart}.${version}`, fonts({ novel: 1 }));
      log.observe("5.9.9", fonts({ honest: 1 }));
      await log.close();
    }
    const versions = new Set((await listDrift(opened.system.pool)).map((row) => row.sdk_version));
    expect(versions.size).toBe(MAX_VERSIONS);
    expect(versions).toContain("5.2.149");
    expect(await rowsOf("5.9.9")).toMatchObject([{ path: "fonts.honest", occurrences: 3 }]);
  });

  it("is bounded in the number of versions of one write: further versions are counted under *", async () => {
    const { log } = openLog();
    for (let version = 0; version < MAX_VERSIONS + 10; version++) log.observe(`6.0.${version}`, fonts({ novel: 1 }));
    await log.flush();
    const rows = await listDrift(opened.system.pool);
    expect(new Set(rows.map((row) => row.sdk_version)).size).toBeLessThanOrEqual(MAX_VERSIONS + 1);
    expect(rows.find((row) => row.sdk_version === "*" && row.path === "fonts.novel")).toMatchObject({
      occurrences: 10,
    });
  });
});

describe("two servers that write drift", () => {
  it("add their counts to the same rows at the same time", async () => {
    const writers = [openLog(), openLog(), openLog()];
    for (let round = 0; round < 20; round++) {
      for (const [index, { log }] of writers.entries()) {
        // Each event has the names in another order.
        const names = Array.from({ length: MAX_NEW_PATHS }, (_, at) => `n${(at * (index + 1) * 7) % 31}`);
        log.observe("1.0.0", fonts(Object.fromEntries(names.map((name) => [name, true]))));
      }
      await Promise.all(writers.map(({ log }) => log.flush()));
    }
    expect(writers.flatMap(({ errors }) => errors)).toEqual([]);
    const rows = (await rowsOf("1.0.0")).filter(({ json_type }) => json_type === "boolean");
    expect(total(rows)).toBe(20 * 3 * MAX_NEW_PATHS);
  });
});

describe("drift while the database is away", () => {
  it("is neither lost nor counted twice", async () => {
    let away = true;
    const { log, errors } = openLog({
      query: (text, values) =>
        away ? Promise.reject(new Error("away")) : (opened.system.pool as Executor).query(text, values),
    });
    for (let round = 0; round < 3; round++) {
      log.observe("1.0.1", fonts({ away: "x" }));
      await log.flush();
    }
    expect(errors).toHaveLength(3);
    away = false;
    await log.flush();
    await log.flush();
    expect((await rowsOf("1.0.1")).find(({ path }) => path === "fonts.away")).toMatchObject({ occurrences: 3 });
  });
});
