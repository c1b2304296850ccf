/** Tests of decisions about drift, on the database and through the admin API. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkAgainstCatalog } from "@device-risk-signals/contract/catalog/check";
import { beforeAll, describe, expect, it } from "vitest";
import { objects, runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { BufferedDriftLog } from "../../ingest/drift/drift.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const folder = useFolder();
const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);

async function see(data: Record<string, unknown>, probe = "fonts", platform: "android" | "ios" = "android") {
  const { pool, clock } = scene.system;
  const log = new BufferedDriftLog(pool, clock, (error) => {
    throw error;
  });
  const probes = { [probe]: { status: "success", data } };
  const departures = () => checkAgainstCatalog(probes);
  log.observe({ platform, sdkVersion: "9.0.0" }, { departures, parsed: () => probes }, 10);
  await log.close();
}
beforeAll(async () => {
  await see({ novel: true, hidden: 1, ms: 7 });
  await see({ novel: false }, "fonts", "ios");
  await see({ found: true }, "new_probe");
});

const drs = (...args: readonly string[]) => runWithBreakGlass(scene.environment, "drift", ...args);
const REASON = ["--reason", "review 4711"];

async function json(...args: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const { code, stdout, stderr } = await drs(...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout);
}

const reviewOf = async (path: string, ...args: readonly string[]): Promise<unknown[]> =>
  (await json("list", ...args)).filter((row) => row["path"] === path).map(({ review }) => review);

describe("an accepted field", () => {
  it("is of high sensitivity until it is classified, in the list, in the overlay file and in the audit", async () => {
    const file = join(folder(), "overlay.json");
    const accept = ["accept", "new_probe.found", "--type", "boolean", "--sensitivity", "low", ...REASON];
    const { code, stdout } = await drs(...accept, "--overlay", file);
    expect(code).toBe(0);
    expect(stdout).toContain('\n  found: boolean("MEANING", { on: "android", sensitivity: "low" }),\n');
    const field = { path: ["new_probe", "found"], type: "boolean" };
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ fields: [{ ...field, sensitivity: "high" }] });
    expect(await reviewOf("new_probe")).toEqual(["accepted"]);
    await drs("classify", "new_probe.found", "--sensitivity", "low", ...REASON, "--overlay", file);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ fields: [{ ...field, sensitivity: "low" }] });
    const [shown] = await json("show", "new_probe.found");
    expect(shown).toMatchObject({
      seen: [
        { path: "new_probe", json_type: "object", platform: "android", sdk_version: "9.0.0", occurrences: 1 },
        { path: "new_probe.found", json_type: "boolean", platform: "android", sdk_version: "9.0.0", occurrences: 1 },
      ],
      decisions: [{ kind: "classified" }, { kind: "accepted", type: "boolean", reason: "review 4711" }],
      overlay: [{ path: "new_probe.found", sensitivity: "low", is_classified: true }],
    });
    const { rows } = await scene.owner.query(
      "select operation from audit_entry where operation in ('drift.accept', 'drift.classify') order by at, entry_id",
    );
    expect(rows).toEqual([{ operation: "drift.accept" }, { operation: "drift.classify" }]);
  });

  it("must occur in events, be missing from the catalog, and have a type that was seen", async () => {
    const accept = async (path: string, ...type: readonly string[]) =>
      drs("accept", path, "--type", ...type, "--sensitivity", "low", ...REASON);
    expect((await accept("fonts.unseen", "boolean")).stderr).toContain("No stored event departed");
    expect((await accept("fonts.novel", "string")).stderr).toContain("was seen as boolean only");
    expect((await accept("new_probe.found", "string")).stderr).toContain("was seen as boolean only");
    expect((await accept("new_probe.lost", "boolean")).stderr).toContain("was seen in no event");
    await see({ inner: { mode: "x" } }, "new_probe");
    expect((await accept("new_probe.inner.lost", "string")).stderr).toContain("was seen in no event");
    expect((await accept("new_probe.inner.mode", "string")).code).toBe(0);
    await see({ fontsDigest: 1 });
    expect((await accept("fonts.fontsDigest", "number", "--unit", "none")).stderr).toContain("catalog has this field");
    expect((await accept("fonts", "boolean")).code).toBe(2);
    expect((await accept("fonts.ms", "number")).code).toBe(2);
    expect((await accept("fonts.*", "number")).code).toBe(2);
    expect((await accept("fonts.ms", "number", "--unit", "ms")).stdout).toContain('ms: number("ms", "MEANING", {');
  });

  it("is classified by another person than the one who accepted it", async () => {
    const analyst = await listener.client(["analyst", "privacy"], { person: "anna" });
    const input = { path: "fonts.novel", sensitivity: "low", reason: "review 4711" } as const;
    const answer = await analyst.call("acceptDrift", { ...input, type: "boolean" });
    expect(answer.platforms).toEqual(["android", "ios"]);
    await expect(analyst.call("classifyDrift", input)).rejects.toMatchObject({ code: "state-conflict" });
    const token = await listener.client(["privacy"], { person: "machine", obtainedBy: "anna" });
    await expect(token.call("classifyDrift", input)).rejects.toMatchObject({ code: "state-conflict" });
    const privacy = await listener.client(["privacy"], { person: "petra" });
    await expect(privacy.call("acceptDrift", { ...input, type: "boolean" })).rejects.toMatchObject({ status: 403 });
    const { overlay } = await privacy.call("classifyDrift", input);
    expect(overlay.find(({ path }) => path === "fonts.novel")).toMatchObject({ sensitivity: "low" });
  });

  it("is removed by a rejection, and is of high sensitivity if it is accepted again", async () => {
    const accept = ["accept", "fonts.novel", "--type", "boolean", "--sensitivity", "low", ...REASON];
    expect(await reviewOf("fonts.novel")).toEqual(["accepted", "accepted"]);
    expect((await drs("reject", "fonts.novel", ...REASON)).stdout).toContain("no definition may read fonts.novel");
    expect(await reviewOf("fonts.novel")).toEqual(["rejected", "rejected"]);
    expect(await json("overlay")).not.toContainEqual(expect.objectContaining({ path: "fonts.novel" }));
    expect((await drs("classify", "fonts.novel", "--sensitivity", "low", ...REASON)).code).toBe(1);
    await drs(...accept);
    expect(await json("overlay")).toContainEqual(expect.objectContaining({ path: "fonts.novel", sensitivity: "high" }));
  });
});

it("an ignored path is hidden until a new type occurs at it", async () => {
  await drs("ignore", "fonts.hidden", "--until", "2999-01-31", ...REASON);
  expect(await reviewOf("fonts.hidden")).toEqual([]);
  expect(await reviewOf("fonts.hidden", "--all")).toEqual(["ignored"]);
  await see({ hidden: 2 });
  expect(await reviewOf("fonts.hidden")).toEqual([]);
  await see({ hidden: "2" });
  expect(await reviewOf("fonts.hidden")).toEqual(["open", "open"]);
});

it("a decided path can be rejected after its rows gave way to newer ones", async () => {
  await see({ rare: true });
  await drs("accept", "fonts.rare", "--type", "boolean", "--sensitivity", "low", ...REASON);
  await scene.owner.query("delete from drift where path = 'fonts.rare'");
  expect((await drs("reject", "fonts.rare", ...REASON)).stdout).toContain("no definition may read fonts.rare");
  expect((await drs("reject", "fonts.never", ...REASON)).code).toBe(1);
});

it("a decision about drift is never changed, and a serving login can't change it", async () => {
  const change = "update drift_decision set reason = 'another'";
  await expect(scene.owner.query(change)).rejects.toThrow("immutable");
  await expect(scene.system.pool.query(change)).rejects.toThrow("permission denied");
});
