/** Tests of the plan of an export: what it counts before anybody approves anything, and what it does not say. */
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { ago, EXPIRES, useExports, words } from "./exports.fixture.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const { store, extract, drs, done, labelFile, run, through } = useExports(opened, folder);

const OBSERVED = Array.from({ length: 21 }, (_, at) => `observed-${at}`);
const OMITTED = ["omitted-0", "omitted-1"];
let labels: string;

beforeAll(async () => {
  for (const account of OBSERVED) await store(account, true, 2);
  for (const account of OMITTED) await store(account, undefined, 2);
  await store("observed-0", false, 4);
  await extract();
  const early = [...OBSERVED, ...OMITTED].slice(1);
  labels = await labelFile(
    "planned",
    ...[...OBSERVED, ...OMITTED].map((account) => `${account},,,${ago(1)},good`),
    ...early.map((account) => `${account},,,${ago(3)},fraud`),
  );
});

const planned = (file = labels, ...more: readonly string[]): readonly string[] => [
  ...words("export plan --features root@1 --purpose default --clock received"),
  "--expires",
  EXPIRES,
  "--labels",
  file,
  ...more,
];

describe("drs export plan", () => {
  it("counts the rows and states of the export that follows, in tens, and hides what is below ten", async () => {
    const column = { feature: "root@1", meaning: "An example" };
    expect(await done(...planned())).toEqual([
      {
        labels: 45,
        rows: 45,
        empty_rows: 20,
        limited_labels: null,
        columns: [{ ...column, states: { observed: 20, "no-row": 20 } }],
      },
    ]);
    const manifest = await run({ labels, out: "planned.jsonl" });
    expect(manifest).toMatchObject({ file: { rows: 45 }, empty_rows: 22 });
    expect(manifest.columns[0]?.states).toEqual({ observed: 21, omitted: 2, "no-row": 22 });
    const { stdout } = await drs(...planned());
    expect(stdout).toMatch(/^45 labels, rows: 45; accounts without values: 20\./);
    expect(stdout).toMatch(/feature +observed +no-row\nroot@1 +20 +20\n/);
  });

  it("counts the rows of a history, of one account not exactly", async () => {
    expect(await done(...planned(labels, "--all-events", "30d"))).toMatchObject([
      { labels: 45, rows: 40, columns: [{ states: { observed: 20, "no-row": 20 } }] },
    ]);
    const one = await labelFile("one", `observed-0,,,${ago(1)},good`);
    expect(await done(...planned(one, "--all-events", "30d"))).toMatchObject([
      { labels: 1, rows: null, empty_rows: null, columns: [{ states: {} }] },
    ]);
  });

  it("says nothing of one account, however often the labels name it", async () => {
    const one = await labelFile(
      "often",
      ...Array.from({ length: 20 }, (_, n) => `observed-0,,,${ago(1 + n / 100)},good`),
    );
    expect(await done(...planned(one))).toMatchObject([{ labels: 20, rows: 20, columns: [{ states: {} }] }]);
    const among = await labelFile(
      "among",
      ...[...OBSERVED, ...OMITTED].map((account) => `${account},,,${ago(1)},good`),
      ...Array.from({ length: 40 }, (_, n) => `observed-0,,,${ago(1.1 + n / 100)},good`),
    );
    expect(await done(...planned(among)), "among many others").toMatchObject([
      { labels: 63, columns: [{ states: { observed: 20 } }] },
    ]);
    const none = await labelFile(
      "never",
      ...Array.from({ length: 20 }, (_, n) => `observed-1,,,${ago(3 + n / 100)},good`),
    );
    expect(await done(...planned(none, "--all-events", "1d"))).toMatchObject([
      { labels: 20, rows: null, empty_rows: null, columns: [{ states: {} }] },
    ]);
  });

  it("rejects what the export rejects, and records nothing", async () => {
    const exportsBefore = (await done("export", "list")).length;
    const bad = await labelFile("bad", `observed-0,,,2999-01-01,good`);
    expect((await drs(...planned(bad))).stderr).toContain("line 2: label_time is in the future");
    const other = planned().map((word) => (word === "root@1" ? "others@1" : word));
    expect((await drs(...other)).stderr).toContain("Never adopted for this purpose: others@1");
    const late = planned().map((word) => (word === EXPIRES ? "2999-01-31" : word));
    expect((await drs(...late)).stderr).toContain("--expires must be");
    expect((await drs(...planned(labels, "--with", "platform"))).code).toBe(1);
    expect(await done("export", "list")).toHaveLength(exportsBefore);
  });

  it("needs no approval, leaves audit entries, and no other role plans", async () => {
    const ana = await through("ana", "analyst");
    expect(await ana.ask(...planned())).toMatchObject({ code: 0, stderr: "" });
    const omar = await through("omar", "operator");
    expect((await omar.ask(...planned())).stderr).toContain("needs the role");
    const entries = (await done("audit", "list", "--person", "ana")).filter(
      (entry) => entry["operation"] === "export.plan",
    );
    const detail = { features: ["root@1"], purpose: "default", clock: "received", rows: 45 };
    expect(entries).toMatchObject([
      { outcome: "done", detail },
      { outcome: "begun", detail },
    ]);
    expect(JSON.stringify(entries)).not.toContain("observed-0");
  });
});
