/** Tests of exports of feature values from labels, and of their recalls. */
import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EventExportManifest, FeatureExportManifest, Role } from "@device-risk-signals/admin-api";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { objects, type Printed, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { AWAITED_LOCKS } from "../../../../e2e/support/database.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { spawnDrs } from "../../../../e2e/support/server.ts";
import { rounds } from "../../../../e2e/support/soak.ts";
import { advanceClock } from "../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { adoptFeatures, proposeFeatures } from "../features/decisions.ts";
import type { Evidence } from "../features/evidence.ts";
import { extractNext } from "../features/extraction-worker.ts";
import { LayerRunners } from "../features/layer-runners.ts";
import { createParserOf } from "../features/read-inputs.ts";
import { inOwnerTransaction, inTransaction } from "../postgres/database.ts";
import { verifyReceipt } from "../lifecycle/receipts/receipt-signer.ts";
import { useAdminListener } from "../admin/admin-scene.fixture.ts";
import { findOpenCase } from "../cases/cases.ts";
import { beginEventExport } from "./export-events.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const listener = useAdminListener(() => opened.system);
const runners = new LayerRunners({ graceMs: 100 });
const parserOf = createParserOf((error) => expect.unreachable(String(error)));
const DECIDER = { actor: "A. Analyst", via: "direct", reason: "a review" } as const;
const EVIDENCE: Evidence = { days: 7, events: 0, is_limited: false, coverage: [], refused: [] };
const SU = "({ su }) => su.state === 'observed' ? su.value : null";
const DAY_MS = 86_400_000;
const FEATURES = "root@1,never@1";
let past: Past;

beforeAll(async () => {
  const periods = { raw_retention: "P30D", derived_retention: "P1Y" };
  const purposes = ["default", "other"].map((id) => ({ id, title: "t", legal_basis: "l", owner: "o", ...periods }));
  const file = join(folder(), "policy.yaml");
  await writeFile(file, JSON.stringify({ purposes, actions: {}, unmapped: "default" }));
  await drs("purpose", "apply", file, "--yes");
  past = new Past(opened.system);
  const { system } = opened;
  const bundles = ["root", "never", "others"].map((id) => bundleOf(SU, { id, purposes: ["default", "other"] }));
  await inOwnerTransaction(system.administration, (owner) =>
    proposeFeatures(owner, system.audit, bundles, EVIDENCE, DECIDER),
  );
  const adopt = (name: string, purpose: { code: number; id: string }): Promise<number> =>
    inOwnerTransaction(system.administration, (owner) =>
      adoptFeatures(owner, system, { features: [name], purpose, evidence: EVIDENCE, acceptsRefusals: false }, DECIDER),
    );
  await adopt("root@1", { code: 1, id: "default" });
  await adopt("others@1", { code: 2, id: "other" });
});
afterAll(async () => {
  await past.close();
  await runners.close();
});

const exactly = (data: object): string =>
  JSON.stringify({ probes: { os_integrity: { status: "success", data } }, session_id: "s" });

async function store(account: string, found?: boolean, hoursAgo = 0, attributes = {}): Promise<PastEvent> {
  const data = found === undefined ? {} : { suBinaryFound: found };
  return past.store(hoursAgo, { account, ...attributes }, exactly(data));
}

async function extract(): Promise<void> {
  const { pool, sealer, featureSealer } = opened.system;
  const onError = (error: unknown): never => {
    throw error;
  };
  while (await extractNext({ pool, sealer, featureSealer, runners, parserOf, retrySeconds: 0, onError }));
}

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(opened.environment, ...args);

async function done(...args: readonly string[]): Promise<Record<string, unknown>[]> {
  const run = await drs(...args, "--json");
  expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
  return objects(run.stdout);
}

const path = (name: string): string => join(folder(), name);
const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();

async function labelFile(name: string, ...rows: readonly string[]): Promise<string> {
  const file = path(`${name}.csv`);
  await writeFile(file, ["account,action_id,event_id,label_time,label", ...rows, ""].join("\n"));
  return file;
}

interface Asked {
  readonly labels: string;
  readonly out: string;
  readonly features?: string;
  readonly clock?: string;
}

const words = (text: string): readonly string[] => text.split(" ");

const exportArguments = ({ labels, out, features = "root@1", clock = "received" }: Asked): readonly string[] => [
  ...words(`export run --features ${features} --purpose default --clock ${clock} --format jsonl --expires 2999-01-31`),
  "--recipient",
  "fraud team",
  "--reason",
  "model 4711",
  "--labels",
  labels,
  "--out",
  path(out),
];

async function run(wanted: Asked): Promise<FeatureExportManifest> {
  const [manifest] = await done(...exportArguments(wanted));
  return manifest as unknown as FeatureExportManifest;
}

async function read(name: string): Promise<Record<string, unknown>[]> {
  return objects(await readFile(path(name), "utf8"));
}

const repeat = async (id: string, labels: string, out: string): Promise<Record<string, unknown> | undefined> =>
  (await done("export", "repeat", id, "--labels", labels, "--reason", "a check", "--out", path(out)))[0];

describe("an export", () => {
  it("has one row for each label in order, with the values as of the time of the label", async () => {
    const first = await store("ordered", true, 6);
    await store("ordered", false, 2);
    const silent = await store("silent", undefined, 2);
    await store("late", true, 2);
    await extract();
    const labels = await labelFile(
      "ordered",
      `ordered,,,${ago(1)},fraud`,
      `ordered,,,${ago(3)},good`,
      `ordered,,,${ago(7)},good`,
      `,${silent.actionId},,${ago(1)},good`,
      `,,${first.eventId},${ago(1)},"a, b"`,
      `silent,,${first.eventId},${ago(1)},good`,
    );
    const manifest = await run({ labels, out: "ordered.jsonl" });
    const shown = (await read("ordered.jsonl")).map((row) => [
      row["row"],
      row["label"],
      row["root__v1"],
      row["root__v1__state"],
    ]);
    expect(shown).toEqual([
      [1, "fraud", false, "observed"],
      [2, "good", true, "observed"],
      [3, "good", null, "no-row"],
      [4, "good", null, "omitted"],
      [5, "a, b", true, "observed"],
      [6, "good", null, "no-row"],
    ]);
    expect(manifest).toMatchObject({ labels: { rows: 6 }, file: { rows: 6 }, empty_rows: 2, recipient: "fraud team" });
    expect(manifest.columns[0]?.states).toEqual({ observed: 3, "no-row": 2, omitted: 1 });
    expect(JSON.parse(await readFile(path("ordered.jsonl.manifest.json"), "utf8"))).toEqual(manifest);
  });

  it("contains, by the clock of known values, nothing that was extracted after the time of the label", async () => {
    await store("known", true, 2);
    await extract();
    const labels = await labelFile("known", `known,,,${ago(1)},good`, `known,,,${ago(0)},good`);
    await run({ labels, out: "known.jsonl", clock: "known" });
    expect((await read("known.jsonl")).map((row) => row["root__v1"])).toEqual([null, true]);
    await run({ labels, out: "received.jsonl" });
    expect((await read("received.jsonl")).map((row) => row["root__v1"])).toEqual([true, true]);
    // An event that was received before the label, but whose values came later, does not hide an earlier event.
    await store("known", false, 1);
    const between = await labelFile("between", `known,,,${ago(0)},good`);
    await extract();
    await run({ labels: between, out: "between.jsonl", clock: "known" });
    expect((await read("between.jsonl")).map((row) => row["root__v1"])).toEqual([true]);
  });

  it("reports bad rows by their line numbers before anything is recorded or written", async () => {
    await store("good", true);
    await extract();
    const labels = await labelFile(
      "bad",
      `good,,,${ago(0)},=cmd()`,
      `good,,,2999-01-01,good`,
      `unknown,,,${ago(1)},good`,
      `good,,,${ago(1)},good`,
      `good,,,2026-01-01,good`,
      `good,,,2026-01-01,fraud`,
    );
    const before = (await done("export", "list")).length;
    const { code, stderr } = await drs(...exportArguments({ labels, out: "bad.jsonl" }));
    expect(code).toBe(1);
    const lines = stderr.split("\n").filter((line) => line.includes(" line ") || line.includes("  line"));
    expect(lines.map((line) => line.trim())).toEqual([
      "line 2: label is a formula",
      "line 3: label_time is in the future",
      "line 7: it has the subject and the time of line 6",
      "line 4: the account is not known",
    ]);
    await expect(readFile(path("bad.jsonl"))).rejects.toThrow("ENOENT");
    expect(await done("export", "list")).toHaveLength(before);
  });

  it("has no feature of another purpose, and none that was never adopted", async () => {
    const labels = await labelFile("purpose", `good,,,${ago(0)},good`);
    for (const features of ["others@1", FEATURES]) {
      const { code, stderr } = await drs(...exportArguments({ labels, out: "purpose.jsonl", features }));
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("Never adopted") as string });
    }
  });

  it("leaves restricted accounts without values", async () => {
    await store("restricted", true);
    await extract();
    const order = ["--account", "restricted", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
    await done("restriction", "add", ...order);
    const labels = await labelFile("restricted", `restricted,,,${ago(0)},good`);
    await run({ labels, out: "restricted.jsonl" });
    expect(await read("restricted.jsonl")).toMatchObject([{ root__v1: null, root__v1__state: "no-row" }]);
  });

  it("is in the audit with its reason, and in the list with its recipient", async () => {
    const labels = await labelFile("audited", `good,,,${ago(0)},good`);
    const { export_id } = await run({ labels, out: "audited.jsonl" });
    const [listed] = await done("export", "list", "--limit", "1");
    expect(listed).toMatchObject({
      export_id,
      recipient: "fraud team",
      state: "handed out",
      recalled_rows: 0,
      rows: 1,
    });
    const audit = await done("audit", "list", "--limit", "5");
    expect(audit).toContainEqual(expect.objectContaining({ operation: "export.run", reason: "model 4711" }));
  });

  it("is repeated with the same bytes, although more values were stored since then", async () => {
    await store("repeated", true, 1);
    await extract();
    const labels = await labelFile("repeated", `repeated,,,${ago(0)},good`);
    const { export_id, file } = await run({ labels, out: "repeated.jsonl" });
    await store("repeated", false, 0.5);
    await extract();
    expect(await repeat(export_id, labels, "again.jsonl")).toMatchObject({ same: true, sha256: file.sha256 });
    const others = await labelFile("others", `repeated,,,${ago(1)},good`);
    const wrong = await drs(
      "export",
      "repeat",
      export_id,
      "--labels",
      others,
      "--reason",
      "a check",
      "--out",
      path("x"),
    );
    expect(wrong.stderr).toContain("are not those of the export");
    await expect(readFile(path("x"))).rejects.toThrow("ENOENT");
  });

  it("is repeated without the values that it lacked, such as those of an account that was restricted then", async () => {
    await store("lifted", true, 1);
    await store("kept", true, 1);
    await extract();
    const order = ["--account", "lifted", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
    const [restriction] = await done("restriction", "add", ...order);
    const labels = await labelFile("lifted", `lifted,,,${ago(0)},good`, `kept,,,${ago(0)},good`);
    const { export_id, file } = await run({ labels, out: "lifted.jsonl" });
    const lifting = ["--informed-on", ago(0).slice(0, 10), "--reason", "it is resolved", "--yes"];
    await done("restriction", "lift", String(restriction?.["restriction_id"]), ...lifting);
    const again = await repeat(export_id, labels, "lifted-again.jsonl");
    expect(await read("lifted-again.jsonl")).toMatchObject([
      { root__v1: null, root__v1__state: "no-row" },
      { root__v1: true, root__v1__state: "observed" },
    ]);
    expect(again).toMatchObject({ same: true, sha256: file.sha256 });
  });

  it("is neither recorded nor written if a file of an earlier one is in the way", async () => {
    const labels = await labelFile("in-the-way", `good,,,${ago(0)},good`);
    const before = await done("export", "list");
    for (const left of ["way.jsonl.partial", "way.jsonl.manifest.json.partial"]) {
      await writeFile(path(left), "");
      const { code, stderr } = await drs(...exportArguments({ labels, out: "way.jsonl" }));
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`${left} is already there`) as string,
      });
      await rm(path(left));
    }
    expect(await done("export", "list")).toHaveLength(before.length);
  });

  it("waits for values that are being stored", async () => {
    const labels = await labelFile("waits", `good,,,${ago(0)},good`);
    const exporting = await inTransaction(opened.system.pool, async (batch) => {
      await batch.query("select lock_ingestion_shared()");
      const started = run({ labels, out: "waits.jsonl" });
      await until(async () => ((await opened.owner.query(`select ${AWAITED_LOCKS}`)).rowCount ?? 0) > 0);
      return { started };
    });
    expect((await exporting.started).file.rows).toBe(1);
  });

  it("is verified by its bytes, and a file that differs or has no manifest is an error", async () => {
    const labels = await labelFile("verified", `good,,,${ago(0)},good`);
    const { export_id, file } = await run({ labels, out: "verified.jsonl" });
    const [verified] = await done("export", "verify", path("verified.jsonl"));
    expect(verified).toMatchObject({ export_id, same: true, bytes: file.bytes, recalled_rows: [] });
    await writeFile(path("verified.jsonl"), "{}\n");
    expect(await drs("export", "verify", path("verified.jsonl"))).toMatchObject({ code: 1 });
    const unfinished = await drs("export", "verify", labels);
    expect(unfinished.stderr).toContain("without it, an export is not whole");
  });
});

it("the file of a killed export is absent or complete, and another export next to it is complete", async () => {
  await store("killed", true, 2);
  await extract();
  const start = Date.now() - 3_600_000;
  const times = Array.from({ length: 3_000 }, (_, index) => new Date(start + index).toISOString());
  const labels = await labelFile("killed", ...times.map((time) => `killed,,,${time},good`));
  const { sha256 } = (await run({ labels, out: "reference.jsonl" })).file;
  let begun = 0;
  const readIfThere = (name: string) => readFile(path(name)).catch(() => undefined);
  for (let round = 1; round <= rounds(1, 100); round++) {
    const [out, next] = [`killed-${round}.jsonl`, `next-${round}.jsonl`];
    const child = spawnDrs(opened.environment, exportArguments({ labels, out }));
    const ended = new Promise((resolve) => child.once("close", resolve));
    const other = round % 10 === 1 ? run({ labels, out: next }) : undefined;
    await until(async () => child.exitCode !== null || (await readdir(folder())).some((name) => name.startsWith(out)));
    await sleep(Math.random() * 100);
    child.kill("SIGKILL");
    await ended;
    if (other) expect((await other).file.sha256).toBe(sha256);
    const [file, manifest] = [await readIfThere(out), await readIfThere(`${out}.manifest.json`)];
    if (file) expect(createHash("sha256").update(file).digest("hex")).toBe(sha256);
    else expect(manifest, "the manifest comes last").toBeUndefined();
    begun += file || (await readIfThere(`${out}.partial`)) ? 1 : 0;
  }
  expect(begun, "none was killed before it began to write").toBe(rounds(1, 100));
});

/** Runs commands of a person through the admin API. Another person approves what they request. */
async function through(person: string, ...roles: readonly Role[]) {
  const remote = { DRS_ADMIN_URL: listener.url, DRS_ADMIN_TOKEN: await listener.token(roles, { person }) };
  const ask = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(remote, ...args);
  const approved = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const waiting = await ask(...args);
    expect(waiting, waiting.stderr).toMatchObject({ code: 5, stdout: "" });
    const approvalId = /Approval (\S+) by privacy/.exec(waiting.stderr)?.[1] ?? "";
    const { pool, clock, approvals } = opened.system;
    const decision = { approvalId, roles: ["privacy"], decision: "approved" } as const;
    expect(await approvals.decide(pool, clock, { ...decision, person })).toBe(false);
    expect(await approvals.decide(pool, clock, { ...decision, person: "petra" })).toBe(true);
    const given = await ask(...args, "--json");
    expect(given).toMatchObject({ code: 0, stderr: "" });
    return objects(given.stdout)[0] ?? {};
  };
  return { ask, approved };
}

describe("an export through the admin API", () => {
  it("is approved by a second person, and has the bytes that a command on the database writes", async () => {
    await store("remote", true, 1);
    await extract();
    const labels = await labelFile("remote", `remote,,,${ago(0)},good`);
    const { file, labels: checked } = await run({ labels, out: "direct.jsonl" });
    const { ask, approved } = await through("anna", "analyst", "privacy");
    const manifest = await approved(...exportArguments({ labels, out: "remote.jsonl" }));
    expect(manifest).toMatchObject({ kind: "features", file, labels: checked });
    expect(await readFile(path("remote.jsonl"))).toEqual(await readFile(path("direct.jsonl")));
    expect((await ask(...exportArguments({ labels, out: "more.jsonl" }))).code, "an approval is used once").toBe(5);

    const id = String(manifest["export_id"]);
    const again = [
      "export",
      "repeat",
      id,
      "--labels",
      labels,
      "--reason",
      "audit 4711",
      "--out",
      path("remote-again.jsonl"),
    ];
    expect(await approved(...again)).toMatchObject({ same: true, rows_left_out: [] });
    for (const reading of [
      ["list", "--limit", "2"],
      ["verify", path("remote.jsonl")],
      ["recall", id],
    ]) {
      const args = ["export", ...reading, "--json"];
      expect(await ask(...args), args.join(" ")).toEqual(await drs(...args));
    }
    expect((await ask("export", "acknowledge", id, "--reason", "letter of 3 March")).stderr).toContain(
      "no open recall",
    );
    const entries = await done("audit", "list", "--limit", "30");
    expect(entries).toContainEqual(
      expect.objectContaining({
        operation: "export.run",
        via: "api",
        detail: expect.objectContaining({ export_id: id }) as object,
      }),
    );
  });

  it("reports bad rows of labels, and writes nothing", async () => {
    const { ask } = await through("anna", "analyst");
    const labels = await labelFile("bad-remote", `good,,,2999-01-01,good`);
    const wanted = exportArguments({ labels, out: "bad-remote.jsonl" });
    expect(await ask(...wanted)).toEqual(await drs(...wanted));
    await expect(readFile(path("bad-remote.jsonl"))).rejects.toThrow("ENOENT");
  });
});

describe("an export of raw events", () => {
  const rawOf = (caseId: string, out: string, ...selected: readonly string[]): readonly string[] => [
    ...words(`export raw --case ${caseId} --recipient police --expires 2999-01-31 --out ${path(out)}`),
    ...selected,
  ];
  const openCase = async (...covers: readonly string[]): Promise<string> => {
    const opening = ["case", "open", ...covers, "--category", "dispute", "--reason", "dispute 4711"];
    return String((await done(...opening))[0]?.["case_id"]);
  };
  const ofAccount = ["--account", "raw"];

  it("has the exact bytes, marks held events, leaves out restricted ones, and is in the audit event by event", async () => {
    const exact = `{"n": 1.0, "text": "\u00e4\\u0000", "probes": {}}\n`;
    const events = [
      await past.store(3, { account: "raw" }, exact),
      await store("raw", true, 2, { actionType: "login" }),
    ];
    const [hold] = await done(
      "hold",
      "add",
      "--event",
      events[0]?.eventId ?? "",
      ...words("--approver J --review 2999-01-31"),
      "--reason",
      "dispute 4711",
    );
    await store("hidden", true, 1);
    await done(
      "restriction",
      "add",
      "--account",
      "hidden",
      ...words("--article 18 --approver J"),
      "--reason",
      "disputed 17",
    );
    const of = await openCase(...ofAccount);
    const [manifest] = await done(...rawOf(of, "raw.ndjson", ...ofAccount));
    expect(manifest).toMatchObject({ kind: "events", case_id: of, file: { rows: 2 }, held: 1, unreadable: 0 });
    const lines = await read("raw.ndjson");
    expect(lines).toMatchObject([
      { row: 1, event_id: events[1]?.eventId, purpose: "default", held: false },
      { row: 2, event_id: events[0]?.eventId, held: true, bytes: Buffer.byteLength(exact) },
    ]);
    const bytes = lines.map((line) => Buffer.from(String(line["exact_base64"]), "base64").toString());
    expect(bytes).toEqual([events[1]?.exact, events[0]?.exact]);
    const { rows } = await opened.owner.query(
      `select operation, case_id::text, event_ids::text[] from audit_entry
        where operation in ('export.raw', 'event.export') order by at, entry_id`,
    );
    const ids = lines.map(({ event_id }) => event_id);
    expect(rows).toEqual([
      { operation: "export.raw", case_id: of, event_ids: null },
      { operation: "event.export", case_id: of, event_ids: ids },
    ]);
    expect(await done("export", "verify", path("raw.ndjson"))).toMatchObject([{ same: true }]);
    expect(await done("case", "list")).toContainEqual(expect.objectContaining({ case_id: of, events_opened: 2 }));

    const one = await done(...rawOf(of, "one.ndjson", ...ofAccount, "--type", "login", "--from", "2020-01-31"));
    expect(one).toMatchObject([{ file: { rows: 1 } }]);
    expect(await done(...rawOf(of, "ids.ndjson", "--event", ids.join(",")))).toMatchObject([{ file: { rows: 2 } }]);
    const hidden = await openCase("--account", "hidden");
    expect((await drs(...rawOf(hidden, "no.ndjson", "--account", "hidden"))).stderr).toContain("No event is selected");
    await done("hold", "lift", String(hold?.["hold_id"]), "--reason", "it was resolved", "--yes");
  });

  it("beyond its case needs an approval, which has the number of these events", async () => {
    await store("raw-2", true, 1, { actionType: "transfer" });
    const wanted = ["--type", "transfer"];
    const direct = await drs(...rawOf(await openCase(...ofAccount), "beyond.ndjson", ...wanted));
    expect(direct).toMatchObject({ code: 1, stderr: expect.stringContaining("does not cover 1 event") as string });
    const { ask, approved } = await through("ines", "investigator");
    const opening = ["case", "open", ...ofAccount, "--category", "dispute", "--reason", "dispute 4712", "--json"];
    const of = String(objects((await ask(...opening)).stdout)[0]?.["case_id"]);
    expect(await approved(...rawOf(of, "beyond.ndjson", ...wanted))).toMatchObject({ case_id: of, file: { rows: 1 } });
    expect((await read("beyond.ndjson"))[0]).toMatchObject({ account: "raw-2", action_type: "transfer" });
    const [approval] = await done("approval", "list", "--limit", "1");
    expect(approval).toMatchObject({
      operation: "export.raw",
      parameters: { beyond_case: 1 },
      plan: { events: 1, accounts: 1, beyond_case: 1 },
      state: "used",
    });
    expect(JSON.stringify(approval)).not.toContain('"raw"');
    expect((await ask(...rawOf(await openCase(...ofAccount), "x", ...wanted))).stderr, "the case of another").toContain(
      "case",
    );
  });

  it("ends with its case", async () => {
    const { system } = opened;
    const id = await openCase(...ofAccount);
    const person = String((await done("case", "list", "--limit", "1"))[0]?.["opened_by"]);
    const of = await findOpenCase(system.pool, system.clock, id, person);
    if (!of) throw new Error("the case is open");
    const order = {
      recipient: "police",
      expiresOn: "2999-01-31",
      detail: {},
      account: "raw",
      agent: DECIDER,
      case: of,
    };
    const selection = { filter: { account: "raw", to: Date.now() } };
    const parts = await beginEventExport({ ...system, onProgress: () => {} }, { ...order, selection }, async () => {});
    await drs("case", "close", id);
    await expect(Array.fromAsync(parts)).rejects.toMatchObject({ code: "state-conflict" });
  });

  it("is recalled when an account is erased, and is not repeated", async () => {
    await store("raw-3", true, 1);
    const [made] = await done(...rawOf(await openCase("--account", "raw-3"), "recalled.ndjson", "--account", "raw-3"));
    const { export_id } = made as unknown as EventExportManifest;
    const [erasure] = await done("erase", "run", "--account", "raw-3", "--reason", "request 17", "--yes");
    expect(erasure).toMatchObject({ recalls: [{ export_id, recipient: "police", rows: 1 }] });
    expect(await done("export", "recall", export_id)).toMatchObject([{ rows: [1], acknowledged_at: null }]);
    const labels = await labelFile("raw", `good,,,${ago(0)},good`);
    const again = await drs(
      "export",
      "repeat",
      export_id,
      "--labels",
      labels,
      "--reason",
      "a check",
      "--out",
      path("y"),
    );
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("run drs export raw again") as string });
  });
});

describe("an erasure after an export", () => {
  it("recalls rows by their numbers until the recall is acknowledged, and a repetition lacks the rows", async () => {
    await store("erased", true, 1);
    const keptEvent = await store("kept", true, 1);
    await extract();
    const labels = await labelFile(
      "erased",
      `erased,,,${ago(0)},fraud`,
      `kept,,,${ago(0)},good`,
      `erased,,,${ago(0.5)},fraud`,
      `erased,,,${ago(24)},fraud`,
    );
    const { export_id } = await run({ labels, out: "erased.jsonl" });
    expect(await done("export", "recall", export_id)).toEqual([]);
    await done("account", "export", "--account", "erased", "--out", path("account"), "--reason", "request 16");
    expect(await read("account/exports.ndjson"), "an access request names the recipient").toMatchObject([
      { export_id, purpose: "default", features: ["root@1"], recipient: "fraud team", rows: 2 },
    ]);
    const handedOut = [{ export_id, recipient: "fraud team", rows: 2 }];
    expect(await done("erase", "plan", "--account", "erased"), "its plan names the export").toMatchObject([
      { exports: handedOut },
    ]);
    const [erasure] = await done("erase", "run", "--account", "erased", "--reason", "request 17", "--yes");
    expect(erasure).toMatchObject({ recalls: handedOut });
    expect((await drs("erase", "plan", "--account", "erased")).stdout, "a recall is planned once").not.toContain(
      "recall",
    );
    expect(await done("export", "list", "--limit", "1")).toMatchObject([{ export_id, recalled_rows: 2 }]);

    const { publicKey } = await opened.system.receipts();
    const [got] = await done("receipt", "get", String(erasure?.["erasure_id"]));
    const receipt = await verifyReceipt(String(got?.["receipt"]), publicKey);
    const recipient = "fraud team";
    expect(receipt["recalls"], "its receipt names the open recall").toEqual([
      { export_id, recipient, rows: 2, acknowledged_at: null },
    ]);

    const [recall] = await done("export", "recall", export_id);
    expect(recall).toMatchObject({ erasure_id: erasure?.["erasure_id"], rows: [1, 3], acknowledged_at: null });
    const signed = await verifyReceipt(String(recall?.["recall"]), publicKey);
    expect(signed).toMatchObject({ receipt: "recall", export_id, recipient: "fraud team", rows: [1, 3] });
    expect(JSON.stringify(signed)).not.toContain('"erased"');

    expect(await repeat(export_id, labels, "without.jsonl")).toMatchObject({ same: false, rows_left_out: [1, 3] });
    expect((await read("without.jsonl")).map(({ row }) => row)).toEqual([2, 4]);

    expect(await drs("export", "acknowledge", export_id, "--reason", "a letter")).toMatchObject({ code: 0 });
    expect(await done("export", "list", "--limit", "1")).toMatchObject([{ recalled_rows: 0 }]);
    const again = await drs("export", "acknowledge", export_id, "--reason", "a letter");
    expect(again, "is acknowledged once").toMatchObject({ code: 1 });

    await done("erase", "run", "--event", keptEvent.eventId, "--reason", "request 18", "--yes");
    expect(await done("export", "recall", export_id)).toMatchObject([{ rows: [1, 3] }, { rows: [2] }]);
  });

  it("recalls the rows even if the event and its values have expired, and a request stays open until its exports are recalled", async () => {
    await store("expired", true, 1);
    const single = await store("single", true, 1);
    await extract();
    const labels = await labelFile("expired", `expired,,,${ago(0)},fraud`, `single,,,${ago(0)},fraud`);
    const { export_id } = await run({ labels, out: "expired.jsonl" });
    // The second pass deletes the tombstone of the idempotency key.
    for (const days of [400, 40]) {
      await advanceClock(opened.environment, days * DAY_MS);
      await done("retention", "run", "--yes");
    }
    const [request] = await done("request", "add", "--account", "expired", "--kind", "erasure");
    const close = ["request", "close", String(request?.["request_id"]), "--outcome", "done", "--identity", "by mail"];
    expect((await drs(...close)).stderr).toContain("1 export has values of the account");
    const erased = await drs("erase", "run", "--account", "expired", "--reason", "request 19", "--yes");
    expect(await drs(...close)).toMatchObject({ code: 0 });
    const recalled = `1 row of the export to fraud team to recall: drs export recall ${export_id}\n`;
    expect(erased.stdout).toContain(recalled);
    const byEvent = await drs("erase", "run", "--event", single.eventId, "--reason", "request 20", "--yes");
    expect(byEvent.stdout, "nothing else is left of it").toContain(recalled);
  });
});
