/** Tests of the counts of a feature: from stored events to the command, its page and the audit. */
import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { useFeatureScene } from "./feature-scene.fixture.ts";

const { opened, listener, drs, extract, fileIn, store } = useFeatureScene();
const HOSTILE = "<script>\u202e=cmd()\u001b[2J";
const DAY_MS = 86_400_000;

const describing = (...args: readonly string[]) => drs("feature", "describe", "found@1", ...args);
const share = (name: string, events: number | null, of: number | null) => ({ name, events, share: of });
const dayBefore = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

interface Tally {
  readonly day: string;
  readonly sdk: string;
  readonly state?: string;
  readonly bin?: string;
  readonly events: number;
}

async function tally(...rows: readonly Tally[]): Promise<void> {
  for (const { day, sdk, state = "observed", bin = state === "observed" ? "true" : "", events } of rows) {
    await opened.owner.query("insert into feature_tally values ($1, 'found@1', 'ios', $2, $3, $4, $5)", [
      day,
      sdk,
      state,
      bin,
      events,
    ]);
  }
}

beforeAll(async () => {
  for (const value of [...Array.from({ length: 23 }, () => true), ...Array.from({ length: 14 }, () => 1)]) {
    await store(`customer-${Math.random()}`, value);
  }
  await store("customer-1", false);
  await extract();
});

describe("drs feature describe", () => {
  it("counts what was computed of stored events in tens, and hides what is below ten", async () => {
    const results = {
      events: 30,
      states: [share("departed", 10, null), share("observed", 20, null)],
      values: [share("true", 20, null), share("false", null, null)],
    };
    expect(await describing()).toMatchObject({
      feature: "found@1",
      meaning: "An example",
      false_readings: ["none is known"],
      owner: "fraud team",
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      purposes: ["default"],
      versions: ["found@1"],
      inputs: [{ name: "su", field: "os_integrity.suBinaryFound", type: "boolean", unit: null, sensitivity: "medium" }],
      output: "flag",
      unit: null,
      groups: [{ platform: null, sdk_version: null, ...results }],
      is_limited: false,
      days: [{ day: dayBefore(0), ...results }],
    });
    expect(await describing("--by", "platform,sdk_version")).toMatchObject({
      groups: [{ platform: "android", sdk_version: "1.2.3", ...results }],
    });
    const { stdout } = await runWithBreakGlass(opened.environment, "feature", "describe", "found@1");
    expect(stdout).toMatch(/^found@1: An example\n.*\nevents +departed +observed +observed true +observed false\n30 /);
  });

  it("counts the days of the period, and leaves out groups and days of a few events", async () => {
    const [first, second] = [dayBefore(20), dayBefore(19)];
    await tally(
      { day: first, sdk: "1", events: 12 },
      { day: second, sdk: "1", events: 21 },
      { day: second, sdk: "2", events: 9 },
      { day: dayBefore(18), sdk: "2", state: "omitted", events: 4 },
    );
    const period = ["--since", `${first}T12:00:00Z`, "--until", `${dayBefore(17)}T12:00:00Z`];
    const described = await describing(...period, "--by", "sdk_version");
    expect(described).toMatchObject({
      from: first,
      to: dayBefore(17),
      groups: [
        { sdk_version: "1", platform: null, events: 30 },
        { sdk_version: "2", events: 10, states: [share("observed", null, null), share("omitted", null, null)] },
      ],
      days: [
        { day: first, events: 10 },
        { day: second, events: 30 },
        { day: dayBefore(18), events: null, states: [], values: [] },
      ],
    });
    expect(await describing(...period.slice(0, 3), second)).toMatchObject({ days: [{ day: first }] });
    const none = await describing("--since", dayBefore(18), "--until", dayBefore(17), "--by", "platform");
    expect(none).toMatchObject({ groups: [], days: [{ events: null }] });
  });

  it("shows the 50 largest groups, because clients choose the texts of SDK versions", async () => {
    const day = dayBefore(40);
    await tally(...Array.from({ length: 51 }, (_, at) => ({ day, sdk: `v${at}`, events: at === 50 ? 30 : 10 })));
    const period = ["--since", day, "--until", dayBefore(39), "--by", "sdk_version"];
    const { groups, is_limited } = (await describing(...period)) as { groups: readonly object[]; is_limited: boolean };
    expect([groups.length, is_limited, groups[0]]).toMatchObject([50, true, { sdk_version: "v50", events: 30 }]);
  });

  it("writes a page that loads and runs nothing, with texts of clients escaped", async () => {
    const day = dayBefore(60);
    await tally({ day, sdk: HOSTILE, events: 100 }, { day, sdk: "__proto__", events: 10 });
    const file = fileIn("described.html");
    await describing("--since", day, "--until", dayBefore(59), "--by", "sdk_version", "--html", file);
    const page = await readFile(file, "utf8");
    expect(page).toContain("&lt;script&gt;\\u202e=cmd()\\u001b[2J");
    expect(page).toContain("<bdi>__proto__</bdi>");
    expect(page).toContain('<meter value="1"></meter> 100 %');
    expect(page).toContain("default-src &#39;none&#39;");
    expect(page).not.toMatch(/https?:|<script|<link|<img|src=|href=/);
    for (const character of HOSTILE.match(/\p{C}/gu) ?? []) expect(page).not.toContain(character);
    const shown = ["feature", "describe", "found@1", "--since", day, "--by", "sdk_version"];
    expect((await runWithBreakGlass(opened.environment, ...shown)).stdout).toContain("<script>\\u202e=cmd()\\u001b[2J");
  });

  it("rejects an unknown version, an empty or too long period, and a file that can't be written", async () => {
    const run = (...args: readonly string[]) => runWithBreakGlass(opened.environment, "feature", "describe", ...args);
    expect(await run("found@2")).toMatchObject({ code: 1, stderr: expect.stringContaining("found@2") });
    expect(await run("found@1", "--since", "today", "--until", "today")).toEqual({
      code: 2,
      stdout: "",
      stderr: "query/from: must be at least a day before the end\n",
    });
    expect((await run("found@1", "--since", "2020-01-01")).stderr).toContain("at most 366 days");
    expect(await run("found@1", "--by", "account")).toMatchObject({ code: 2 });
    expect(await run("found")).toMatchObject({ code: 2 });
    expect((await run("found@1", "--html", fileIn("none/page.html"))).stderr).toContain("can't be written (ENOENT)");
  });

  it("is audited with its parameters", async () => {
    const analyst = await listener.client(["analyst"], { person: "gina" });
    await analyst.call("describeFeature", { feature: "found@1", by: "platform" });
    await expect(analyst.call("describeFeature", { feature: "gone@1" })).rejects.toMatchObject({ code: "not-found" });
    const auditor = await listener.client(["auditor"]);
    const { entries } = await auditor.call("listAudit", { person: "gina" });
    expect(entries).toMatchObject([
      { operation: "feature.describe", outcome: "done", detail: { feature: "found@1", by: "platform" } },
    ]);
  });
});
