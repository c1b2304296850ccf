/** From the proposal of a feature to its stored values. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bundle } from "@device-risk-signals/features";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { objects, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { AWAITED_LOCKS } from "../../../../e2e/support/database.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { NOTHING_ADOPTED } from "@device-risk-signals/contract/catalog/adopted";
import { sealFeatures } from "../crypto/seal-features.fixture.ts";
import { readEvent } from "../events/read-events.ts";
import { Unavailable } from "../ports.ts";
import { readPolicyVersion } from "../policy/policy-table.ts";
import { inOwnerTransaction, inTransaction, openPool } from "../postgres/database.ts";
import { FieldsOfFeatures } from "./active-features.ts";
import {
  adoptFeatures,
  type LayerRow,
  listDecisions,
  listLayers,
  proposeFeatures,
  retireFeatures,
} from "./decisions.ts";
import { type Evidence, gatherEvidence, inputsOf } from "./evidence.ts";
import { ExtractionWorker, extractNext, type WorkerParts, type WorkerPorts } from "./extraction-worker.ts";
import { decodeFeatures, encodeFeatures, type StoredResult } from "./feature-payload.ts";
import { allFeatureRows, insertFeatureRows } from "./feature-rows.ts";
import { LayerRunners, type OpenLayer } from "./layer-runners.ts";
import { createParserOf } from "./read-inputs.ts";
import { listFeatures } from "./read-features.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
/** The layer of `found@1`, which is active in every test. */
const LAYER = 1;
const runners = new LayerRunners({ graceMs: 100 });
let past: Past;
beforeAll(async () => {
  await applyPolicy({});
  past = new Past(opened.system);
  await propose(FOUND);
  expect(await adopt(["found@1"])).toBe(LAYER);
});
afterAll(async () => {
  await past.close();
  await runners.close();
});

async function applyPolicy(coverage: object): Promise<void> {
  const file = join(folder(), "policy.yaml");
  const periods = { raw_retention: "P30D", derived_retention: "P1Y" };
  const purpose = { id: "payments", title: "t", legal_basis: "l", owner: "o", ...periods, ...coverage };
  const policy = { purposes: [{ ...purpose, id: "default" }], actions: {}, unmapped: "default" };
  await writeFile(file, JSON.stringify(policy));
  expect(await runWithBreakGlass(opened.environment, "purpose", "apply", file, "--yes")).toMatchObject({ code: 0 });
}

const DECIDER = { actor: "A. Analyst", via: "direct", reason: "a review" } as const;
const PURPOSE = { code: 1, id: "default" };
const NO_EVIDENCE: Evidence = { days: 7, events: 0, is_limited: false, coverage: [], refused: [] };
const FOUND = bundle("found");
const SU = "({ su }) => su.state === 'observed' ? su.value : null";

function bundle(id: string, compute = "({ su }) => su.state === 'observed' ? su.value : null", version = 1): Bundle {
  return bundleOf(compute, { id, version, purposes: ["default"] });
}

const propose = (...bundles: readonly Bundle[]): Promise<readonly string[]> =>
  inOwnerTransaction(opened.system.administration, (owner) =>
    proposeFeatures(owner, opened.system.audit, bundles, NO_EVIDENCE, DECIDER),
  );

const adopt = (features: readonly string[], more: { evidence?: Evidence; purpose?: string } = {}): Promise<number> =>
  inOwnerTransaction(opened.system.administration, (owner) => {
    const { evidence = NO_EVIDENCE, purpose = PURPOSE.id } = more;
    const adoption = { features, purpose: { ...PURPOSE, id: purpose }, evidence, acceptsRefusals: false };
    return adoptFeatures(owner, opened.system, adoption, DECIDER);
  });

const retire = (...features: readonly string[]): Promise<readonly number[]> =>
  inOwnerTransaction(opened.system.administration, (owner) =>
    retireFeatures(owner, opened.system.audit, { features, purpose: PURPOSE }, DECIDER),
  );

const exactly = (data: object): string =>
  JSON.stringify({ probes: { os_integrity: { status: "success", data } }, session_id: "s" });

const store = (account: string, data: object = { suBinaryFound: true }): Promise<PastEvent> =>
  past.store(0, { account }, exactly(data));

const errors: unknown[] = [];
const ports = (more: Partial<WorkerPorts & WorkerParts> = {}): WorkerPorts & WorkerParts => ({
  pool: opened.system.pool,
  sealer: opened.system.sealer,
  featureSealer: opened.system.featureSealer,
  onError: (error) => void errors.push(error),
  retrySeconds: 0,
  runners,
  parserOf: createParserOf((error) => expect.unreachable(String(error))),
  ...more,
});

/** The features of an event, by layer. */
async function read(event: PastEvent): Promise<Record<number, readonly StoredResult[]>> {
  const subject = { eventId: event.eventId, receivedAt: new Date(event.receivedAt) };
  const rows = await Array.fromAsync(allFeatureRows(opened.system.pool, subject));
  const found = rows.map(async ({ layer, key_id, payload }) => {
    const values = await opened.system.featureSealer.open({ ...event, layer }, key_id, payload);
    return [layer, decodeFeatures(values).results] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

const layerOf = async (number: number): Promise<LayerRow> =>
  (await listLayers(opened.system.pool)).find(({ layer }) => layer === number) as LayerRow;

const failuresOf = async ({ eventId }: PastEvent): Promise<unknown[]> =>
  (await opened.owner.query("select layer, reason from extraction_failure where event_id = $1", [eventId])).rows;

async function statusOf({ eventId }: PastEvent): Promise<unknown> {
  return (await listFeatures(opened.system.pool, { eventId }, 1)).map(({ status, reason }) => [status, reason])[0];
}

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
    const evidence = { ...NO_EVIDENCE, refused: [{ ...version, refused: 2 }] };
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
    const earlier = await past.store(1, { account: "earlier" });
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
    fields.close();
    expect(errors).toEqual([]);
  });
});

describe("evidence", () => {
  it("counts the states of inputs by platform and SDK version, and what ingestion would refuse", async () => {
    const sdkVersion = "9.9.9";
    for (const data of [{ suBinaryFound: true }, {}, { suBinaryFound: "yes" }]) {
      await past.store(0, { account: "evidence", sdkVersion }, exactly(data));
    }
    const { pool, sealer, clock } = opened.system;
    const found = await gatherEvidence({ executor: pool, sealer, now: clock.now() }, inputsOf([FOUND.manifest]));
    const version = { platform: "android", sdk_version: sdkVersion };
    expect(found.coverage.filter(({ sdk_version }) => sdk_version === sdkVersion)).toEqual([
      { ...version, field: "os_integrity.suBinaryFound", states: { observed: 1, omitted: 1, departed: 1 } },
    ]);
    expect(found.refused).toContainEqual({ ...version, events: 3, refused: 1 });
    await applyPolicy({ probes: ["network"] });
    const covered = await gatherEvidence({ executor: pool, sealer, now: clock.now() }, inputsOf([FOUND.manifest]));
    await applyPolicy({});
    expect(covered.coverage.find(({ sdk_version }) => sdk_version === sdkVersion)?.states).toEqual({
      masked: 2,
      omitted: 1,
    });
    expect(covered.refused, "ingestion validates what is not covered, too").toContainEqual({
      ...version,
      events: 3,
      refused: 1,
    });
  });
});

describe("extraction", () => {
  beforeEach(async () => {
    await opened.owner.query("delete from extraction_due; delete from feature_tally");
    errors.length = 0;
  });

  it("stores one row for each event and layer, counts it by day, and leaves nothing due", async () => {
    const [observed, departed] = [await store("one"), await store("two", { suBinaryFound: 1 })];
    while (await extractNext(ports()));
    expect(await read(observed)).toEqual({ 1: [{ state: "observed", value: true, inputs: ["observed"] }] });
    expect(await read(departed)).toEqual({ 1: [{ state: "departed", inputs: ["departed:number"] }] });
    expect((await opened.owner.query("select from extraction_due")).rowCount).toBe(0);
    const { rows } = await opened.owner.query(
      "select feature, platform, state, bin, occurrences::int from feature_tally order by state desc",
    );
    const key = { feature: "found@1", platform: "android" };
    expect(rows).toEqual([
      { ...key, state: "observed", bin: "true", occurrences: 1 },
      { ...key, state: "departed", bin: "", occurrences: 1 },
    ]);
  });

  it("gives features that the export of the account has, with their meaning", async () => {
    const out = join(folder(), "export");
    const order = ["--account", "one", "--out", out, "--reason", "request 17"];
    expect(await runWithBreakGlass(opened.environment, "account", "export", ...order)).toMatchObject({ code: 0 });
    expect(objects(await readFile(join(out, "features.ndjson"), "utf8"))).toMatchObject([
      { purpose: "default", feature: "found@1", meaning: "An example", state: "observed", value: true },
    ]);
  });

  it("masks what the purpose does not cover", async () => {
    await applyPolicy({ probes: ["network"] });
    const event = await store("masked");
    await extractNext(ports());
    await applyPolicy({});
    expect(await read(event)).toEqual({ 1: [{ state: "masked", inputs: ["masked"] }] });
  });

  it("masks by the new policy where another one was applied during the computation", async () => {
    const { featureSealer } = opened.system;
    const event = await store("policy-changes");
    const during = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: async (rows) => {
          await applyPolicy({ probes: ["network"] });
          return featureSealer.sealMany(rows);
        },
      },
    });
    await expect(extractNext(during)).rejects.toThrow(Unavailable);
    const { rows } = await opened.owner.query("select tries from extraction_due");
    expect(rows).toEqual([{ tries: 0 }]);
    await extractNext(ports());
    await applyPolicy({});
    expect(await read(event)).toEqual({ 1: [{ state: "masked", inputs: ["masked"] }] });
  });

  it("keeps the first row where a second computation gives another result, and reports it", async () => {
    const event = await store("twice");
    const stored = await readEvent(opened.system.pool, event);
    const keyId = stored && "keyId" in stored.sealedUnder ? stored.sealedUnder.keyId : "";
    const other = encodeFeatures(Buffer.of(), [], await readPolicyVersion(opened.system.pool), Buffer.of());
    const payload = await sealFeatures(opened.system.featureSealer, { ...event, layer: 1 }, keyId, other);
    await inTransaction(opened.system.pool, (transaction) =>
      insertFeatureRows(transaction, [{ ...event, layer: 1, keyId, payload }]),
    );
    expect(await extractNext(ports())).toMatchObject({ rows: 0, differences: 1 });
    expect(errors.splice(0)).toMatchObject([{ code: "feature-not-deterministic" }]);
    expect(await read(event)).toEqual({ 1: [] });
  });

  it("does not compare results of different policies", async () => {
    const event = await store("policies");
    await extractNext(ports());
    const otherPolicy = (await readPolicyVersion(opened.system.pool)) + 1;
    const values = encodeFeatures(Buffer.of(), [], otherPolicy, Buffer.of());
    const stored = await readEvent(opened.system.pool, event);
    const keyId = stored && "keyId" in stored.sealedUnder ? stored.sealedUnder.keyId : "";
    const payload = await sealFeatures(opened.system.featureSealer, { ...event, layer: 1 }, keyId, values);
    await opened.owner.query("set session_replication_role = replica");
    await opened.owner.query("update feature_row set payload = $1 where event_id = $2", [payload, event.eventId]);
    await opened.owner.query("reset session_replication_role");
    await opened.owner.query(
      "insert into extraction_due (purposes, received_at, event_ids) values ('{1}', array[$1::timestamptz], array[$2::uuid])",
      [new Date(event.receivedAt).toISOString(), event.eventId],
    );
    expect(await extractNext(ports())).toMatchObject({ rows: 0, differences: 0 });
  });

  it("computes nothing of a restricted account, and records an event that can't be opened", async () => {
    const order = ["--account", "restricted", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
    const restricted = await store("restricted");
    const placed = await runWithBreakGlass(opened.environment, "restriction", "add", ...order, "--json");
    const noEvent = await past.store(0, { account: "no-event" }, "[]");
    const damaged = await store("damaged");
    await opened.owner.query("alter table event disable trigger event_is_immutable");
    await opened.owner.query("update event set payload = '\\x00' where event_id = $1", [damaged.eventId]);
    await opened.owner.query("alter table event enable trigger event_is_immutable");
    while (await extractNext(ports()));
    expect(await read(restricted)).toEqual({});
    expect(await failuresOf(restricted)).toEqual([]);
    expect(await failuresOf(noEvent)).toEqual([{ layer: 1, reason: "not-json" }]);
    expect(await failuresOf(damaged)).toEqual([{ layer: 1, reason: "unreadable" }]);
    const lifting = ["--informed-on", new Date().toISOString().slice(0, 10), "--reason", "it is resolved", "--yes"];
    const id = String(objects(placed.stdout)[0]?.["restriction_id"]);
    expect(await runWithBreakGlass(opened.environment, "restriction", "lift", id, ...lifting)).toMatchObject({
      code: 0,
    });
    expect(await statusOf(restricted)).toEqual(["excluded", "not-computed"]);
  });

  it("deletes failures with their events", async () => {
    const [one, account] = [
      await past.store(0, { account: "fails" }, "[]"),
      await past.store(0, { account: "all" }, "[]"),
    ];
    while (await extractNext(ports()));
    for (const event of [one, account]) expect(await failuresOf(event)).toHaveLength(1);
    const erase = (...subject: readonly string[]) =>
      runWithBreakGlass(opened.environment, "erase", "run", ...subject, "--reason", "request 17", "--yes");
    expect(await erase("--event", one.eventId)).toMatchObject({ code: 0 });
    expect(await erase("--account", "all")).toMatchObject({ code: 0 });
    for (const event of [one, account]) expect(await failuresOf(event)).toEqual([]);
  });

  it("of a batch that always fails is given up, and never keeps others waiting", async () => {
    const { featureSealer } = opened.system;
    const poison = await store("poison");
    const failing = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: (rows) => {
          if (rows.some(({ identity }) => identity.account === "poison")) throw new TypeError("poison");
          return featureSealer.sealMany(rows);
        },
      },
    });
    await expect(extractNext(failing)).rejects.toThrow("poison");
    const other = await store("other");
    expect(await extractNext(failing)).toMatchObject({ rows: 1 });
    expect(await read(other)).toHaveProperty("1");
    for (let tries = 1; tries < 5; tries++) await expect(extractNext(failing)).rejects.toThrow("poison");
    expect(await extractNext(failing)).toBeUndefined();
    expect(await failuresOf(poison)).toEqual([{ layer: 1, reason: "error" }]);
  });

  it("of one event that always fails keeps no other event of its batch waiting", async () => {
    const { featureSealer } = opened.system;
    const [poison, neighbour] = [await store("poison-2"), await store("neighbour")];
    const both = [poison.eventId, neighbour.eventId];
    await opened.owner.query("delete from extraction_due where event_ids && $1::uuid[]", [both]);
    await opened.owner.query(
      "insert into extraction_due (purposes, received_at, event_ids) values ('{1,1}', $1::timestamptz[], $2::uuid[])",
      [[poison, neighbour].map(({ receivedAt }) => new Date(receivedAt).toISOString()), both],
    );
    const failing = ports({
      featureSealer: {
        ...featureSealer,
        sealMany: (rows) => {
          if (rows.some(({ identity }) => identity.account === "poison-2")) throw new TypeError("poison");
          return featureSealer.sealMany(rows);
        },
      },
    });
    for (let tries = 0; tries < 5; tries++) await expect(extractNext(failing)).rejects.toThrow("poison");
    expect(await failuresOf(poison)).toEqual([{ layer: 1, reason: "error" }]);
    expect(await failuresOf(neighbour)).toEqual([]);
    expect(await read(neighbour)).toHaveProperty("1");
  });

  it("fails, and its process continues, where a later slice can't be read", async () => {
    const { sealer } = opened.system;
    const events: PastEvent[] = [];
    for (let n = 0; n < 251; n++) events.push(await store(`slice-${n}`));
    await opened.owner.query("delete from extraction_due");
    for (const half of [events.slice(0, 126), events.slice(126)]) {
      await opened.owner.query(
        "insert into extraction_due (purposes, received_at, event_ids) values ($1, $2::timestamptz[], $3::uuid[])",
        [
          half.map(() => 1),
          half.map(({ receivedAt }) => new Date(receivedAt).toISOString()),
          half.map((e) => e.eventId),
        ],
      );
    }
    let opens = 0;
    const away: WorkerPorts["sealer"] = {
      ...sealer,
      openMany: (events) => {
        opens += events.length;
        return opens > 250 ? Promise.reject(new Error("the key store is away")) : sealer.openMany(events);
      },
    };
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    await expect(extractNext(ports({ sealer: away }))).rejects.toThrow("the key store is away");
    expect({ opens, unhandled }).toEqual({ opens: 251, unhandled: [] });
    expect(await extractNext(ports())).toMatchObject({ rows: 126 });
  });

  it("gives no event up while no process starts, and computes it when one starts again", async () => {
    const event = await store("no-process");
    const { execPath } = process;
    onTestFinished(() => void (process.execPath = execPath));
    const starting = new LayerRunners({ graceMs: 100 });
    const using = ports({ runners: starting });
    process.execPath = "/nowhere/node";
    for (let tries = 0; tries < 7; tries++) await expect(extractNext(using)).rejects.toThrow(Unavailable);
    process.execPath = execPath;
    await extractNext(using);
    expect(await failuresOf(event)).toEqual([]);
    expect(await read(event)).toHaveProperty(String(LAYER));
    await propose(bundle("blocks", "({ su }) => { if (su.value === false) for (;;); return su.value ?? null }"));
    const layer = await adopt(["blocks@1"]);
    await starting.find(opened.system.pool, await layerOf(layer));
    const slow = await store("not-replaced", { suBinaryFound: false });
    process.execPath = "/nowhere/node";
    await expect(extractNext(using), "an ended process can't be replaced").rejects.toThrow(Unavailable);
    process.execPath = execPath;
    await extractNext(using);
    await retire("blocks@1");
    await starting.close();
    errors.length = 0;
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "over-budget" }]);
  });

  it("stores no value that depends on the time", async () => {
    await propose(bundle("slow", "({ su }) => { for (;;); }"));
    const layer = await adopt(["slow@1"]);
    const event = await store("slow");
    await extractNext(ports());
    expect(await statusOf(event)).toEqual(["computed", "over-budget"]);
    await retire("slow@1");
    expect(await failuresOf(event)).toEqual([{ layer, reason: "over-budget" }]);
    expect(Object.keys(await read(event))).toEqual(["1"]);
    expect(errors.splice(0)).toMatchObject([{ code: "feature-paused", message: expect.stringContaining("slow@1") }]);
  });

  /** Takes some milliseconds if `suBinaryFound` was observed `false`. */
  const SOMETIMES_SLOW =
    "({ su }) => { if (su.value === false) for (let i = 0; i < 1e7; i++); return su.state === 'observed' ? su.value : null }";
  const slowly = (account: string): Promise<PastEvent> => store(account, { suBinaryFound: false });

  /** Makes one due row of the events, in their order. */
  async function due(...events: readonly PastEvent[]): Promise<void> {
    await opened.owner.query("delete from extraction_due");
    await opened.owner.query(
      "insert into extraction_due (purposes, received_at, event_ids) values ($1, $2::timestamptz[], $3::uuid[])",
      [
        events.map(() => 1),
        events.map(({ receivedAt }) => new Date(receivedAt).toISOString()),
        events.map(({ eventId }) => eventId),
      ],
    );
  }

  it("of an event for which a feature is too slow keeps no other event without values", async () => {
    await propose(bundle("once_slow", SOMETIMES_SLOW));
    const layer = await adopt(["once_slow@1"]);
    const [first, slow, last] = [await store("before"), await slowly("slow"), await store("after")];
    await due(last, slow, first);
    expect(await extractNext(ports())).toMatchObject({ decided: 2 });
    expect(await statusOf(first)).toEqual(["pending", null]);
    while (await extractNext(ports()));
    await retire("once_slow@1");
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "over-budget" }]);
    for (const event of [first, last]) {
      expect(await read(event)).toHaveProperty(String(layer));
      expect(await failuresOf(event)).toEqual([]);
    }
    const { rows } = await opened.owner.query(
      "select sum(occurrences)::int as occurrences from feature_tally where feature = 'found@1'",
    );
    expect(rows, "no event is counted twice").toEqual([{ occurrences: 3 }]);
  });

  const BLOCKS = "({ su }) => { if (su.value === false) for (;;); return su.value ?? null }";

  it("stores its events where the search for slow features takes longer than a transaction may be idle", async () => {
    await propose(bundle("blocks_1", BLOCKS));
    const layer = await adopt(["blocks_1@1"]);
    const slow = await slowly("idle");
    const database = { ...opened.system.database, idle_in_transaction_session_timeout: 200 };
    const pool = openPool(database, { max: 1, onError: () => {} });
    onTestFinished(() => pool.end());
    await extractNext(ports({ pool }));
    await retire("blocks_1@1");
    errors.length = 0;
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "over-budget" }]);
    expect(await read(slow)).toHaveProperty(String(LAYER));
  });

  it("decides an event on which features block longer than the search may take", async () => {
    await propose(bundle("blocks_2", BLOCKS), bundle("blocks_3", BLOCKS));
    const layer = await adopt(["blocks_2@1", "blocks_3@1"]);
    const slow = await slowly("search");
    // The three attempts of the first feature take longer.
    const searching = new LayerRunners({ graceMs: 1_000, searchMs: 2_500 });
    onTestFinished(() => searching.close());
    await extractNext(ports({ runners: searching }));
    await retire("blocks_2@1", "blocks_3@1");
    errors.length = 0;
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "over-budget" }]);
  });

  it("of a batch whose programs decide no event fails, so that the batch waits and is given up", async () => {
    const event = await store("undecided");
    const stuck = new LayerRunners();
    const { features, inputs } = await runners.find(opened.system.pool, await layerOf(LAYER));
    const runner: OpenLayer["runner"] = {
      run: async (batch) => ({
        events: batch.map(() => [{ state: "failed", failure: "paused", inputs: [] }]),
        paused: [],
      }),
      close: async () => {},
    };
    vi.spyOn(stuck, "find").mockResolvedValue({ runner, features, inputs });
    for (let tries = 0; tries < 5; tries++) {
      await expect(extractNext(ports({ runners: stuck }))).rejects.toThrow("no event was decided");
    }
    expect(await extractNext(ports())).toBeUndefined();
    expect(await failuresOf(event)).toEqual([{ layer: LAYER, reason: "error" }]);
  });

  it("pauses a layer after three slow events, for a minute", async () => {
    await propose(bundle("often_slow", SOMETIMES_SLOW));
    const layer = await adopt(["often_slow@1"]);
    const pausing = new LayerRunners({ graceMs: 100 });
    const using = ports({ runners: pausing });
    const slow = [await slowly("slow-1"), await slowly("slow-2"), await slowly("slow-3")];
    const innocent = await store("innocent");
    await due(...slow, innocent);
    while (await extractNext(using));
    for (const event of slow) expect(await failuresOf(event)).toEqual([{ layer, reason: "over-budget" }]);
    expect(await failuresOf(innocent)).toEqual([{ layer, reason: "paused" }]);
    expect(Object.keys(await read(innocent))).toEqual([String(LAYER)]);
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
    onTestFinished(() => clock.mockRestore());
    const later = await store("later");
    while (await extractNext(using));
    await retire("often_slow@1");
    await pausing.close();
    errors.length = 0;
    expect(Object.keys(await read(later))).toEqual([LAYER, layer].map(String));
  });

  it("pauses no layer after one slow event that is computed again and again", async () => {
    await propose(bundle("again_slow", SOMETIMES_SLOW));
    const layer = await adopt(["again_slow@1"]);
    const repeating = new LayerRunners({ graceMs: 100 });
    const slow = await slowly("slow-again");
    const innocent = await store("innocent-again");
    await due(innocent, slow);
    const { featureSealer } = opened.system;
    const sealMany: typeof featureSealer.sealMany = (rows) => {
      if (rows.some(({ identity }) => identity.layer === layer)) throw new Error("the key store is away");
      return featureSealer.sealMany(rows);
    };
    const failing = ports({ runners: repeating, featureSealer: { ...featureSealer, sealMany } });
    for (let tries = 0; tries < 4; tries++) {
      await expect(extractNext(failing)).rejects.toThrow("the key store is away");
    }
    while (await extractNext(ports({ runners: repeating })));
    expect(repeating.isPaused(layer)).toBe(false);
    await retire("again_slow@1");
    await repeating.close();
    errors.length = 0;
    expect(await failuresOf(slow)).toEqual([{ layer, reason: "over-budget" }]);
    expect(await read(innocent)).toHaveProperty(String(layer));
  });

  it("leaves what comes behind the slow event of another layer to the next batch", async () => {
    const slowIfAbsent = "({ su }) => { if (su.state !== 'observed') for (let i = 0; i < 1e7; i++); return null }";
    await propose(bundle("slow_first", SOMETIMES_SLOW), bundle("slow_last", slowIfAbsent));
    const layers = [await adopt(["slow_first@1"]), await adopt(["slow_last@1"])];
    const [first, innocent, last] = [await slowly("first"), await store("between"), await store("last", {})];
    await due(first, innocent, last);
    expect(await extractNext(ports())).toMatchObject({ decided: 1, slow: ["slow_first@1"] });
    expect(await extractNext(ports())).toMatchObject({ decided: 2, slow: ["slow_last@1"] });
    await retire("slow_first@1", "slow_last@1");
    errors.length = 0;
    const [layerOfFirst, layerOfLast] = layers;
    expect(await failuresOf(first)).toEqual([{ layer: layerOfFirst, reason: "over-budget" }]);
    expect(await failuresOf(innocent)).toEqual([]);
    expect(await failuresOf(last)).toEqual([{ layer: layerOfLast, reason: "over-budget" }]);
  });

  it("continues for the other features of a layer when one is retired, and ends for the retired one", async () => {
    await propose(bundle("a"), bundle("b", SU));
    const layer = await adopt(["a@1", "b@1"]);
    expect(await retire("a@1")).toEqual([layer]);
    const event = await store("retired");
    await extractNext(ports());
    await retire("b@1");
    expect(Object.keys(await read(event))).toEqual([String(LAYER), String(layer + 1)]);
  });

  it("computes a feature once of an event that was due when a retirement moved the feature to another layer", async () => {
    await propose(bundle("kept"), bundle("ended", SU));
    const layer = await adopt(["kept@1", "ended@1"]);
    const event = await store("across");
    await retire("ended@1");
    await extractNext(ports());
    await retire("kept@1");
    expect(Object.keys(await read(event))).toEqual([String(LAYER), String(layer)]);
    const { rows } = await opened.owner.query(
      "select feature, sum(occurrences)::int as occurrences from feature_tally where feature like '%ed@1' or feature = 'kept@1' group by 1 order by 1",
    );
    expect(rows).toEqual(["ended@1", "kept@1"].map((feature) => ({ feature, occurrences: 1 })));
  });

  it("of an idle worker sends few statements, and starts when something is due", async () => {
    const { pool } = opened.system;
    let statements = 0;
    const counting = new Proxy(pool, {
      get(target, name) {
        if (name === "connect") statements++;
        return Reflect.get(target, name, target) as unknown;
      },
    });
    const worker = new ExtractionWorker(ports({ pool: counting }));
    await sleep(800);
    expect(statements).toBeLessThanOrEqual(4);
    const event = await store("idle");
    await until(async () => "1" in (await read(event)));
    await worker.close();
  });

  it("ends at once when its worker closes during a search for slow features, and its events stay due", async () => {
    const blocking = Array.from({ length: 6 }, (_, at) => bundle(`blocks_close_${at}`, BLOCKS));
    await propose(...blocking);
    const names = blocking.map(({ manifest }) => `${manifest.id}@1`);
    await adopt(names);
    const slow = await slowly("closing");
    const worker = new ExtractionWorker(ports());
    const isFree = "select from extraction_due for update skip locked";
    await until(async () => (await opened.owner.query(isFree)).rowCount === 0);
    const start = performance.now();
    await worker.close();
    expect(performance.now() - start, "a search takes fifteen seconds").toBeLessThan(8_000);
    expect((await opened.owner.query("select tries from extraction_due")).rows).toEqual([{ tries: 0 }]);
    await retire(...names);
    expect(errors).toEqual([]);
    expect(await failuresOf(slow)).toEqual([]);
    await opened.owner.query("delete from extraction_due");
  });

  it("is shared by workers: each event has one row in each layer", async () => {
    const workers = [0, 1].map(() => new ExtractionWorker(ports()));
    const events = await Promise.all(Array.from({ length: 30 }, (_, index) => store(`shared-${index % 3}`)));
    await until(async () => (await opened.owner.query("select from extraction_due")).rowCount === 0);
    await Promise.all(workers.map((worker) => worker.close()));
    for (const event of events) expect(Object.keys(await read(event))).toEqual([String(LAYER)]);
    expect(errors).toEqual([]);
  });
});
