/** Tests of `drs feature` on a repository of definitions. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runWithBreakGlass } from "../support/command.ts";
import { useFolder } from "../support/use-folder.ts";

const folder = useFolder();
const drs = (...args: readonly string[]) => runWithBreakGlass({}, "feature", ...args);

test("makes a repository of definitions that passes, and shows what it has", async () => {
  const repository = join(folder(), "features");
  const stdoutOfInit = `Made ${repository}. Next: drs feature test ${repository}\n`;
  expect(await drs("init", repository)).toEqual({ code: 0, stdout: stdoutOfInit, stderr: "" });
  const manifest: unknown = JSON.parse(await readFile(join(repository, "package.json"), "utf8"));
  expect(manifest).toMatchObject({ engines: { node: ">=24.6" } });
  expect(await drs("test", repository)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^1 feature, \d+ cases on each of two engines: no problem\.\n$/) as unknown,
  });
  const { stdout } = await drs("list", repository, "--json");
  expect(JSON.parse(stdout)).toMatchObject({ feature: "vpn_active@1", output: "flag", inputs: 1 });
  expect((await drs("show", "vpn_active", repository)).stdout).toContain(
    "  vpn: network.isVpnActive (boolean, medium)\n",
  );
});

test("exits with code 1 for a folder without definitions, a missing feature, and a folder that has files", async () => {
  const repository = join(folder(), "other");
  const empty = join(folder(), "empty");
  await mkdir(empty);
  expect((await drs("test", empty)).stderr).toContain(`${empty} has no file that ends in .feature.ts`);
  expect((await drs("init", repository)).code).toBe(0);
  expect(await drs("init", repository)).toMatchObject({ code: 1, stdout: "" });
  expect((await drs("show", "vpn_active@2", repository)).stderr).toContain("No feature vpn_active@2");
});
