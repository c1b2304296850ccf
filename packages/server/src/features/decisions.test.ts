/** Decisions on features: proposals, adoptions and retirements. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { objects, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { AWAITED_LOCKS } from "../../../../e2e/support/database.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { NOTHING_ADOPTED } from "@device-risk-signals/contract/catalog/adopted";
import { inTransaction } from "../store/postgres/database.ts";
import { FieldsOfFeatures } from "./active-features.ts";
import { EVIDENCE } from "./adopt-feature.fixture.ts";
import { listDecisions } from "./decisions.ts";
import { extractNext } from "./extraction-worker.ts";
import { bundle, LAYER, useFeatureValues } from "./feature-values.fixture.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const { past, errors, propose, adopt, retire, store, ports } = useFeatureValues(opened, folder);

describe("a decision", () => {
  it("archives a version once, and never gives it another program", async () => {
    expect(await propose(bundle("archived"))).toEqual(["archived@1"]);
    expect(await propose(bundle("archived"))).toEqual([]);
    await expect(propose(bundle("archived", "() => true"))).rejects.toMatchObject({ code: "state-conflict" });
    const change = "update feature_version set bundle = 'x'";
    await expect(opened.owner.query(change)).rejects.toThrow("immutable");
  });

  it("adopts only for a purpose that the definition names, and no unknown version", async () => {
    await propose(bundle("purposeful"));
    const adopting = adopt(["purposeful@1"], { purpose: "other" });
    await expect(adopting).rejects.toMatchObject({ code: "state-conflict" });
    await expect(adopt(["purposeful@2"])).rejects.toMatchObject({ code: "not-found" });
  });

  it("stops an adoption that would refuse more than a thousandth of an SDK version's events", async () => {
    const version = { platform: "ios", sdk_version: "2.0.0", events: 1_000 };
    const evidence = { ...EVIDENCE, refused: [{ ...version, refused: 2 }] };
    await propose(bundle("refused"));
    await expect(adopt(["refused@1"], { evidence })).rejects.toThrow("ios 2.0.0: 2 of 1000 events");
  });

  it("waits for the commit batches that are under way, and takes effect once", async () => {
    const { pool } = opened.system;
    await propose(bundle("waiting"));
    const layers = async (): Promise<number | null> => (await pool.query("select from layer")).rowCount;
    const before = await layers();
    const adopting = await inTransaction(pool, async (batch) => {
      await batch.query("select lock_ingestion_shared()");
      const started = adopt(["waiting@1"]);
      await until(async () => ((await opened.owner.query(`select ${AWAITED_LOCKS}`)).rowCount ?? 0) > 0);
      expect(await layers()).toBe(before);
      return { started };
    });
    expect(await adopting.started).toBeGreaterThan(LAYER);
    await expect(adopt(["waiting@1"])).rejects.toMatchObject({ code: "state-conflict" });
    await retire("waiting@1");
  });

  it("is in the list of decisions and in the audit, with its reason", async () => {
    const decisions = await listDecisions(opened.system.pool, 10, "found@1");
    expect(decisions.map(({ kind, reason }) => [kind, reason])).toEqual([
      ["adopted", "a review"],
      ["proposed", "a review"],
    ]);
    const { rows } = await opened.owner.query(
      "select operation, actor from audit_entry where operation like 'feature.%' order by at, entry_id limit 2",
    );
    expect(rows).toEqual(["feature.propose", "feature.adopt"].map((operation) => ({ operation, actor: "A. Analyst" })));
  });
});

describe("the commands", () => {
  const drs = (...args: readonly string[]) => runWithBreakGlass(opened.environment, "feature", ...args);
  const REASON = ["--reason", "review 4711"];

  it("propose, adopt, retire and list, with evidence, and change nothing in a dry run", async () => {
    const file = join(folder(), "bundles.json");
    await writeFile(file, JSON.stringify([bundle("by_command")]));
    const dry = await drs("propose", file, ...REASON, "--dry-run", "--json");
    expect(objects(dry.stdout)).toMatchObject([{ proposed: [], dry_run: true }]);
    expect((await drs("propose", file, ...REASON)).stdout).toContain("Proposed: by_command@1.");
    const deciding = ["by_command@1", "--purpose", "default", ...REASON];
    expect((await drs("adopt", ...deciding, "--dry-run")).stdout).toContain("Nothing was adopted.");
    expect((await drs("adopt", ...deciding)).stdout).toMatch(/Adopted as layer \d+\./);
    expect((await drs("retire", ...deciding)).stdout).toBe("Retired: by_command@1.\n");
    expect(objects((await drs("decisions", "--feature", "by_command@1", "--json")).stdout)).toMatchObject(
      ["retired", "adopted", "proposed"].map((kind) => ({ kind, features: ["by_command@1"] })),
    );
    const [shown] = objects((await drs("layers", "--json")).stdout);
    expect(shown?.["layers"]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ layer: LAYER, members: ["found@1"], ended_at: null }),
        expect.objectContaining({ members: ["by_command@1"], ended_at: expect.any(String) }),
      ]),
    );
  });

  it("build the definitions of a folder, such as the starter features", async () => {
    const starter = join(import.meta.dirname, "../../../features/src/starter");
    const { code, stdout, stderr } = await drs("propose", starter, ...REASON, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [answer] = objects(stdout);
    expect(answer?.["proposed"]).toEqual(expect.arrayContaining([expect.stringMatching(/^[a-z_]+@1$/)]));
  });

  it("reject a bundle that does not match its hash", async () => {
    const file = join(folder(), "changed.json");
    await writeFile(file, JSON.stringify([{ ...bundle("changed"), text: "1" }]));
    expect(await drs("propose", file, ...REASON)).toMatchObject({ code: 1, stdout: "" });
  });

  it("show computed, pending and excluded events apart, and the read is audited", async () => {
    const get = async (...args: readonly string[]): Promise<unknown[]> =>
      objects((await drs("get", ...args, "--json")).stdout);
    const event = await store("read");
    expect(await get("--event", event.eventId)).toMatchObject([{ status: "pending", features: [] }]);
    while (await extractNext(ports()));
    const computed = { feature: "found@1", state: "observed", value: true, inputs: ["observed"], layer: 1 };
    for (const subject of [
      ["--event", event.eventId],
      ["--action", event.actionId],
      ["--account", "read"],
    ]) {
      expect(await get(...subject)).toMatchObject([{ status: "computed", reason: null, features: [computed] }]);
    }
    const earlier = await past().store(1, { account: "earlier" });
    await opened.owner.query("delete from extraction_due");
    expect(await get("--event", earlier.eventId, "--wait", "100ms")).toMatchObject([
      { status: "excluded", reason: "before-adoption" },
    ]);
    expect((await drs("get", "--account", "unknown")).code).toBe(1);
    const { rows } = await opened.owner.query(
      "select distinct outcome, event_id from audit_entry where operation = 'feature.read' and event_id = $1",
      [event.eventId],
    );
    expect(rows).toEqual([{ outcome: "done", event_id: event.eventId }]);
  });
});

describe("the fields of adopted features", () => {
  it("are adopted fields within 2 s, next to those of a file, until the features are retired", async () => {
    const file = { current: NOTHING_ADOPTED };
    const fields = await FieldsOfFeatures.open(opened.system.pool, file, (error) => void errors.push(error));
    const paths = (): unknown => fields.current.paths.map((path) => path.join("."));
    expect(paths()).toEqual(["os_integrity.suBinaryFound"]);
    const inputs = [{ name: "x", path: ["os_integrity", "isEmulator"], type: "boolean", sensitivity: "low" }] as const;
    await propose(bundleOf("() => true", { id: "emulator", purposes: ["default"], inputs }));
    await adopt(["emulator@1"]);
    await until(async () => fields.current.paths.length === 2);
    await retire("emulator@1");
    await until(async () => fields.current.paths.length === 1);
    expect(paths()).toEqual(["os_integrity.suBinaryFound"]);
    await fields.close();
    expect(errors).toEqual([]);
  });
});
