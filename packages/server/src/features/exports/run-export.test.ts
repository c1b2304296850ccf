/** Tests of exports of feature values from labels. */
import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { AWAITED_LOCKS } from "../../../../../e2e/support/database.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { spawnDrs } from "../../../../../e2e/support/server.ts";
import { rounds } from "../../../../../e2e/support/soak.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { inTransaction } from "../../store/postgres/database.ts";
import { ago, useExports, words } from "./exports.fixture.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const { store, extract, drs, done, path, labelFile, run, read, through, exportArguments } = useExports(opened, folder);
const FEATURES = "root@1,never@1";

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
    expect(manifest).toMatchObject({ labels: { rows: 6 }, file: { rows: 6 }, empty_rows: 2, text_prefix: null });
    expect(manifest.columns).toEqual([
      {
        name: "root__v1",
        feature: "root@1",
        hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        meaning: "An example",
        type: "flag",
        unit: null,
        false_readings: ["none is known"],
        inputs: [],
        states: { observed: 3, "no-row": 2, omitted: 1 },
      },
    ]);
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

  it("shows when values were extracted to the microsecond in each format, as every read and a held copy do", async () => {
    const { eventId } = await store("exact", true, 1);
    await extract();
    const text = `to_char(extracted_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as extracted_at`;
    const extractedAt = async (table: string): Promise<unknown> =>
      (await opened.owner.query(`select ${text} from ${table} where event_id = $1`, [eventId])).rows[0];
    const stored = await extractedAt("feature_row");
    const labels = await labelFile("exact-labels", `exact,,,${ago(0)},good`);
    await run({ labels, out: "exact.jsonl" });
    expect(await read("exact.jsonl")).toMatchObject([stored]);
    const csv = exportArguments({ labels, out: "exact.csv" }).map((word) => (word === "jsonl" ? "csv" : word));
    expect(await done(...csv), "how to undo its escaping").toMatchObject([{ text_prefix: "'" }]);
    const [header = "", row = ""] = (await readFile(path("exact.csv"), "utf8")).split("\n");
    const at = header.split(",").indexOf("extracted_at");
    expect({ extracted_at: row.split(",")[at] }).toEqual(stored);
    expect(await done("feature", "get", "--event", eventId)).toMatchObject([{ features: [stored] }]);
    expect(await done("feature", "explain", eventId, "root@1")).toMatchObject([{ values: [stored] }]);
    await done("hold", "add", "--event", eventId, ...words("--reason dispute --approver J --review 2999-01-31"));
    expect((await drs("erase", "run", "--event", eventId, "--reason", "request 4711", "--yes")).code).toBe(3);
    expect(await extractedAt("held_feature")).toEqual(stored);
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
      "line 7: it has the same subject and time as line 6",
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

  it("is neither recorded nor written if a file of an earlier one is in the way", async () => {
    const labels = await labelFile("in-the-way", `good,,,${ago(0)},good`);
    const before = await done("export", "list");
    for (const left of ["way.jsonl.partial", "way.jsonl.manifest.json.partial"]) {
      await writeFile(path(left), "");
      const { code, stderr } = await drs(...exportArguments({ labels, out: "way.jsonl" }));
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(
          `${left} is from another export: if that export no longer runs, delete the file`,
        ) as string,
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
