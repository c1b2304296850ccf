/**
 * Tests of what an auditor can learn about the origin of stored values, also after the event has expired and after an
 * erasure. The tests follow one sequence of steps.
 */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { Role } from "@device-risk-signals/admin-api";
import { objects, runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import type { PastEvent } from "../../../../../e2e/support/past-event.ts";
import { advanceClock } from "../../../../../e2e/support/test-clock.ts";
import { attestationSigner } from "../../runtime/attestation-signer.ts";
import { sealFeatures } from "../../store/crypto/seal-features.fixture.ts";
import { readEvent } from "../../store/events/read-events.ts";
import { attestDue, attestNext, type AttestPorts } from "../../features/attest.ts";
import { encodeFeatures } from "../../features/feature-payload.ts";
import { insertFeatureRows } from "../../features/feature-rows.ts";
import { inTransaction } from "../../store/postgres/database.ts";
import { LOCKS } from "../../store/postgres/locks.ts";
import { FOUND, REASON, useFeatureScene } from "./feature-scene.fixture.ts";

const DAY_MS = 86_400_000;
const TODAY = new Date().toISOString().slice(0, 10);

const { opened, listener, runners, applyCoverage, drs, extract, store } = useFeatureScene();
let event: PastEvent;
let erased: PastEvent;
/** An event whose stored value differs from the value that its features give. */
let wrong: PastEvent;
/** An event of an account that is restricted on the day of the attestation. */
let restricted: PastEvent;
/** An event whose value is stored after the attestation has started. */
let late: PastEvent;

const explain = (...args: readonly string[]) => drs("feature", "explain", ...args);

/** Runs a step at most once. A test first runs the steps that it needs, so it can also run alone. */
const once = <T>(step: () => Promise<T>): (() => Promise<T>) => {
  let result: Promise<T> | undefined;
  return () => (result ??= step());
};

async function storeWrong(): Promise<PastEvent> {
  const stored = await store("customer-3", true);
  const { pool, featureSealer } = opened.system;
  const sealed = (await readEvent(pool, stored))?.sealedUnder;
  const keyId = sealed && "keyId" in sealed ? sealed.keyId : "";
  const results = [{ state: "omitted", inputs: ["omitted:field-absent"] }] as const;
  const values = encodeFeatures(Buffer.from(stored.exact), results, 1, Buffer.of());
  const payload = await sealFeatures(featureSealer, { ...stored, layer: 1 }, keyId, values);
  const row = { ...stored, layer: 1, keyId, payload };
  await inTransaction(pool, (transaction) => insertFeatureRows(transaction, [row]));
  return stored;
}

beforeAll(async () => {
  event = await store("customer-1", true);
  erased = await store("customer-2", true);
  await extract();
  wrong = await storeWrong();
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
        hash: FOUND.hash,
        program: FOUND.text,
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

it("verification computes stored values again under the policy of their time, and runs archived fixtures on two engines", async () => {
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

/** Adds layers that ended before any event was received. */
const addEndedLayers = (first: number, last: number): Promise<unknown> =>
  opened.owner.query(
    "insert into layer select n, 1, '{found@1}', '2020-01-01', '2020-01-02' from generate_series($1::int, $2::int) n",
    [first, last],
  );

/**
 * @returns for each of three attempts whether it attested something. The first attempt is too early, and the third one
 * finds nothing left.
 */
const attest = once(async () => {
  const { system } = opened;
  restricted = await store("restricted", true);
  await extract();
  const order = ["--account", "restricted", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
  const { restriction_id } = await drs("restriction", "add", ...order);
  late = await store("late", true);
  const sign: AttestPorts["sign"] = async (statement) => {
    await extract();
    return attestationSigner(system)(statement);
  };
  const ports = { ...system, sign, runners };
  const isEarly = await attestNext(ports);
  await addEndedLayers(1_000, 1_000);
  await advanceClock(opened.environment, 29.5 * DAY_MS);
  await opened.owner.query("select pg_advisory_lock($1)", [LOCKS.attestation]);
  const onError = (error: unknown): void => void listener.errors.push(error);
  await attestDue({ ...ports, onError }, new AbortController().signal);
  await opened.owner.query("select pg_advisory_unlock($1)", [LOCKS.attestation]);
  const hasAttested = [isEarly, await attestNext(ports), await attestNext(ports)];
  const lifting = ["--informed-on", TODAY, "--reason", "it is resolved", "--yes"];
  await drs("restriction", "lift", String(restriction_id), ...lifting);
  return hasAttested;
});

it("a single server attests values shortly before their events expire, and does so once, even if other values are stored at that time", async () => {
  expect(await attest()).toEqual([false, true, false]);
  const { stdout } = await runWithBreakGlass(opened.environment, "feature", "attestation", "list", "--json");
  const listed = objects(stdout).map(({ equal, rows, layer }) => ({ equal, rows, layer }));
  expect(listed, "none for a layer that had ended").toEqual([{ equal: 2, rows: 4, layer: 1 }]);
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

it("an explanation names an attestation only for a value that was stored before it, and does not call a row different that was not compared", async () => {
  await expire();
  expect(await explain(late.eventId, "found")).toMatchObject({ values: [{ value: true, attestation: null }] });
  for (const { eventId } of [restricted, wrong]) {
    expect(await explain(eventId, "found")).toMatchObject({ values: [{ attestation: { is_included: false } }] });
    const { stdout } = await runWithBreakGlass(opened.environment, "feature", "explain", eventId, "found");
    expect(stdout).toMatch(
      /^Recomputed \S+: not among the rows that were equal \(restricted, unreadable or different /m,
    );
  }
});

const erase = once(() => drs("erase", "run", "--account", "customer-2", "--reason", "request 17", "--yes"));

it("an erased account shows only the receipts of its erasures", async () => {
  const { erasure_id } = await erase();
  const audited = { account: "customer-2" };
  const [auditor, investigator] = [await listener.client(["auditor"]), await listener.client(["investigator"])];
  expect(await auditor.call("listAudit", audited)).toMatchObject({ erasures: [{ erasure_id, kind: "account" }] });
  expect(await investigator.call("listAudit", audited), "only own entries").toMatchObject({
    entries: [],
    erasures: [],
  });
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

it("an analyst learns of an erasure no more than of an event that does not exist", async () => {
  await erase();
  const learnt = async (role: Role, event_id: string) => {
    const client = await listener.client([role], { person: `${role}-of-${event_id}` });
    const answer = await client.call("explainFeature", { event_id, feature: "found" }).catch(String);
    const { entries } = await client.call("listAudit", {});
    return { answer, audited: entries.map(({ operation, outcome, detail }) => [operation, outcome, detail]) };
  };
  const none = "019a0000-0000-7000-8000-000000000000";
  for (const role of ["analyst", "investigator"] as const) {
    const ofNone = await learnt(role, none);
    expect(ofNone.audited).toMatchObject([["feature.explain", "not-found", { feature: "found" }]]);
    expect(await learnt(role, erased.eventId)).toEqual(ofNone);
  }
  expect(await learnt("auditor", erased.eventId)).toMatchObject({ answer: { status: "erased" } });
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

  it("is also verified and listed after 1,000 other ones", async () => {
    await addEndedLayers(1_001, 2_000);
    await opened.owner.query(
      "insert into attestation select partition_id, n, attested_at, rows, equal, root, leaves, statement " +
        "from attestation cross join generate_series(1001, 2000) n",
    );
    const { code, stdout } = await verify();
    expect(code, "the signatures are of another layer").toBe(3);
    expect(objects(stdout).map(({ layer }) => layer)).toEqual([
      1,
      ...Array.from({ length: 1_000 }, (_, n) => 1_001 + n),
    ]);
    const list = ["feature", "attestation", "list", "--json", "--limit", "0"];
    expect(objects((await runWithBreakGlass(opened.environment, ...list)).stdout)).toHaveLength(1_001);
  });
});
