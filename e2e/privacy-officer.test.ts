/**
 * Tests what happens to feature values when events expire, are erased or are held. Each test continues from the
 * previous one.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleOf } from "../packages/features/src/bundle.fixture.ts";
import { ExtractionWorker } from "../packages/server/src/features/extraction-worker.ts";
import { verifyReceipt } from "../packages/server/src/lifecycle/receipts/receipt-signer.ts";
import { objects, type Printed, runWithBreakGlass } from "./support/command.ts";
import { until } from "./support/embedded.ts";
import { Past, type PastEvent } from "./support/past-event.ts";
import { advanceClock } from "./support/test-clock.ts";
import { useTestSystem } from "./support/test-system.ts";
import { useFolder } from "./support/use-folder.ts";

const DAY_MS = 86_400_000;
const PAYMENTS = 2;
const MARKETING = 3;
const REASON = ["--reason", "review 4711"];
const SU_FOUND_PROGRAM = "({ su }) => su.state === 'observed' ? su.value : null";
const EXACT_OBSERVATIONS = JSON.stringify({
  probes: { os_integrity: { status: "success", data: { suBinaryFound: true } } },
  session_id: "s",
});

const folder = useFolder();
const testSystem = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const errors: unknown[] = [];
let past: Past;
let worker: ExtractionWorker;
/** The path of the label file. Row 1 is about the account that is erased, and row 2 about another account. */
let labelFile: string;
let exportId: string;
let erasureId: string;

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(testSystem.environment, ...args);

async function runSuccessfully(...args: readonly string[]): Promise<Record<string, unknown>[]> {
  const run = await drs(...args, "--json");
  expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
  return objects(run.stdout);
}

const path = (name: string): string => join(folder(), name);
const store = (account: string, purpose = PAYMENTS): Promise<PastEvent> =>
  past.store(0, { account, purpose }, EXACT_OBSERVATIONS);
const rowsOf = async (account: string): Promise<number | null> =>
  (await testSystem.owner.query("select from feature_row where account = $1", [account])).rowCount;
const computed = (): Promise<void> =>
  until(async () => (await testSystem.owner.query("select from extraction_due")).rowCount === 0);

beforeAll(async () => {
  const texts = { title: "t", legal_basis: "l", owner: "o", raw_retention: "P30D", derived_retention: "P1Y" };
  const purposes = ["default", "payments", "marketing"].map((id) => ({ ...texts, id }));
  await writeFile(path("policy.yaml"), JSON.stringify({ purposes, actions: {}, unmapped: "default" }));
  await runSuccessfully("purpose", "apply", path("policy.yaml"), "--yes");
  past = new Past(testSystem.system);
  const bundles = ["first", "second"].map((id) => bundleOf(SU_FOUND_PROGRAM, { id }));
  await writeFile(path("bundles.json"), JSON.stringify(bundles));
  await runSuccessfully("feature", "propose", path("bundles.json"), ...REASON);
  await runSuccessfully("feature", "adopt", "first@1", "--purpose", "payments", ...REASON);
  worker = new ExtractionWorker({ ...testSystem.system, onError: (error) => void errors.push(error) });
  for (const account of ["erased", "other", "held"]) await store(account);
  await computed();
  labelFile = path("labels.csv");
  const rows = ["erased", "other"].map((account) => `${account},${new Date().toISOString()},fraud`);
  await writeFile(labelFile, ["account,label_time,label", ...rows, ""].join("\n"));
  const wanted = ["--features", "first@1", "--purpose", "payments", "--clock", "received", "--format", "jsonl"];
  const expires = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const given = ["--recipient", "fraud team", "--expires", expires, "--out", path("out.jsonl"), ...REASON];
  const [manifest] = await runSuccessfully("export", "run", "--labels", labelFile, ...wanted, ...given);
  exportId = String(manifest?.["export_id"]);
});
afterAll(async () => {
  await worker.close();
  await past.close();
  expect(errors).toEqual([]);
});

it("a purpose never gets a feature of another purpose", async () => {
  const { eventId } = await store("erased", MARKETING);
  expect((await drs("feature", "adopt", "first@1", "--purpose", "marketing", ...REASON)).code).toBe(1);
  expect(await runSuccessfully("feature", "get", "--event", eventId)).toMatchObject([
    { purpose: "marketing", status: "excluded", reason: "no-layer", features: [] },
  ]);
});

it("the plan of an erasure counts feature values and exports", async () => {
  const recall = { export_id: exportId, recipient: "fraud team", rows: 1 };
  expect(await runSuccessfully("erase", "plan", "--account", "erased")).toMatchObject([
    { events: 2, features: 1, exports: [recall] },
  ]);
});

it("an erasure during a running backfill leaves no value of the account", async () => {
  for (let count = 0; count < 40; count++) await store("erased");
  await runSuccessfully("feature", "adopt", "second@1", "--purpose", "payments", ...REASON);
  const [run] = await runSuccessfully("feature", "backfill", "start", "--purpose", "payments", ...REASON);
  const [erasure] = await runSuccessfully("erase", "run", "--account", "erased", "--reason", "request 17", "--yes");
  erasureId = String(erasure?.["erasure_id"]);
  await until(async () => {
    const [status] = await runSuccessfully("feature", "backfill", "status", String(run?.["run_id"]));
    return status?.["state"] === "done";
  });
  await computed();
  expect(await rowsOf("erased")).toBe(0);
  expect((await drs("feature", "get", "--account", "erased")).code).toBe(1);
  expect(await runSuccessfully("feature", "get", "--account", "other")).toMatchObject([
    { status: "computed", features: [{ feature: "first@1" }, { feature: "second@1" }] },
  ]);
});

it("a repeated export lacks the person's rows, and the receipt names the open recall", async () => {
  const repeating = ["--labels", labelFile, "--out", path("again.jsonl"), "--reason", "audit"];
  expect(await runSuccessfully("export", "repeat", exportId, ...repeating)).toMatchObject([
    { same: false, rows_left_out: [1] },
  ]);
  expect(objects(await readFile(path("again.jsonl"), "utf8"))).toMatchObject([{ row: 2 }]);
  const { publicKey } = await testSystem.system.receipts();
  const [got] = await runSuccessfully("receipt", "get", erasureId);
  expect((await verifyReceipt(String(got?.["receipt"]), publicKey))["recalls"]).toMatchObject([
    { export_id: exportId, acknowledged_at: null },
  ]);
});

it("feature values outlive their events, and under a hold also an erasure, until the hold is lifted", async () => {
  const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
  const [hold] = await runSuccessfully("hold", "add", "--account", "held", ...why);
  expect((await drs("erase", "run", "--account", "held", "--reason", "request 18", "--yes")).code).toBe(3);
  expect((await testSystem.owner.query("select from held_feature")).rowCount).toBeGreaterThan(0);
  await advanceClock(testSystem.environment, 60 * DAY_MS);
  await runSuccessfully("retention", "run", "--yes");
  expect((await testSystem.owner.query("select from event")).rowCount).toBe(0);
  expect(await runSuccessfully("feature", "get", "--account", "other")).toMatchObject([
    { status: "computed", features: [{ state: "observed", value: true }, {}] },
  ]);
  await runSuccessfully("hold", "lift", String(hold?.["hold_id"]), "--reason", "settled", "--yes");
  await runSuccessfully("retention", "run", "--yes");
  expect((await testSystem.owner.query("select from held_feature")).rowCount).toBe(0);
  expect(await rowsOf("held")).toBe(0);
});
