/** Tests of exports with all events of a label, from which a reader computes windows. */
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { PastEvent } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { ago, useExports } from "./exports.fixture.ts";
import { MAX_EVENTS } from "./find-values.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const scene = useExports(opened, folder);
const { store, extract, drs, done, path, labelFile, run, read, repeat, through, exportArguments } = scene;
const ALL = ["--all-events"];

/** The row, the event and the value of each row of a file. */
const shown = async (name: string): Promise<unknown[]> =>
  (await read(name)).map((row) => [row["row"], row["event"], row["root__v1"]]);

describe("an export with all events", () => {
  let action: PastEvent;

  beforeAll(async () => {
    for (const hours of [40, 3, 20]) await store("history", hours !== 3, hours);
    action = await store("other", false, 3);
    await store("other", true, 2, { actionId: action.actionId });
    await extract();
  });

  it("has a row for each event up to the label, the newest first, and one for a label without events", async () => {
    const labels = await labelFile(
      "history",
      `history,,,${ago(1)},fraud`,
      `history,,,${ago(4)},good`,
      `history,,,${ago(200)},good`,
      `,${action.actionId},,${ago(1)},good`,
      `,,${action.eventId},${ago(1)},good`,
    );
    const manifest = await run({ labels, out: "history.jsonl", more: ALL });
    expect(await shown("history.jsonl")).toEqual([
      [1, 1, false],
      [1, 2, true],
      [1, 3, true],
      [2, 1, true],
      [2, 2, true],
      [3, null, null],
      [4, 1, true],
      [4, 2, false],
      [5, 1, false],
    ]);
    const times = (await read("history.jsonl")).slice(0, 3).map((row) => String(row["received_at"]));
    expect(times).toEqual(times.toSorted().toReversed());
    const history = { ms: 3_650 * 86_400_000, max_events: MAX_EVENTS, limited_labels: 0 };
    expect(manifest).toMatchObject({ history, labels: { rows: 5 }, file: { rows: 9 }, empty_rows: 1 });
    expect(await repeat(manifest.export_id, labels, "history-again.jsonl")).toMatchObject({ same: true });
    const [record] = await done("export", "list", "--limit", "1");
    expect(record).toMatchObject({ history_ms: history.ms, label_rows: 5, rows: 9 });
    expect((await done("audit", "list", "--limit", "5")).map(({ detail }) => detail)).toContainEqual(
      expect.objectContaining({ history_ms: history.ms }),
    );
  });

  it("has only those of the time before the label that was asked for", async () => {
    const labels = await labelFile("window", `history,,,${ago(0)},fraud`, `history,,,${ago(19)},good`);
    await run({ labels, out: "window.jsonl", more: ["--all-events", "25h"] });
    expect(await shown("window.jsonl")).toEqual([
      [1, 1, false],
      [1, 2, true],
      [2, 1, true],
      [2, 2, true],
    ]);
    const wrong = exportArguments({ labels, out: "wrong.jsonl", more: ["--all-events", "0"] });
    expect(await drs(...wrong)).toMatchObject({ code: 2 });
  });

  it("has, by the clock of known values, no event whose values came after the label", async () => {
    const labels = await labelFile("known", `history,,,${ago(1)},fraud`, `history,,,${ago(0)},fraud`);
    await run({ labels, out: "known.jsonl", clock: "known", more: ALL });
    expect((await shown("known.jsonl")).map((row) => (row as unknown[]).slice(0, 2))).toEqual([
      [1, null],
      [2, 1],
      [2, 2],
      [2, 3],
    ]);
  });

  it("has the numbers of labels and events in Parquet and CSV, too, and through the admin API the same bytes", async () => {
    const labels = await labelFile("formats", `history,,,${ago(0)},fraud`);
    const direct = await run({ labels, out: "formats.jsonl", more: ALL });
    const { approved } = await through("pia", "analyst");
    const remote = await approved(...exportArguments({ labels, out: "remote.jsonl", more: ALL }));
    expect(remote).toMatchObject({ file: direct.file, history: direct.history });
    const csv = exportArguments({ labels, out: "numbers.csv", more: ALL }).map((one) =>
      one === "jsonl" ? "csv" : one,
    );
    expect(await drs(...csv)).toMatchObject({ code: 0, stderr: "" });
    expect((await drs("export", "verify", path("numbers.csv"))).code).toBe(0);
  });

  it("is recalled by the number of the label whose event was erased, and a repetition lacks the label", async () => {
    const erased = await store("partly", true, 5);
    await store("partly", false, 2);
    await store("whole", true, 2);
    await extract();
    const labels = await labelFile("partly", `partly,,,${ago(0)},fraud`, `whole,,,${ago(0)},good`);
    const { export_id } = await run({ labels, out: "partly.jsonl", more: ALL });
    await done("erase", "run", "--event", erased.eventId, "--reason", "request 4711", "--yes");
    expect(await done("export", "recall", export_id)).toMatchObject([{ rows: [1] }]);
    for (const args of [
      ["verify", path("partly.jsonl")],
      ["recall", export_id],
    ]) {
      expect((await drs("export", ...args)).stdout).toContain('all rows with 1 in the column "row"');
    }
    expect(await done("export", "list", "--limit", "1")).toMatchObject([{ recalled_rows: 1 }]);
    expect(await repeat(export_id, labels, "partly-again.jsonl")).toMatchObject({ same: false, rows_left_out: [1] });
    expect(await shown("partly-again.jsonl")).toEqual([[2, 1, true]]);
  });

  it("has no events of a restricted account, and a repetition none whose restriction was lifted since", async () => {
    await store("restricted", true, 3);
    await store("restricted", true, 2);
    await extract();
    const restriction = ["--account", "restricted", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
    const [placed] = await done("restriction", "add", ...restriction);
    const labels = await labelFile("restricted", `restricted,,,${ago(0)},fraud`, `history,,,${ago(0)},fraud`);
    const { export_id, empty_rows } = await run({ labels, out: "restricted.jsonl", more: ALL });
    expect(empty_rows).toBe(1);
    const id = String(placed?.["restriction_id"]);
    const lifting = ["restriction", "lift", id, "--reason", "it is resolved", "--informed-on", ago(0).slice(0, 10)];
    expect(await drs(...lifting, "--yes")).toMatchObject({ code: 0 });
    expect(await repeat(export_id, labels, "restricted-again.jsonl")).toMatchObject({ same: true });
  });

  it("expires with its oldest event, not with the newest one", async () => {
    const old = await store("old", true, 40);
    await store("old", true, 2);
    await extract();
    const labels = await labelFile("old", `old,,,${ago(0)},fraud`);
    const late = "select (($1::timestamptz + interval 'P1Y1D')::date)::text as expires";
    const { expires } = (await opened.owner.query(late, [new Date(old.receivedAt)])).rows[0] as { expires: string };
    const before = await done("export", "list");
    const refused = await drs(...exportArguments({ labels, out: "old.jsonl", expires, more: ALL }));
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("--expires must be");
    expect(await done("export", "list"), "nothing was handed out").toEqual(before);
    const recent = await run({ labels, out: "recent.jsonl", expires, more: ["--all-events", "4h"] });
    expect(recent).toMatchObject({ file: { rows: 1 } });
  });

  it("says how many labels have more events than it can have", async () => {
    for (let stored = 0; stored <= MAX_EVENTS; stored += 91) {
      await Promise.all(Array.from({ length: 91 }, () => store("many", true, 1)));
    }
    await extract();
    const labels = await labelFile("many", `many,,,${ago(0)},fraud`, `history,,,${ago(0)},good`);
    const { stdout } = await drs(...exportArguments({ labels, out: "many.jsonl", more: ALL }));
    expect(stdout).toContain(`1003 rows.\nOf 1 label with more events, it has the newest ${MAX_EVENTS} events each.\n`);
    expect((await shown("many.jsonl"))[999]).toEqual([1, 1_000, true]);
    const [record] = await done("export", "list", "--limit", "1");
    expect(await repeat(String(record?.["export_id"]), labels, "many-again.jsonl")).toMatchObject({ same: true });
  });
});
