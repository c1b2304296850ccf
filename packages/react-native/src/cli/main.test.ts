import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { main } from "./main.ts";

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const folder = mkdtempSync(join(tmpdir(), "drs-cli-"));
  writeFileSync(join(folder, "package.json"), "{}");
  const code = await main(
    args,
    folder,
    (text) => void (out += text),
    (text) => void (err += text),
  );
  rmSync(folder, { recursive: true });
  return { code, out, err };
}

it("sample prints exactly one event", async () => {
  const { code, out, err } = await run("sample", "--scenario", "rooted-android", "--seed", "7");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(JSON.parse(out)).toMatchObject({ event_type: "device_intel_collection", session_id: "session-7" });
});

it("sample --list prints every scenario", async () => {
  expect((await run("sample", "--list")).out.trim().split("\n")).toContain("full-ios");
});

it.each([
  ["no command", []],
  ["an unknown one", ["fix"]],
  ["no scenario", ["sample"]],
  ["an unknown scenario", ["sample", "--scenario", "nokia"]],
  ["a platform that the scenario does not have", ["sample", "--scenario", "clean-ios", "--platform", "android"]],
  ["an unknown platform", ["sample", "--scenario", "errors", "--platform", "web"]],
  ["a seed that is no number", ["sample", "--scenario", "errors", "--seed", "x"]],
  ["an unknown flag", ["doctor", "--fix"]],
  ["an unknown probe", ["doctor", "--probes", "hardwear"]],
])("%s is wrong usage", async (_, args) => {
  const { code, out, err } = await run(...args);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).not.toBe("");
});

it("doctor exits with 1 when it reports a problem", async () => {
  const { code, out } = await run("doctor");
  expect(code).toBe(1);
  expect(out).toContain("missing   package.json: the dependency react-native\n");
});

it("--help prints the usage", async () => {
  expect(await run("--help")).toMatchObject({ code: 0, out: expect.stringContaining("Example:") as string });
  expect(await run("doctor", "--help")).toMatchObject({ code: 0, out: expect.stringContaining("Example:") as string });
});
