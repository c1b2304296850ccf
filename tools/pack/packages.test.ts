import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT, VERSION } from "./manifest.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "drs-packages-"));
const NAMES = ["contract", "admin-api", "features", "server", "host-client", "react-native"] as const;
/** Packages that are bundled as ESM and CommonJS. The others are ESM only. */
const FOR_APPS: ReadonlySet<string> = new Set(["react-native", "host-client"]);
const tarballOf = (name: string): string => join(folder, `device-risk-signals-${name}-${VERSION}.tgz`);

beforeAll(() => {
  writeFileSync(tarballOf("contract"), "an earlier one");
  execFileSync("node", ["tools/pack/pack.ts", "--out", folder], { cwd: ROOT });
});
afterAll(() => rmSync(folder, { recursive: true }));

it("pack writes exactly the tarballs, and replaces earlier ones", () => {
  expect(readdirSync(folder).sort()).toEqual(NAMES.map((name) => basename(tarballOf(name))).sort());
});

async function filesOf(name: string): Promise<string[]> {
  const { stdout } = await run("tar", ["-tzf", tarballOf(name)]);
  return stdout.trim().split("\n");
}

describe.each(NAMES)("the package %s", (name) => {
  it("passes publint", async () => {
    const { stdout } = await run("npx", ["publint", "--level", "warning", "--strict", tarballOf(name)], {
      cwd: import.meta.dirname,
    });
    expect(stdout).toContain("All good!");
  });

  it("has types for every module format that it supports", async () => {
    const profile = FOR_APPS.has(name) ? [] : ["--profile", "esm-only"];
    // The program exits with code 1 if it finds a problem.
    const { stdout } = await run("npx", ["attw", tarballOf(name), "--no-emoji", ...profile], {
      cwd: import.meta.dirname,
    });
    expect(stdout).toContain(`@device-risk-signals/${name} v`);
  });

  it("contains its licence and readme, and no file for development", async () => {
    const files = await filesOf(name);
    expect(files).toEqual(expect.arrayContaining(["package/LICENSE", "package/README.md", "package/package.json"]));
    expect(
      files.filter((file) => /\.(test|fixture|snapshot|test-d)\.|node_modules|\/build\//.test(basename(file))),
    ).toEqual([]);
  });
});

it("contract and server can be installed from their tarballs, and drs runs", async () => {
  const app = mkdtempSync(join(folder, "app-"));
  writeFileSync(join(app, "package.json"), '{"type":"module"}');
  const options = { cwd: app };
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional", "--silent"];
  await run(
    "npm",
    ["install", ...flags, tarballOf("contract"), tarballOf("admin-api"), tarballOf("features"), tarballOf("server")],
    options,
  );
  const { stdout } = await run("npx", ["drs", "event", "list", "--help"], options);
  expect(stdout).toContain("Usage: drs event list");
  writeFileSync(
    join(app, "main.js"),
    `import { FIELD_COUNT } from "./count.js";
     import { createEndpoint } from "@device-risk-signals/server";
     import { nodeHandler } from "@device-risk-signals/server/node";
     console.log(FIELD_COUNT, typeof createEndpoint, typeof nodeHandler);`,
  );
  writeFileSync(
    join(app, "count.js"),
    `import { CATALOG } from "@device-risk-signals/contract/catalog";
     export const FIELD_COUNT = CATALOG.reduce((sum, { fields }) => sum + Object.keys(fields).length, 0);`,
  );
  expect((await run("node", ["main.js"], options)).stdout.trim()).toBe("322 function function");
});
