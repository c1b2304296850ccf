import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildFeatures, type BuiltFeatures } from "./build-features.ts";
import type { Overlay } from "./known-fields.ts";

const root = mkdtempSync(join(tmpdir(), "drs-definitions-"));
afterAll(() => rmSync(root, { recursive: true }));

let folderCount = 0;
function build(files: Readonly<Record<string, string>>, overlay?: Overlay): Promise<BuiltFeatures> {
  const folder = join(root, String(++folderCount));
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return buildFeatures(folder, overlay);
}

interface Parts {
  readonly before?: string;
  readonly id?: string;
  readonly rest?: string;
  readonly inputs?: string;
  readonly output?: string;
  readonly compute?: string;
}

const definition = ({ before = "", id = "traces", rest = "", inputs, output, compute }: Parts = {}): string => `
import { count, countTrue, feature, field, flag } from "@device-risk-signals/features";
${before}
export const traces = feature({
  id: "${id}",
  version: 1,
  owner: "fraud team",
  meaning: "How many traces were seen",
  falseReadings: ["none is known"],
  purposes: ["payments"],
  inputs: ${inputs ?? '{ su: field("os_integrity.suBinaryFound"), emulator: field("os_integrity.isEmulator") }'},
  output: ${output ?? "count({ bins: [0, 1] })"},
  ${compute ?? "compute: (inputs) => countTrue(inputs)"},
  fixtures: "./traces.fixtures.json",
  ${rest}
});
`;

const HELPER = 'import { triple } from "./helper.ts";';
const WITH_HELPER = definition({ before: HELPER, compute: "compute: () => triple(1)" });

async function hashOf(files: Readonly<Record<string, string>>): Promise<string | undefined> {
  const { features, problems } = await build(files);
  expect(problems).toEqual([]);
  return features[0]?.bundle.hash;
}

describe("buildFeatures", () => {
  it("takes from the catalog how a field is read", async () => {
    const inputs = `{
      developer: field("os_integrity.developerModeEnabled"),
      open: field("os_integrity_frida_scan.defaultPortOpen"),
      sdk: field("device_identity.androidBuild.sdkInt"),
      skipped: field("gpu_benchmark.skippedReason"),
    }`;
    const { features } = await build({ "a.feature.ts": definition({ inputs, compute: "compute: () => 1" }) });
    expect(features[0]?.bundle.manifest.inputs).toEqual([
      {
        name: "developer",
        path: ["os_integrity", "developerModeEnabled"],
        type: "boolean",
        constantOn: ["ios"],
        sensitivity: "medium",
      },
      {
        name: "open",
        path: ["os_integrity_frida_scan", "defaultPortOpen"],
        type: "boolean",
        performedBy: "scanPerformed",
        sensitivity: "medium",
      },
      {
        name: "sdk",
        path: ["device_identity", "androidBuild", "sdkInt"],
        type: "number",
        unit: "API level",
        sensitivity: "low",
      },
      { name: "skipped", path: ["gpu_benchmark", "skippedReason"], type: "string", sensitivity: "low" },
    ]);
  });

  it("changes the hash of each feature that imports an edited helper, and of no other feature", async () => {
    const files = { "a.feature.ts": WITH_HELPER, "b.feature.ts": definition({ id: "other" }) };
    const hashes = async (helper: string): Promise<(string | undefined)[]> =>
      (await build({ ...files, "helper.ts": helper })).features.map(({ bundle }) => bundle.hash);
    const [other, traces] = await hashes("export const triple = (n: number): number => n * 3;");
    const [sameOther, changedTraces] = await hashes("export const triple = (n: number): number => n * 4;");
    expect(sameOther).toBe(other);
    expect(changedTraces).not.toBe(traces);
  });

  it("keeps the hash of code that was only formatted, commented or moved", async () => {
    const before = HELPER;
    const one = `${before}\nconst table = Object.freeze({ a: 1, b: "x" });`;
    const other = `// A comment.\nimport   {triple}\n from './helper.ts'\nconst table = Object.freeze({ "a": 1, 'b': 'x', })`;
    const compute = "compute: () => triple(table.a)";
    const helper = "export const triple = (n: number): number => n * 3;";
    const spaced = `/** Triples. */\nexport const triple = (\n  n: number,\n): number => (n * 3);\nexport const unused = 1;`;
    const hash = await hashOf({ "a.feature.ts": definition({ before: one, compute }), "helper.ts": helper });
    expect(
      await hashOf({ "below/a.feature.ts": definition({ before: other, compute }), "below/helper.ts": spaced }),
    ).toBe(hash);
  });

  it("changes the hash with the inputs and the type of the output, and not with meaning, owner, purposes or bins", async () => {
    const hash = await hashOf({ "a.feature.ts": definition() });
    const texts = definition({ output: "count({ bins: [0, 5] })" })
      .replace("fraud team", "other")
      .replace("payments", "login");
    expect(await hashOf({ "a.feature.ts": texts })).toBe(hash);
    const input = '{ su: field("os_integrity.suOnPath"), emulator: field("os_integrity.isEmulator") }';
    expect(await hashOf({ "a.feature.ts": definition({ inputs: input }) })).not.toBe(hash);
    expect(await hashOf({ "a.feature.ts": definition({ output: "flag()" }) })).not.toBe(hash);
  });

  it("reports banned code in a helper with file and line", async () => {
    const helper = "// A comment.\nexport function triple(n: number): number {\n  return n * Math.random();\n}\n";
    const { problems, features } = await build({ "a.feature.ts": WITH_HELPER, "helper.ts": helper });
    expect(features).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(/^helper\.ts:3: `Math\.random`/)]);
  });

  it.each([
    [
      "an import of Node",
      { before: 'import { readFileSync } from "node:fs";', compute: "compute: () => readFileSync('x').length" },
      "node:fs",
    ],
    ["an import that does not exist", { before: HELPER, compute: "compute: () => triple(1)" }, "./helper.ts"],
    [
      "a path that the catalog does not have",
      { inputs: '{ a: field("os_integrity.suFond") }' },
      "neither the catalog nor the overlay has it",
    ],
    ["a field that the SDK never fills", { inputs: '{ a: field("telephony.imei") }' }, "the SDK never fills it"],
    ["an object", { inputs: '{ a: field("device_identity.androidBuild") }' }, "name a member of it"],
    ["an id with a dot", { id: "a.b" }, "`id`"],
    ["bins out of order", { output: "count({ bins: [1, 0] })" }, "`bins`"],
    ["no inputs", { inputs: "{}" }, "`inputs`"],
    ["a spread", { rest: "...{}," }, "an object literal"],
    ["a text that is no program", { compute: "compute: () => {" }, "a.feature.ts: "],
    ["a definition that does not end", { before: "for (;;);" }, "can't be read"],
  ] as const)("reports %s", async (_, parts, message) => {
    const { problems, features } = await build({ "a.feature.ts": definition(parts) });
    expect(problems.join("\n")).toContain(message);
    expect(features).toEqual([]);
  });

  it("reports two definitions of one version, and a folder without definitions", async () => {
    const { problems } = await build({ "a.feature.ts": definition(), "b.feature.ts": definition() });
    expect(problems).toEqual(["b.feature.ts: a.feature.ts has version 1 of traces, too"]);
    expect((await build({ "a.ts": "" })).problems).toEqual([
      expect.stringContaining("has no file that ends in .feature.ts"),
    ]);
  });

  it("accepts a field of the overlay", async () => {
    const overlay: Overlay = { fields: [{ path: ["new_probe", "found"], type: "boolean", sensitivity: "high" }] };
    const text = definition({ inputs: '{ found: field("new_probe.found") }' });
    const { features, problems } = await build({ "a.feature.ts": text }, overlay);
    expect(problems).toEqual([]);
    expect(features[0]?.bundle.manifest.inputs).toEqual([
      { name: "found", path: ["new_probe", "found"], type: "boolean", sensitivity: "high" },
    ]);
    expect((await build({ "a.feature.ts": text })).problems.join()).toContain("new_probe.found");
  });
});
