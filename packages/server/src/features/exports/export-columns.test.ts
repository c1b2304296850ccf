/** Tests of exports with more columns: attributes of the events, which the policy allows, and states of inputs. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { ago, useExports } from "./exports.fixture.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const scene = useExports(opened, folder);
const { allowAttributes, done, drs, exportArguments, labelFile, path, read, repeat, run, through } = scene;

let labels: string;
const asked = (out: string, list: string) => ({ labels, out, more: ["--with", list] });

beforeAll(async () => {
  await scene.store("one", true, 2, {
    platform: "ios",
    sdkVersion: "=cmd()",
    appVersion: "4.2",
    actionType: "payment",
  });
  await scene.extract();
  labels = await labelFile("labels", `one,,,${ago(1)},good`, `one,,,${ago(3)},good`);
});

it("an export has no attribute that the policy does not allow, and nothing is recorded of the attempt", async () => {
  await allowAttributes("platform");
  const refused = await drs(...exportArguments(asked("refused.jsonl", "platform,sdk_version,app_version")));
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("Purpose default does not allow exports with sdk_version, app_version");
  await expect(readFile(path("refused.jsonl"))).rejects.toThrow("ENOENT");
  expect(await done("export", "list")).toEqual([]);
  expect(await drs(...exportArguments(asked("wrong.jsonl", "account")))).toMatchObject({ code: 2 });
  expect(await drs(...exportArguments(asked("wrong.jsonl", "platform,platform")))).toMatchObject({ code: 2 });
});

it("an export has the allowed attributes in the order that was asked for, and the record and the audit say so", async () => {
  await allowAttributes("platform", "sdk_version", "app_version", "action_type");
  const attributes = ["sdk_version", "platform", "action_type", "app_version"];
  const manifest = await run(asked("all.jsonl", attributes.join(",")));
  expect(manifest.attributes).toEqual(attributes);
  const [found, none] = await read("all.jsonl");
  expect(Object.keys(found ?? {}).slice(5, 9)).toEqual(attributes);
  expect(found).toMatchObject({ sdk_version: "=cmd()", platform: "ios", action_type: "payment", app_version: "4.2" });
  expect(none).toMatchObject({ sdk_version: null, platform: null, root__v1__state: "no-row" });
  expect(await done("export", "list", "--limit", "1")).toMatchObject([{ attributes }]);
  const [entry] = await done("audit", "list", "--limit", "1");
  expect(entry).toMatchObject({ operation: "export.run", detail: { attributes } });
  expect(await repeat(manifest.export_id, labels, "again.jsonl")).toMatchObject({ same: true });
});

it("a repetition needs the allowance that the export had", async () => {
  const { export_id } = await run(asked("allowed.jsonl", "platform"));
  await allowAttributes();
  const again = ["export", "repeat", export_id, "--labels", labels, "--reason", "a check", "--out", path("not.jsonl")];
  expect((await drs(...again)).stderr).toContain("does not allow exports with platform");
});

it("the person who approves an export sees its attributes, and how many rows it can have", async () => {
  await allowAttributes("platform");
  const { approved } = await through("nora", "analyst");
  const wanted = [...exportArguments(asked("remote.jsonl", "platform")), "--all-events", "30d"];
  expect(await approved(...wanted)).toMatchObject({ attributes: ["platform"] });
  const { rows } = await opened.owner.query("select parameters, plan from approval where operation = 'export.run'");
  const plan = { labels: 2, rows_at_most: 2_000 };
  expect(rows).toMatchObject([{ parameters: { attributes: ["platform"], history_ms: 30 * 86_400_000 }, plan }]);
});

it("an export with the states of inputs has a column for each, named in the manifest, and a repetition has it, too", async () => {
  await scene.store("silent", undefined, 2);
  await scene.extract();
  const file = await labelFile("states", `one,,,${ago(1)},good`, `silent,,,${ago(1)},good`, `one,,,${ago(3)},good`);
  const manifest = await run({ labels: file, out: "states.jsonl", more: ["--states"] });
  const column = "root__v1__su__state";
  expect(manifest.columns).toMatchObject([{ inputs: [{ column, field: "os_integrity.suBinaryFound" }] }]);
  const shown = (await read("states.jsonl")).map((row) => [row["root__v1"], row["root__v1__state"], row[column]]);
  expect(shown).toEqual([
    [true, "observed", "observed"],
    [null, "omitted", "omitted:field-absent"],
    [null, "no-row", null],
  ]);
  expect(await done("export", "list", "--limit", "1")).toMatchObject([{ input_states: true, attributes: [] }]);
  expect(await repeat(manifest.export_id, file, "states-again.jsonl")).toMatchObject({ same: true });
  const { approved } = await through("olga", "analyst");
  expect(
    await approved(...exportArguments({ labels: file, out: "states-remote.jsonl", more: ["--states"] })),
  ).toMatchObject({ columns: manifest.columns, file: { sha256: manifest.file.sha256 } });
});
