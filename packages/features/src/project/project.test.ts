import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildProposal, checkFeatures, initProject, lockFeatures } from "./project.ts";

const REPOSITORY = join(import.meta.dirname, "../../../..");
const root = mkdtempSync(join(tmpdir(), "drs-project-"));
afterAll(() => rmSync(root, { recursive: true }));

async function project(name: string): Promise<string> {
  const folder = join(root, name);
  expect(await initProject(folder)).toEqual({ features: 1, problems: [] });
  mkdirSync(join(folder, "node_modules/@device-risk-signals"), { recursive: true });
  symlinkSync(join(REPOSITORY, "packages/features"), join(folder, "node_modules/@device-risk-signals/features"));
  return folder;
}

function typecheck(folder: string): string {
  const tsc = join(REPOSITORY, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc], { cwd: folder, encoding: "utf8" }).stdout;
}

const edit = (file: string, change: (text: string) => string): void =>
  writeFileSync(file, change(readFileSync(file, "utf8")));

describe("a new repository of definitions", () => {
  it("passes its check, and fails for a change without a new version", async () => {
    const folder = await project("changed");
    expect(await checkFeatures(folder)).toMatchObject({ features: 1, problems: [] });
    const file = join(folder, "features/vpn-active.feature.ts");
    edit(file, (text) => text.replace("vpn.value : null", "!!vpn.value : null"));
    const changed = "the code of vpn_active@1 differs from features.lock.json: give the feature version 2";
    expect((await checkFeatures(folder)).problems).toEqual([changed]);
    expect((await lockFeatures(folder)).problems).toEqual([changed]);
    edit(file, (text) => text.replace("version: 1", "version: 2"));
    const base = join(root, "base.lock.json");
    writeFileSync(base, readFileSync(join(folder, "features.lock.json")));
    expect((await lockFeatures(folder)).problems).toEqual([]);
    expect((await checkFeatures(folder, { base })).problems).toEqual([]);
    edit(join(folder, "features.lock.json"), (text) => text.replace('"version": 1', '"version": 3'));
    expect((await checkFeatures(folder, { base })).problems).toEqual([
      "features.lock.json has no entry vpn_active@1 any more: restore the entry",
    ]);
  });

  it("is proposed only with a lock file that has the hashes of its programs", async () => {
    const folder = await project("proposed");
    const problems = async (isLocked: boolean) => (await buildProposal(folder, { isLocked })).problems;
    expect(await problems(true)).toEqual([]);
    edit(join(folder, "features/vpn-active.feature.ts"), (text) =>
      text.replace("vpn.value : null", "!!vpn.value : null"),
    );
    expect(await problems(true)).toEqual([expect.stringContaining("differs from features.lock.json")]);
    expect(await problems(false), "for the command that records it as equivalent").toEqual([]);
    rmSync(join(folder, "features.lock.json"));
    expect(await problems(true)).toEqual(["no features.lock.json: run `drs feature lock`"]);
  });

  it("type-checks, and does not type-check with a wrong path or with a default for a reading", async () => {
    const folder = await project("types");
    const overlay = { fields: [{ path: ["new_probe", "found"], type: "boolean", sensitivity: "high" }] };
    writeFileSync(join(folder, "overlay.json"), JSON.stringify(overlay));
    expect((await lockFeatures(folder)).problems).toEqual([]);
    const definition = readFileSync(join(folder, "features/vpn-active.feature.ts"), "utf8");
    const variants = {
      overlay: definition.replace("network.isVpnActive", "new_probe.found"),
      path: definition.replace("isVpnActive", "isVpnActiv"),
      default: definition.replace('(vpn.state === "observed" ? vpn.value : null)', "vpn ?? false"),
    };
    for (const [name, text] of Object.entries(variants))
      writeFileSync(join(folder, `features/${name}.feature.ts`), text);
    const files = typecheck(folder).match(/^\S+\.ts(?=\()/gm) ?? [];
    expect([...new Set(files)].sort()).toEqual(["features/default.feature.ts", "features/path.feature.ts"]);
  });

  it("fails for an overlay whose types were not written, and for one that is not valid", async () => {
    const folder = await project("overlay");
    const write = (fields: unknown): void => writeFileSync(join(folder, "overlay.json"), JSON.stringify({ fields }));
    write([{ path: ["new_probe", "found"], type: "boolean", sensitivity: "high" }]);
    expect((await checkFeatures(folder)).problems).toEqual([
      "overlay.d.ts does not match the overlay: run `drs feature lock`",
    ]);
    const field = { path: ["new_probe", "found"], type: "boolean", sensitivity: "high" };
    for (const wrong of [
      { ...field, path: ["new.probe", "found"] },
      { ...field, type: "number" },
      { ...field, type: "number", unit: "parsecs" },
      { ...field, unit: "ms" },
      { ...field, sensitivity: undefined },
      null,
    ]) {
      write([field, wrong]);
      expect((await checkFeatures(folder)).problems.join(), JSON.stringify(wrong)).toContain("overlay.json: field 2");
    }
  });

  it("is not made in a folder that has files", async () => {
    expect((await initProject(await project("twice"))).problems).toEqual(["the folder is not empty"]);
  });
});

it("the definition and the fixtures of docs/features.md pass their check", async () => {
  const page = readFileSync(join(REPOSITORY, "docs/features.md"), "utf8");
  const block = (language: string): string => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page)?.[1] ?? "";
  const folder = join(root, "docs");
  mkdirSync(folder);
  writeFileSync(join(folder, "root-traces.feature.ts"), block("ts"));
  writeFileSync(join(folder, "root-traces.fixtures.json"), block("json"));
  expect(await lockFeatures(folder)).toEqual({ features: 1, problems: [] });
  expect((await checkFeatures(folder)).problems).toEqual([]);
});
