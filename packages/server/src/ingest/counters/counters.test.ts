/**
 * Counts of outcomes and rejections: how they are grouped, how many rows a client can cause, and which texts never
 * reach a table.
 */
import {
  pointerOf,
  type ErrorItem,
  PROBLEMS,
  VIOLATIONS,
  reject,
  type ViolationCode,
} from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { outcomesOf } from "@device-risk-signals/contract/catalog/outcomes";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { erasurePorts } from "../../runtime/lifecycle-ports.ts";
import { runRetention } from "../../lifecycle/retention-worker.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import {
  listOutcomes,
  listRejections,
  type OutcomeFilter,
  type OutcomeRow,
  type PageOf,
  type RejectionFilter,
  type RejectionRow,
} from "./list-counts.ts";
import { BufferedOutcomeLog } from "./outcomes.ts";
import { BufferedRejectionLog } from "./rejections.ts";

const HOUR_MS = 3_600_000;
const MAX_GROUPS = 200;
const MAX_ROWS = 1_000;
const ALL = { limit: 1_000_000 };

const opened = useTestSystem();
/** A time in an hour that no other test uses. */
let now = Date.parse("2026-03-01T12:10:00.000Z");
const logs: { close(): Promise<void> }[] = [];

beforeEach(() => {
  now += 10 * HOUR_MS;
});

afterEach(async () => {
  await Promise.all(logs.splice(0).map((log) => log.close()));
});

type Probes = Readonly<Record<string, unknown>>;

interface Sent {
  readonly platform?: string;
  readonly sdkVersion?: string;
  readonly members?: number;
}

interface OutcomeLogScene {
  readonly observe: (probes: Probes, sent?: Sent) => void;
  readonly flush: () => Promise<void>;
  readonly errors: unknown[];
}

function outcomeLog(executor: Executor = opened.system.pool): OutcomeLogScene {
  const errors: unknown[] = [];
  const log = new BufferedOutcomeLog(executor, (error) => errors.push(error));
  logs.push(log);
  return {
    errors,
    observe: (probes, { platform = "android", sdkVersion = "1.2.3", members = 10 } = {}) =>
      log.observe({ receivedAt: now, platform, sdkVersion }, { outcomes: () => outcomesOf(probes) }, members),
    flush: () => log.flush(),
  };
}

function rejectionLog(executor: Executor = opened.system.pool): { log: BufferedRejectionLog; errors: unknown[] } {
  const errors: unknown[] = [];
  const log = new BufferedRejectionLog(executor, { now: () => now }, (error) => errors.push(error));
  logs.push(log);
  return { log, errors };
}

const thisHour = (): { from: number; to: number } => ({ from: now, to: now + 1 });

const outcomes = (filter: OutcomeFilter = thisHour(), page: PageOf<OutcomeRow> = ALL): Promise<readonly OutcomeRow[]> =>
  listOutcomes(opened.system.pool, filter, page);
const rejections = (
  filter: RejectionFilter = thisHour(),
  page: PageOf<RejectionRow> = ALL,
): Promise<readonly RejectionRow[]> => listRejections(opened.system.pool, filter, page);

const brief = (rows: readonly OutcomeRow[]): string[] =>
  rows
    .filter(({ state }) => state !== "omitted")
    .map(({ probe, state, reason, occurrences }) => `${probe} ${state} ${reason} ${occurrences}`);
const total = (rows: readonly { readonly occurrences: number }[]): number =>
  rows.reduce((sum, { occurrences }) => sum + occurrences, 0);

const on = (systemVersion: unknown): Probes => ({ device_identity: { status: "success", data: { systemVersion } } });
const skipped = (reason: string): object => ({ status: "skipped", reason });
const failed = (error: string): object => ({ status: "error", error });

/** A database that is unavailable until a test sets `away` to false. */
function breakable(): { executor: Executor; state: { away: boolean } } {
  const state = { away: true };
  const query: Executor["query"] = (text, values) =>
    state.away ? Promise.reject(new Error("away")) : (opened.system.pool as Executor).query(text, values);
  return { executor: { query }, state };
}

describe("outcomes of probes", () => {
  it("are counted by hour, platform, SDK version, OS version, probe, state and reason", async () => {
    const { observe, flush } = outcomeLog();
    const probes = { ...on("14.1"), fonts: failed("native-missing"), gpu_benchmark: { status: "timeout" } };
    observe({ ...probes, geolocation: skipped("disabled") });
    observe({ ...probes, geolocation: skipped("consent") });
    await flush();
    observe({ ...probes, geolocation: skipped("consent") }, { sdkVersion: "1.2.4", platform: "ios" });
    await flush();
    const [first] = await outcomes();
    expect(first).toMatchObject({
      hour: new Date(now - (now % HOUR_MS)).toISOString(),
      platform: "android",
      sdk_version: "1.2.3",
      os_major: "14",
    });
    expect(brief(await outcomes({ ...thisHour(), sdkVersion: "1.2.3" }))).toEqual([
      "device_identity success null 2",
      "fonts error native-missing 2",
      "geolocation skipped consent 1",
      "geolocation skipped disabled 1",
      "gpu_benchmark timeout null 2",
    ]);
    expect(brief(await outcomes({ ...thisHour(), platform: "ios", probe: "geolocation" }))).toEqual([
      "geolocation skipped consent 1",
    ]);
    now += HOUR_MS;
    expect(await outcomes()).toEqual([]);
  });

  it("are counted as omitted, which is a separate state, if the event lacks a probe of its platform", async () => {
    const { observe, flush } = outcomeLog();
    for (const platform of ["android", "ios"]) observe({ runtime: { status: "timeout" } }, { platform });
    await flush();
    for (const platform of ["android", "ios"] as const) {
      const rows = (await outcomes({ ...thisHour(), platform })).filter(({ state }) => state === "omitted");
      const expected = CATALOG.filter((probe) => probe.platforms.includes(platform) && probe.id !== "runtime");
      expect(rows.map(({ probe, occurrences }) => [probe, occurrences])).toEqual(
        expected.map(({ id }) => [id, 1]).toSorted(),
      );
    }
  });

  it("of unknown probes, with unknown reasons and unusual versions, are counted under other", async () => {
    const { observe, flush } = outcomeLog();
    const probes = { anna: { status: "success", data: {} }, fonts: skipped("anna"), network: failed("anna failed") };
    observe({ ...probes, ...on("Tiramisu"), constructor: skipped("disabled") }, { sdkVersion: "anna" });
    observe({ ...probes, telephony: skipped("native-missing"), locale: failed("disabled") }, { sdkVersion: "anna" });
    await flush();
    const rows = await outcomes();
    expect(new Set(rows.map(({ sdk_version }) => sdk_version))).toEqual(new Set(["other"]));
    expect(new Set(rows.map(({ os_major }) => os_major))).toEqual(new Set([null, "other"]));
    expect(brief(rows.filter(({ os_major }) => os_major === null))).toEqual([
      "fonts skipped other 1",
      "locale error other 1",
      "network error other 1",
      "other success null 1",
      "telephony skipped other 1",
    ]);
    expect(brief(rows.filter(({ probe, os_major }) => os_major !== null && probe === "other"))).toEqual([
      "other skipped disabled 1",
      "other success null 1",
    ]);
  });

  it("of an event with very many members are counted without its unknown probes", async () => {
    const { observe, flush } = outcomeLog();
    observe({ fonts: { status: "timeout" }, unknown: { status: "timeout" } }, { members: 40_000 });
    await flush();
    expect(brief(await outcomes())).toEqual(["fonts timeout null 1"]);
  });

  it("contain no text of an event, even of a hostile event", async () => {
    const { observe, flush, errors } = outcomeLog();
    const text = fc.oneof(
      fc.string({ unit: "binary" }).map((said) => `SECRET${said}`),
      fc.constantFrom("__proto__", "hasOwnProperty", "other", "", "SECRET.1", "14SECRET", "1.2.3-SECRET"),
    );
    const outcome = fc.oneof(
      text.map(skipped),
      text.map(failed),
      fc.constant({ status: "timeout" }),
      fc.record({ status: fc.constant("success"), data: fc.dictionary(text, text) }),
      text.map((systemVersion) => ({ status: "success", data: { systemVersion } })),
    );
    const ids = fc.oneof(text, fc.constantFrom(...CATALOG.map(({ id }) => id)));
    fc.assert(
      fc.property(fc.dictionary(ids, outcome), text, (probes, sdkVersion) => observe(probes, { sdkVersion })),
      { numRuns: 100 },
    );
    await flush();
    expect(errors).toEqual([]);
    const { rows } = await opened.system.pool.query<{ text: string }>(
      "select distinct unnest(array[platform, sdk_version, os_major, probe, state, reason]) as text from probe_outcome where hour = date_trunc('hour', $1::timestamptz)",
      [new Date(now).toISOString()],
    );
    const words = new Set([...CATALOG.map(({ id }) => id), "android", "other", "", "skipped", "error", "omitted"]);
    const isWord = ({ text: word }: { text: string }): boolean => words.has(word) || /^\d{1,2}$/.test(word);
    expect(
      rows
        .filter((row) => !isWord(row))
        .map((row) => row.text)
        .toSorted(),
    ).toEqual(["success", "timeout"]);
  });
});

const violations = (...entries: readonly (readonly [ViolationCode, readonly (string | number)[]])[]) => ({
  code: "request-invalid" as const,
  errors: entries.map(([code, path]): ErrorItem => ({ code, pointer: pointerOf(path), detail: "SECRET" })),
});

describe("rejections", () => {
  it("are counted by hour, problem, violation, place and SDK version, and a request counts once in each of its rows", async () => {
    const { log } = rejectionLog();
    const probe = ["observations", "probes", "SECRET", "status"];
    const wrong = violations(
      ["value-not-allowed", probe],
      ["value-not-allowed", [...probe.slice(0, 2), "SECRET2", "status"]],
      ["member-missing", ["platform"]],
    );
    log.count(wrong, "1.2.3");
    log.count(wrong, "1.2.3");
    log.count(wrong, "anna");
    log.count(reject("credentials-missing"), undefined);
    await log.flush();
    const row = { hour: new Date(now - (now % HOUR_MS)).toISOString(), problem: "request-invalid" };
    const [missing, notAllowed] = [
      { ...row, violation: "member-missing", place: "/platform" },
      { ...row, violation: "value-not-allowed", place: "/observations/probes/*/status" },
    ];
    expect(await rejections()).toEqual([
      {
        ...row,
        problem: "credentials-missing",
        violation: null,
        place: null,
        sdk_version: null,
        occurrences: 1,
      },
      { ...missing, sdk_version: "1.2.3", occurrences: 2 },
      { ...missing, sdk_version: "other", occurrences: 1 },
      { ...notAllowed, sdk_version: "1.2.3", occurrences: 2 },
      { ...notAllowed, sdk_version: "other", occurrences: 1 },
    ]);
    expect(await rejections({ ...thisHour(), problem: "credentials-missing" })).toHaveLength(1);
    expect(await rejections({ ...thisHour(), sdkVersion: "1.2.3" })).toHaveLength(2);
  });

  it("hold no name that a client chose", async () => {
    const { log, errors } = rejectionLog();
    const name = fc.oneof(
      fc.string({ unit: "binary" }).map((said) => `SECRET${said}`),
      fc.nat(),
      fc.constantFrom("observations", "probes", "fonts", "data", "fontsDigest", "__proto__"),
    );
    const code = fc.constantFrom(...(Object.keys(VIOLATIONS) as ViolationCode[]));
    const entries = fc.array(fc.tuple(code, fc.array(name, { maxLength: 8 })), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(entries, fc.string({ unit: "binary" }), (wrong, version) =>
        log.count(violations(...wrong), `SECRET${version}`),
      ),
      { numRuns: 200 },
    );
    await log.flush();
    expect(errors).toEqual([]);
    const rows = await rejections();
    expect(rows.length).toBeGreaterThan(10);
    for (const { place, sdk_version, violation } of rows) {
      expect(place ?? "").toMatch(/^(\/(observations|probes|fonts|data|fontsDigest|\*))*$/);
      expect([sdk_version, Object.keys(VIOLATIONS).includes(violation ?? "")]).toEqual(["other", true]);
    }
  });
});

describe("counts that clients can cause", () => {
  it("have a maximum number of groups for each hour, even after restarts, and further groups are counted under other", async () => {
    for (let restart = 0; restart < 3; restart++) {
      const { observe, flush } = outcomeLog();
      for (let patch = 0; patch < 100; patch++) observe(on("14"), { sdkVersion: `1.${restart}.${patch}` });
      await flush();
    }
    const { observe, flush } = outcomeLog();
    observe(on("14"), { sdkVersion: "1.0.7" });
    await flush();
    const rows = await outcomes({ ...thisHour(), probe: "device_identity" });
    expect(rows).toHaveLength(MAX_GROUPS + 1);
    expect(rows.find(({ sdk_version }) => sdk_version === "other")).toMatchObject({
      os_major: "other",
      occurrences: 100,
    });
    expect(
      rows.find(({ sdk_version }) => sdk_version === "1.0.7"),
      "existing groups are still counted",
    ).toMatchObject({
      occurrences: 2,
    });
  });

  it("have a maximum number of rejection rows for each hour, even after restarts, and further rows are counted by problem alone", async () => {
    for (let restart = 0; restart < 3; restart++) {
      const { log } = rejectionLog();
      for (let patch = 0; patch < 400; patch++) {
        log.count(violations(["member-missing", ["platform"]]), `1.${restart}.${patch}`);
      }
      await log.flush();
    }
    const rows = await rejections();
    expect(rows).toHaveLength(MAX_ROWS + 1);
    expect(total(rows)).toBe(1_200);
    expect(rows.find(({ place }) => place === "*")).toMatchObject({
      problem: "request-invalid",
      violation: "other",
      sdk_version: "other",
      occurrences: 200,
    });
  });

  it("have a limit in memory while the database is unavailable, and every count is kept", async () => {
    const { executor, state } = breakable();
    const { observe, flush, errors } = outcomeLog(executor);
    const rejected = rejectionLog(executor);
    for (let round = 0; round < 3; round++) {
      for (let patch = 0; patch < 2_000; patch++) {
        observe(on("14"), { sdkVersion: `1.${round}.${patch}` });
        rejected.log.count(reject("action-refused"), `1.${round}.${patch}`);
      }
      await flush();
      await rejected.log.flush();
    }
    expect([errors.length, rejected.errors.length]).toEqual([3, 3]);
    state.away = false;
    await flush();
    await flush();
    await rejected.log.flush();
    expect(total(await outcomes({ ...thisHour(), probe: "device_identity" }))).toBe(6_000);
    const rows = await rejections();
    expect(total(rows)).toBe(6_000);
    expect(new Set(rows.map(({ problem }) => problem))).toEqual(new Set(["action-refused"]));
  });
});

describe("a list of counts", () => {
  it("returns consecutive pages, the newest hour first, with each row once", async () => {
    const { observe, flush } = outcomeLog();
    const { log } = rejectionLog();
    const from = now;
    for (let hour = 0; hour < 3; hour++) {
      for (const version of ["1.0.0", "2.0.0"]) {
        observe({ ...on("14"), fonts: failed("x") }, { sdkVersion: version });
        for (const code of Object.keys(PROBLEMS).slice(0, 3)) log.count(reject(code as never), version);
      }
      now += HOUR_MS;
    }
    await flush();
    await log.flush();
    const filter = { from, to: now };
    const walk = async <Row extends object>(read: (page: PageOf<Row>) => Promise<readonly Row[]>): Promise<Row[]> => {
      const rows: Row[] = [];
      for (;;) {
        const after = rows.at(-1);
        const page = await read({ limit: 7, ...(after && { after }) });
        rows.push(...page);
        if (page.length < 7) return rows;
      }
    };
    const all = await outcomes(filter);
    expect(all.length).toBeGreaterThan(60);
    expect(all.map(({ hour }) => hour)).toEqual(
      all
        .map(({ hour }) => hour)
        .toSorted()
        .toReversed(),
    );
    expect(await walk<OutcomeRow>((page) => outcomes(filter, page))).toEqual(all);
    const rejected = await rejections(filter);
    expect(rejected).toHaveLength(18);
    expect(await walk<RejectionRow>((page) => rejections(filter, page))).toEqual(rejected);
  });
});

describe("the count of a rejection with a cause", () => {
  it("is apart for each cause", async () => {
    const { log } = rejectionLog();
    log.count(reject("action-refused", undefined, "/action_id"), "1.2.3", "expired");
    log.count(reject("action-refused", undefined, "/action_id"), "1.2.3", "other-type");
    log.count(reject("action-refused", undefined, "/action_id"), "1.2.3", "expired");
    await log.flush();
    const rows = await rejections();
    expect(rows.map(({ violation, occurrences }) => [violation, occurrences]).toSorted()).toEqual([
      ["expired", 2],
      ["other-type", 1],
    ]);
  });
});

describe("counts", () => {
  it("are deleted by a retention pass when their retention period is over, not earlier", async () => {
    const { observe, flush } = outcomeLog();
    const { log } = rejectionLog();
    const retention = 20 * 24 * HOUR_MS;
    const [kept, expired] = [Date.now() - retention + 2 * HOUR_MS, Date.now() - retention - 2 * HOUR_MS];
    for (now of [kept, expired]) {
      observe(on("14"));
      log.count(reject("action-refused"), "1.2.3");
    }
    await flush();
    await log.flush();
    const pass = await runRetention({
      ...erasurePorts(opened.system),
      database: opened.system.database,
      countRetention: retention,
      actor: "test",
    });
    expect(pass?.failed).toEqual([]);
    const hours = [[await outcomes(), await rejections()]];
    now = kept;
    hours.push([await outcomes(), await rejections()]);
    expect(hours.map((lists) => lists.map((rows) => rows.length > 0))).toEqual([
      [false, false],
      [true, true],
    ]);
  });
});
