/**
 * Tests, as one story of an auditor, of the origin of stored values, after the event has expired and after an erasure.
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { objects, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { advanceClock } from "../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { attestationSigner } from "../app/attestation-signer.ts";
import { readEvent } from "../events/read-events.ts";
import { attestDue, attestNext, type AttestPorts } from "../features/attest.ts";
import { findBundles } from "../features/decisions.ts";
import { extractNext } from "../features/extraction-worker.ts";
import { encodeFeatures } from "../features/feature-payload.ts";
import { insertFeatureRows } from "../features/feature-rows.ts";
import { LayerRunners } from "../features/layer-runners.ts";
import { findAdminOrder } from "../orders/admin-orders.ts";
import { inTransaction } from "../postgres/database.ts";
import { LOCKS } from "../postgres/locks.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";
import { resultOf } from "./operations/admin-orders.ts";
import { portsOf } from "./operations/ports.ts";

const DAY_MS = 86_400_000;
const REASON = ["--reason", "review 4711"];
const TODAY = new Date().toISOString().slice(0, 10);

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const listener = useAdminListener(() => opened.system);
const runners = new LayerRunners({ graceMs: 100 });
const bundle = bundleOf("({ su }) => su.state === 'observed' ? su.value : null", {
  id: "found",
  purposes: ["default"],
});
const FIXTURES = { cases: [{ name: "found", inputs: { su: { observed: true } }, result: { observed: true } }] };
let past: Past;
let event: PastEvent;
let erased: PastEvent;
/** An event whose stored value differs from the value that its features give. */
let wrong: PastEvent;

const drs = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
  const run = await runWithBreakGlass(opened.environment, ...args, "--json");
  expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
  return objects(run.stdout)[0] ?? {};
};
const explain = (...args: readonly string[]) => drs("feature", "explain", ...args);

async function applyCoverage(coverage: object): Promise<void> {
  const file = join(folder(), "coverage.yaml");
  const periods = { raw_retention: "P30D", derived_retention: "P1Y" };
  const purpose = { id: "default", title: "t", legal_basis: "l", owner: "o", ...periods, ...coverage };
  await writeFile(file, JSON.stringify({ purposes: [purpose], actions: {}, unmapped: "default" }));
  await drs("purpose", "apply", file, "--yes");
}

const store = (account: string, value: unknown): Promise<PastEvent> => {
  const os_integrity = { status: "success", data: { suBinaryFound: value } };
  return past.store(0, { account }, JSON.stringify({ probes: { os_integrity }, session_id: "s" }));
};

/** Runs a step once. Each test can also run alone, because it first runs the steps that it needs. */
const once = <T>(step: () => Promise<T>): (() => Promise<T>) => {
  let taken: Promise<T> | undefined;
  return () => (taken ??= step());
};

async function storeWrong(): Promise<PastEvent> {
  const stored = await store("customer-3", true);
  const { pool, featureSealer } = opened.system;
  const sealed = (await readEvent(pool, stored))?.sealedUnder;
  const keyId = sealed && "keyId" in sealed ? sealed.keyId : "";
  const results = [{ state: "omitted", inputs: ["omitted:field-absent"] }] as const;
  const values = encodeFeatures(Buffer.from(stored.exact), results, 1, Buffer.of());
  const payload = await featureSealer.seal({ ...stored, layer: 1 }, keyId, values);
  const row = { ...stored, layer: 1, keyId, payload };
  await inTransaction(pool, (transaction) => insertFeatureRows(transaction, [row]));
  return stored;
}

beforeAll(async () => {
  await applyCoverage({});
  past = new Past(opened.system);
  const file = join(folder(), "bundles.json");
  await writeFile(file, JSON.stringify([{ ...bundle, fixtures: FIXTURES }]));
  await drs("feature", "propose", file, ...REASON);
  await drs("feature", "adopt", "found@1", "--purpose", "default", ...REASON);
  event = await store("customer-1", true);
  erased = await store("customer-2", true);
  const { pool, sealer, featureSealer } = opened.system;
  const onError = (error: unknown): void => void listener.errors.push(error);
  while (await extractNext({ pool, sealer, featureSealer, onError, runners }));
  wrong = await storeWrong();
});
afterAll(async () => {
  await past?.close();
  await runners.close();
});

it("a value is explained by its event, its code and the decisions about it", async () => {
  expect(await explain(event.eventId, "found", "--program")).toMatchObject({
    event_id: event.eventId,
    status: "computed",
    event: { purpose: "default", platform: "android", sdk_version: "1.2.3", is_stored: true },
    values: [
      {
        feature: "found@1",
        state: "observed",
        value: true,
        inputs: [{ name: "su", field: "os_integrity.suBinaryFound", state: "observed" }],
        sha256: createHash("sha256").update(event.exact).digest("hex"),
        meaning: "An example",
        false_readings: ["none is known"],
        hash: bundle.hash,
        program: bundle.text,
        proposed: { kind: "proposed", reason: "review 4711" },
        adopted: { kind: "adopted", purpose: "default", evidence: { days: 7 } },
        retired: null,
      },
    ],
  });
  const { stdout } = await runWithBreakGlass(opened.environment, "feature", "explain", event.eventId, "found@1");
  expect(stdout).toContain("Result: observed, value true\n");
  for (const unknown of ["found@2", "foun"]) {
    expect((await runWithBreakGlass(opened.environment, "feature", "explain", event.eventId, unknown)).code).toBe(1);
  }
});

it("a value is explained to the auditor without the value itself, and the read is audited", async () => {
  const [auditor, analyst] = [await listener.client(["auditor"]), await listener.client(["analyst"])];
  const query = { event_id: event.eventId, feature: "found@1" };
  const [value] = (await auditor.call("explainFeature", query)).values;
  expect(value).toMatchObject({ state: "observed", value: null, is_value_withheld: true, hash: bundle.hash });
  expect((await analyst.call("explainFeature", query)).values).toMatchObject([
    { value: true, is_value_withheld: false },
  ]);
  const { rows } = await opened.owner.query(
    "select distinct outcome, event_id from audit_entry where operation = 'feature.explain' and via = 'api'",
  );
  expect(rows).toEqual([{ outcome: "done", event_id: event.eventId }]);
});

it("a search that finds nothing is audited with its parameters", async () => {
  const analyst = await listener.client(["analyst"], { person: "searching" });
  const none = { code: "not-found" };
  const unknown = "019a0000-0000-7000-8000-000000000000";
  await expect(analyst.call("readFeatures", { account: "unknown-1" })).rejects.toMatchObject(none);
  await expect(analyst.call("readFeatures", { event_id: unknown })).rejects.toMatchObject(none);
  await expect(analyst.call("explainFeature", { event_id: unknown, feature: "found" })).rejects.toMatchObject(none);
  await expect(analyst.call("verifyFeatures", { event_id: unknown })).rejects.toMatchObject(none);
  const { rows } = await opened.owner.query(
    `select operation, outcome, event_id, encode(subject, 'hex') as subject from audit_entry
      where actor like 'searching (%' and operation like 'feature.%' order by at, entry_id`,
  );
  const { audit } = opened.system;
  const entry = { outcome: "not-found", event_id: unknown, subject: null };
  expect(rows).toEqual([
    { ...entry, operation: "feature.read", event_id: null, subject: audit.subjectOf("unknown-1").toString("hex") },
    { ...entry, operation: "feature.read" },
    { ...entry, operation: "feature.explain" },
    { ...entry, operation: "feature.verify" },
  ]);
});

it("stored values are computed again under the policy of their time, and archived fixtures run on two engines", async () => {
  await applyCoverage({ probes: ["network"] });
  const verified = await runWithBreakGlass(opened.environment, "feature", "verify", "--json");
  await applyCoverage({});
  expect(verified.code, "one value differs").toBe(3);
  expect(objects(verified.stdout)[0]).toMatchObject({
    events: 3,
    rows: 3,
    equal: 2,
    different: 1,
    undecided: 0,
    differences: [{ event_id: wrong.eventId, layer: 1, feature: "found@1", stored: "omitted", computed: "observed" }],
    programs: [{ feature: "found@1", cases: expect.any(Number) as number, problems: [] }],
  });
  const { stdout } = await runWithBreakGlass(opened.environment, "feature", "verify", event.eventId);
  expect(stdout).toMatch(
    /^1 event, 1 row of values: 1 equal, 0 different, 0 undecided\.\n1 program, [1-9]\d* cases on/,
  );
  const none = ["feature", "verify", "--to", "2020-01-31", "--json"];
  expect(objects((await runWithBreakGlass(opened.environment, ...none)).stdout)).toMatchObject([
    { events: 0, rows: 0 },
  ]);
});

const proposeOthers = once(async () => {
  const file = join(folder(), "second.json");
  const second = bundleOf("({ su }) => su.state === 'observed' ? !su.value : null", {
    id: "found",
    version: 2,
    purposes: ["default"],
  });
  const elsewhere = bundleOf("() => true", { id: "elsewhere", purposes: ["other"] });
  await writeFile(file, JSON.stringify([second, elsewhere]));
  await drs("feature", "propose", file, ...REASON);
});

it("a version that is not adopted is compared, and small numbers are shown only in a case of their account", async () => {
  await proposeOthers();
  const page = join(folder(), "page.html");
  const compare = ["feature", "compare", "found@1", "found@2", "--purpose", "default", "--all"];
  const cell = { platform: "android", sdk_version: "1.2.3", before: "observed true", after: "observed false" };
  expect(await drs(...compare, "--html", page)).toMatchObject({ events: null, cells: [{ ...cell, events: null }] });
  expect(await readFile(page, "utf8")).toContain("not shown");
  const open = async (...covers: readonly string[]): Promise<string> =>
    String((await drs("case", "open", ...covers, "--category", "debugging", ...REASON))["case_id"]);
  const case_id = await open("--account", "customer-1");
  expect(await drs(...compare, "--case", case_id)).toMatchObject({ events: 1, cells: [{ ...cell, events: 1 }] });
  const { rows } = await opened.owner.query(
    `select outcome, case_id, encode(subject, 'hex') as subject from audit_entry
      where operation = 'feature.compare' and case_id is not null order by at, entry_id`,
  );
  const entry = { case_id, subject: opened.system.audit.subjectOf("customer-1").toString("hex") };
  expect(rows).toEqual([
    { ...entry, outcome: "begun" },
    { ...entry, outcome: "done" },
  ]);
  const of = await open("--account", "customer-1", "--action", event.actionId);
  expect(await drs(...compare, "--case", of)).toMatchObject({ events: 1 });
  await runWithBreakGlass(opened.environment, "case", "close", of);
  const foreign = "update access_case set opened_by = 'another' where case_id = $1";
  const counted = "select events_opened from access_case where case_id = $1";
  expect((await opened.owner.query(counted, [case_id])).rows).toEqual([{ events_opened: "1" }]);
  await opened.owner.query(foreign, [case_id]);
  for (const wrong of [event.eventId, await open("--event", event.eventId), of, case_id]) {
    const refused = await runWithBreakGlass(opened.environment, ...compare, "--case", wrong);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
  }
});

describe("an analyst who compares versions of a field of high sensitivity", () => {
  const versions = { before: "icc_card@1", after: "icc_card@2", purpose: "default" };
  const WHY = { account: "customer-1", category: "debugging", reason: "review 4715" } as const;

  beforeAll(async () => {
    const inputs = [{ name: "card", path: ["telephony", "hasIccCard"], type: "boolean", sensitivity: "high" }] as const;
    const bundles = ["() => false", "({ card }) => card.state === 'observed'"].map((compute, index) =>
      bundleOf(compute, { id: "icc_card", version: index + 1, purposes: ["default"], inputs }),
    );
    const file = join(folder(), "sensitive.json");
    await writeFile(file, JSON.stringify(bundles));
    await drs("feature", "propose", file, ...REASON);
  });

  it("sees no exact numbers in a case unless the caller may read such fields, and the attempt is audited", async () => {
    const [analyst, both] = [
      await listener.client(["analyst"], { person: "gina" }),
      await listener.client(["analyst", "investigator"], { person: "hugo" }),
    ];
    const { case_id } = await analyst.call("openCase", WHY);
    await expect(analyst.call("compareFeatures", { ...versions, case_id })).rejects.toMatchObject({
      code: "permission-missing",
    });
    expect((await analyst.call("listCases", {})).cases[0]).toMatchObject({ case_id, events_opened: 0 });
    expect(await analyst.call("compareFeatures", versions)).toMatchObject({ is_exact: false });
    const own = await both.call("openCase", WHY);
    expect(await both.call("compareFeatures", { ...versions, case_id: own.case_id })).toMatchObject({ is_exact: true });
    const { rows } = await opened.owner.query(
      `select operation, outcome from audit_entry
        where actor like 'gina (%' and operation in ('feature.compare', 'order.end') order by at, entry_id`,
    );
    expect(rows).toEqual([
      { operation: "order.end", outcome: "failed" },
      { operation: "feature.compare", outcome: "begun" },
      { operation: "feature.compare", outcome: "done" },
    ]);
    const reads = (await listener.client(["auditor"])).call("reviewReads", {});
    expect((await reads).reads).toContainEqual({
      person: "hugo",
      via: "api",
      operation: "feature.compare",
      category: WHY.category,
      ticket: null,
      entries: 2,
      accounts: 1,
    });
  });
});

it("a comparison without a case begins with a day, so that two of them do not differ by one event", async () => {
  await proposeOthers();
  const after = new Date(wrong.receivedAt + 1).toISOString();
  const day = `${after.slice(0, 10)}T00:00:00.000Z`;
  const analyst = await listener.client(["analyst"], { person: "ida" });
  const versions = { before: "found@1", after: "found@2", purpose: "default", from: after };
  const compared = await analyst.call("compareFeatures", versions);
  expect(compared).toMatchObject({ from: day, cells: expect.arrayContaining([expect.anything()]) as unknown });
  const direct = ["feature", "compare", "found@1", "found@2", "--purpose", "default", "--since", after];
  expect(await drs(...direct)).toEqual(compared);
  const { case_id } = await analyst.call("openCase", {
    account: "customer-3",
    category: "debugging",
    reason: "review 4716",
  });
  const exact = await analyst.call("compareFeatures", { ...versions, case_id });
  expect(exact).toMatchObject({ from: after, events: 0, cells: [] });
});

it("the answer of a comparison in a case is sealed under the audit secret of its account", async () => {
  const { system, owner } = opened;
  const client = await listener.client(["analyst", "investigator"]);
  const covers = { account: "customer-1", category: "debugging", reason: "review 4711" } as const;
  const { case_id } = await client.call("openCase", covers);
  const versions = { before: "found@1", after: "found@2", purpose: "default" };
  expect(await client.call("compareFeatures", { ...versions, case_id })).toMatchObject({ events: 1 });
  const { rows } = await owner.query("select order_id from admin_order where route = 'compareFeatures'");
  const { order_id } = rows[0] as { readonly order_id: string };
  const order = await findAdminOrder(system.pool, system.clock, order_id);
  if (!order?.result) throw new Error("the order has a result");
  const { secret_id } = system.orders.open(order_id, "result", order.result) as { readonly secret_id: string };
  const { rows: secrets } = await owner.query("select subject from audit_secret where secret_id = $1", [secret_id]);
  expect(secrets).toEqual([{ subject: system.audit.subjectOf("customer-1") }]);
  const destroyed = { findRecent: async () => undefined } as unknown as typeof system.secrets;
  const ports = { ...portsOf(system, system), keys: async () => ({ ...system, secrets: destroyed }) };
  expect(await resultOf(ports, order)).toMatchObject({ problem: { status: 410, code: "keys-destroyed" } });
});

it("versions are compared for events of a purpose that both definitions name", async () => {
  await proposeOthers();
  const compare = ["feature", "compare", "found@1", "elsewhere@1", "--purpose", "default", "--all"];
  expect((await runWithBreakGlass(opened.environment, ...compare)).stderr).toContain(
    "do not name the purpose default: elsewhere@1.",
  );
});

/** @returns whether each of three attempts has attested something: the first is too early, the others are in time. */
const attest = once(async () => {
  const { system } = opened;
  const extractAll = async (): Promise<void> => {
    while (await extractNext({ ...system, onError: () => {}, runners }));
  };
  await store("restricted", true);
  await extractAll();
  const order = ["--account", "restricted", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
  const { restriction_id } = await drs("restriction", "add", ...order);
  await store("late", true);
  const sign: AttestPorts["sign"] = async (statement) => {
    await extractAll();
    return attestationSigner(system)(statement);
  };
  const ports = { ...system, sign, runners };
  const isEarly = await attestNext(ports);
  await advanceClock(opened.environment, 29.5 * DAY_MS);
  await opened.owner.query("select pg_advisory_lock($1)", [LOCKS.attestation]);
  const onError = (error: unknown): void => void listener.errors.push(error);
  await attestDue({ ...ports, onError }, new AbortController().signal);
  await opened.owner.query("select pg_advisory_unlock($1)", [LOCKS.attestation]);
  const looks = [isEarly, await attestNext(ports), await attestNext(ports)];
  const lifting = ["--informed-on", TODAY, "--reason", "it is resolved", "--yes"];
  await drs("restriction", "lift", String(restriction_id), ...lifting);
  return looks;
});

it("values are attested shortly before their events expire, once and by one server, even if other values are stored at that time", async () => {
  expect(await attest()).toEqual([false, true, false]);
  const { equal, rows, layer } = await drs("feature", "attestation", "list");
  expect({ equal, rows, layer }).toEqual({ equal: 2, rows: 4, layer: 1 });
});

const expire = once(async () => {
  await attest();
  await drs("feature", "retire", "found@1", "--purpose", "default", ...REASON);
  await advanceClock(opened.environment, 31 * DAY_MS);
  await drs("retention", "run", "--yes");
});

it("a value is explained after its event has expired", async () => {
  await expire();
  expect((await opened.owner.query("select from event")).rowCount).toBe(0);
  expect((await runWithBreakGlass(opened.environment, "feature", "verify", event.eventId)).code).toBe(1);
  expect(await explain(event.eventId, "found")).toMatchObject({
    event: { is_stored: false },
    values: [{ value: true, retired: { kind: "retired" }, attestation: { is_included: true } }],
  });
});

const erase = once(() => drs("erase", "run", "--account", "customer-2", "--reason", "request 17", "--yes"));

it("an erased account shows only the receipts of its erasures", async () => {
  const { erasure_id } = await erase();
  expect(await explain(erased.eventId, "found")).toEqual({
    event_id: erased.eventId,
    status: "erased",
    event: null,
    values: [],
    erasures: [
      {
        erasure_id,
        kind: "account",
        began_at: expect.any(String) as string,
        finished_at: expect.any(String) as string,
        receipt: (await drs("receipt", "get", String(erasure_id)))["receipt"],
      },
    ],
  });
});

describe("an attestation", () => {
  const verify = () => runWithBreakGlass(opened.environment, "feature", "attestation", "verify", "--json");
  const HOLDS = { is_signed: true, is_root_right: true, unreadable: 0, holds: true };

  /** The result of the verification while one bit is changed. */
  async function flipped(table: string, column: string, where = "true"): Promise<Record<string, unknown> | undefined> {
    const flip = `update ${table} set ${column} = set_byte(${column}, 40, get_byte(${column}, 40) # 1) where ${where}`;
    await opened.owner.query(`alter table ${table} disable trigger user`);
    await opened.owner.query(flip);
    const { code, stdout } = await verify();
    await opened.owner.query(flip);
    await opened.owner.query(`alter table ${table} enable trigger user`);
    expect(code).toBe(3);
    return objects(stdout)[0];
  }

  beforeAll(async () => {
    await expire();
    await erase();
  });

  it("remains valid after events have expired and rows were erased", async () => {
    const { code, stdout } = await verify();
    expect({ code, found: objects(stdout) }).toMatchObject({ code: 0, found: [{ ...HOLDS, found: 3, included: 1 }] });
  });

  it("fails if one bit of a leaf, of the signed text, or of a row is changed", async () => {
    expect(await flipped("attestation", "leaves")).toMatchObject({ ...HOLDS, is_root_right: false, holds: false });
    await opened.owner.query("alter table attestation disable trigger user");
    await opened.owner.query("update attestation set rows = rows + 1");
    expect(objects((await verify()).stdout)).toMatchObject([{ ...HOLDS, is_signed: false, holds: false }]);
    await opened.owner.query("update attestation set rows = rows - 1");
    await opened.owner.query("alter table attestation enable trigger user");
    const row = await flipped("feature_row", "payload", `event_id = '${event.eventId}'`);
    expect(row).toMatchObject({ is_signed: true, is_root_right: true, unreadable: 1, holds: false });
    expect((await verify()).code).toBe(0);
  });
});

it("a version is adopted by its proposer only with the approval of another analyst, and by another analyst without one", async () => {
  const [anna, bert] = [
    await listener.client(["analyst"], { person: "anna" }),
    await listener.client(["analyst"], { person: "bert" }),
  ];
  const asked = ["asked", "other"].map((id) => bundleOf("() => true", { id, purposes: ["default"] }));
  await anna.call("proposeFeatures", { bundles: asked, reason: "review 4712" });
  const adopt = { features: ["asked@1"], purpose: "default", reason: "review 4712" };
  const token = await listener.client(["analyst"], { person: "machine", obtainedBy: "anna" });
  await expect(token.call("adoptFeatures", adopt)).rejects.toThrow("by analyst is needed");
  const refused = await anna.call("adoptFeatures", adopt).then(String, String);
  const approvalId = /Approval (\S+) by analyst/.exec(refused)?.[1] ?? "";
  expect(await anna.call("readApproval", { approval_id: approvalId })).toMatchObject({
    operation: "feature.adopt",
    parameters: { features: ["asked@1"], purpose: "default" },
    plan: { days: 7, coverage: expect.any(Array) as unknown },
    state: "waiting",
  });
  const { pool, clock, approvals } = opened.system;
  const decision = { approvalId, roles: ["analyst"], decision: "approved" } as const;
  expect(await approvals.decide(pool, clock, { ...decision, person: "anna" })).toBe(false);
  expect(await approvals.decide(pool, clock, { ...decision, person: "bert" })).toBe(true);
  await expect(anna.call("adoptFeatures", { ...adopt, features: ["other@1"] })).rejects.toThrow("Approval");
  expect((await anna.call("adoptFeatures", adopt)).layer).toBeGreaterThan(1);
  expect((await bert.call("adoptFeatures", { ...adopt, features: ["other@1"] })).layer).toBeGreaterThan(2);
  const { rows } = await opened.owner.query(
    "select approval_id from audit_entry where operation = 'feature.adopt' and approval_id is not null",
  );
  expect(rows).toEqual([{ approval_id: approvalId }]);
});

it("another program of a version is recorded if it gives the same values, but not if one value of a stored event differs", async () => {
  const file = join(folder(), "programs.json");
  const equivalent = async (compute: string) => {
    const given = bundleOf(compute, { id: "found", purposes: ["default"] });
    await writeFile(file, JSON.stringify([given]));
    const args = ["feature", "equivalent", file, ...REASON];
    return { given, run: await runWithBreakGlass(opened.environment, ...args, "--json") };
  };
  const hidden = [await store("customer-3", false), await store("customer-4", true)];
  const other = await equivalent("({ su }) => su.state === 'observed' && su.value ? true : null");
  expect(other.run).toMatchObject({ code: 1, stderr: expect.stringContaining("found@1 differs for stored") as string });
  for (const { eventId } of hidden) expect(other.run.stderr).not.toContain(eventId);
  const wrong = await equivalent("() => true");
  expect(wrong.run.stderr).toContain("archived fixture");
  expect((await runWithBreakGlass(opened.environment, "feature", "propose", file, ...REASON)).code).toBe(1);

  const live = (await opened.owner.query("select from event")).rowCount;
  const { given, run } = await equivalent("({ su }) => (su.state !== 'observed' ? null : su.value)");
  expect(objects(run.stdout)).toMatchObject([
    { programs: [{ feature: "found@1", hash: given.hash, archived_hash: bundle.hash, events: live }], unreadable: 0 },
  ]);
  expect(await drs("feature", "propose", file, ...REASON), "the version is archived").toMatchObject({ proposed: [] });
  const [archived] = await findBundles(opened.system.pool, ["found@1"]);
  expect(archived, "the archived program continues to run").toMatchObject({ hash: bundle.hash });
  const [decision] = objects((await runWithBreakGlass(opened.environment, "feature", "decisions", "--json")).stdout);
  expect(decision).toMatchObject({ kind: "equivalent", features: ["found@1"], reason: "review 4711" });
});

describe("an analyst who compares a program of their own with the archived one", () => {
  const REASONS = { reason: "review 4713" };
  const differing = "({ su }) => (su.state === 'observed' && su.value ? true : null)";
  const same = "({ su }) => (su.state === 'observed' ? su.value : null)";
  const programs = (compute: Readonly<Record<string, string>>) =>
    Object.entries(compute).map(([id, text]) => bundleOf(text, { id, purposes: ["default"] }));
  const entries = async (person: string) => {
    const { rows } = await opened.owner.query<{ operation: string; outcome: string }>(
      `select operation, outcome from audit_entry
        where actor like $1 and operation like 'feature.%' order by at, entry_id`,
      [`${person} (%`],
    );
    return rows.map(({ operation, outcome }) => [operation, outcome]);
  };

  beforeAll(async () => {
    const analyst = await listener.client(["analyst"], { person: "carla" });
    const archived = programs({ first: same, second: same, third: same });
    await analyst.call("proposeFeatures", { bundles: archived, ...REASONS });
    await store("customer-5", false);
  });

  it("learns neither an event nor which of several programs differs, with or without a dry run", async () => {
    const analyst = await listener.client(["analyst"], { person: "carla" });
    const bundles = programs({
      first: `${same} `,
      second: differing,
      third: "(o) => (o.su.state === 'observed' ? o.su.value : null)",
    });
    for (const dry_run of [true, false]) {
      const refused = await analyst.call("recordEquivalence", { bundles, ...REASONS, dry_run }).then(String, String);
      expect(refused).toContain("At least one of");
      expect(refused).not.toMatch(/first|second|third|[0-9a-f]{8}-[0-9a-f]{4}-/);
    }
  });

  it("leaves an audit entry before the first event is read, even if the call is refused", async () => {
    const analyst = await listener.client(["analyst"], { person: "doris" });
    const adoption = { features: ["first@1"], purpose: "default", ...REASONS };
    const bundles = programs({ first: differing });
    await expect(analyst.call("recordEquivalence", { bundles, ...REASONS, dry_run: true })).rejects.toThrow("differs");
    await expect(analyst.call("proposeFeatures", { bundles, ...REASONS })).rejects.toThrow("another program");
    await analyst.call("adoptFeatures", { ...adoption, dry_run: true });
    expect(await entries("doris")).toEqual([
      ["feature.equivalent", "begun"],
      ["feature.propose", "begun"],
      ["feature.adopt", "begun"],
      ["feature.adopt", "done"],
    ]);
    const { rows } = await opened.owner.query<{ entry_id: string }>(
      "select entry_id::text from audit_entry where actor like 'doris (%' and operation = 'feature.equivalent'",
    );
    const listed = objects(
      (await runWithBreakGlass(opened.environment, "audit", "list", "--limit", "50", "--json")).stdout,
    );
    expect(listed.find(({ entry_id }) => entry_id === rows[0]?.entry_id)).toMatchObject({
      reason: "review 4713",
      detail: { programs: [{ feature: "first@1", hash: bundles[0]?.hash }], dry_run: true },
    });
  });
});

it("sees values of a restricted account only with a case and the role privacy", async () => {
  await opened.owner.query("update account_key set restricted = true where account = 'customer-1'");
  const [analyst, both] = [
    await listener.client(["analyst"], { person: "emma" }),
    await listener.client(["analyst", "privacy"], { person: "frida" }),
  ];
  const why = { category: "legal-order", reason: "request 4714" } as const;
  const caseOf = async (account: string): Promise<string> => (await both.call("openCase", { account, ...why })).case_id;
  const query = { account: "customer-1", include_restricted: true };
  const case_id = await caseOf("customer-1");
  await expect(both.call("readFeatures", { account: "customer-1" })).rejects.toMatchObject({ code: "not-found" });
  const shown = await both.call("readFeatures", { ...query, case_id });
  expect(shown.events).toMatchObject([{ event_id: event.eventId, features: [{ feature: "found@1", value: true }] }]);
  const own = (await analyst.call("openCase", { account: "customer-1", ...why })).case_id;
  const refused = analyst.call("readFeatures", { ...query, case_id: own });
  await expect(refused).rejects.toMatchObject({ code: "permission-missing" });
  const elsewhere = await caseOf("customer-3");
  for (const wrong of [elsewhere, own]) {
    await expect(both.call("readFeatures", { ...query, case_id: wrong })).rejects.toMatchObject({
      code: "case-invalid",
    });
  }
  const { rows: denied } = await opened.owner.query(
    "select split_part(actor, ' (', 1) as person, case_id from audit_entry where operation = 'feature.read' and outcome = 'denied' order by at",
  );
  expect(denied).toEqual([
    { person: "emma", case_id: own },
    { person: "frida", case_id: elsewhere },
    { person: "frida", case_id: own },
  ]);
  const direct = ["feature", "get", "--account", "customer-1", "--include-restricted"];
  expect((await runWithBreakGlass(opened.environment, ...direct)).code).toBe(2);
  const { case_id: of } = await drs("case", "open", "--account", "customer-1", "--category", "dispute", ...REASON);
  expect(await drs(...direct, "--case", String(of))).toEqual(shown.events[0]);
  const { rows } = await opened.owner.query(
    "select case_id from audit_entry where operation = 'feature.read' and outcome = 'done' and case_id is not null order by at",
  );
  expect(rows).toEqual([{ case_id }, { case_id: of }]);
  await opened.owner.query("update account_key set restricted = false where account = 'customer-1'");
});

it("a read of values by event or action is an access to each account whose values it shows", async () => {
  const actionId = "shared-action";
  const shared = [
    await past.store(0, { account: "customer-6", actionId }),
    await past.store(0, { account: "customer-7", actionId }),
  ];
  const analyst = await listener.client(["analyst"], { person: "jana" });
  const [read] = (await analyst.call("readFeatures", { event_id: event.eventId })).events;
  expect(read).toMatchObject({ account: "customer-1", features: [{ feature: "found@1", value: true }] });
  expect((await analyst.call("readFeatures", { action_id: actionId })).events).toHaveLength(2);
  const accessed = async (account: string) => {
    const { stdout } = await runWithBreakGlass(opened.environment, "audit", "list", "--account", account, "--json");
    return objects(stdout)
      .filter(({ actor, operation }) => String(actor).startsWith("jana (") && operation === "feature.read")
      .map(({ outcome, event_id }) => [outcome, event_id]);
  };
  expect(await accessed("customer-1")).toEqual([["done", event.eventId]]);
  for (const { account, eventId } of shared) expect(await accessed(account)).toEqual([["done", eventId]]);
});
