import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT, VERSION } from "./manifest.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "drs-packages-"));
const NAMES = ["contract", "admin-api", "features", "scanner", "server", "host-client", "react-native"] as const;
/** Packages that are bundled as ESM and CommonJS. The others are ESM only. */
const FOR_APPS: ReadonlySet<string> = new Set(["react-native", "host-client"]);
const tarballOf = (name: string): string => join(folder, `device-risk-signals-${name}-${VERSION}.tgz`);

function dataOf(name: string): ArrayBuffer {
  const { buffer, byteOffset, length } = readFileSync(tarballOf(name));
  return buffer.slice(byteOffset, byteOffset + length);
}

beforeAll(() => {
  writeFileSync(tarballOf("contract"), "an earlier one");
  writeFileSync(join(folder, "other"), "");
  execFileSync("node", ["tools/pack/pack.ts", "--out", folder], { cwd: ROOT });
});
afterAll(() => rmSync(folder, { recursive: true }));

it("pack writes exactly the tarballs, replaces earlier ones, and deletes no other file", () => {
  const tarballs = NAMES.map((name) => basename(tarballOf(name)));
  expect(readdirSync(folder).sort()).toEqual([...tarballs, "other"].sort());
});

it.each([
  [["--release"], "a release needs repository, homepage, bugs, author: fill them in in tools/release/project.json."],
  [["--package", "servr"], `there is no package "servr": name ${NAMES.join(", ")}.`],
])("pack rejects %j", (flags, message) => {
  const { status, stderr } = spawnSync("node", ["tools/pack/pack.ts", ...flags], { cwd: ROOT, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 1, stderr: `pack: ${message}\n` });
});

async function filesOf(name: string): Promise<string[]> {
  const { stdout } = await run("tar", ["-tzf", tarballOf(name)]);
  return stdout.trim().split("\n");
}

describe.each(NAMES)("the package %s", (name) => {
  it("passes publint", async () => {
    const { messages } = await publint({ pack: { tarball: dataOf(name) }, level: "warning", strict: true });
    expect(messages).toEqual([]);
  });

  it("has types for every module format that it supports", async () => {
    // Expo loads the plugin at run time, and no code imports it with types.
    const excludeEntrypoints = ["./app.plugin.js"];
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(dataOf(name))), {
      excludeEntrypoints,
    });
    const unsupported = FOR_APPS.has(name) ? [] : ["node10", "node16-cjs"];
    if (!analysis.types) throw new Error("the package has no types");
    expect(
      analysis.problems.filter((one) => !("resolutionKind" in one && unsupported.includes(one.resolutionKind))),
    ).toEqual([]);
  });

  it("says which Node it needs and what it is about, and names no place that is not known", async () => {
    const { stdout } = await run("tar", ["-xzOf", tarballOf(name), "package/package.json"]);
    const manifest = JSON.parse(stdout) as Record<string, unknown>;
    expect(manifest["engines"]).toEqual({ node: expect.stringMatching(/^>=\d+/) });
    expect(manifest["keywords"]).toContainEqual(expect.stringContaining("device-signals"));
    const project = JSON.parse(readFileSync(join(ROOT, "tools/release/project.json"), "utf8")) as Record<
      string,
      string
    >;
    for (const [member, value] of Object.entries(project)) expect(member in manifest, member).toBe(value !== "");
  });

  it("contains its licence and readme, and no file for development", async () => {
    const files = await filesOf(name);
    expect(files).toEqual(expect.arrayContaining(["package/LICENSE", "package/README.md", "package/package.json"]));
    expect(
      files.filter((file) => /\.(test|fixture|snapshot|test-d)\.|node_modules|\/build\//.test(basename(file))),
    ).toEqual([]);
  });
});

it("Expo finds the plugin by its file and by its export", async () => {
  const installed = join(mkdtempSync(join(folder, "expo-")), "node_modules/@device-risk-signals/react-native");
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", tarballOf("react-native"), "-C", installed, "--strip-components=1"]);
  const require = createRequire(join(installed, "../../app.js"));
  for (const entry of ["", "/app.plugin.js", "/package.json"]) {
    expect(require.resolve(`@device-risk-signals/react-native${entry}`)).toContain(installed);
  }
  expect(require("@device-risk-signals/react-native/app.plugin.js")).toBeTypeOf("function");
});

const app = join(folder, "app");
const serverTarballs = ["contract", "admin-api", "features", "scanner", "server"].map(tarballOf);
const install = (...args: readonly string[]) =>
  run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", ...args], { cwd: app });

it("the server carries its pages", async () => {
  const pages = (await filesOf("server")).filter((file) => file.startsWith("package/console/"));
  expect(pages).toContain("package/console/index.html");
  for (const asset of [/app-[\w-]+\.js$/, /app-[\w-]+\.css$/])
    expect(pages).toContainEqual(expect.stringMatching(asset));
});

it("contract and server can be installed from their tarballs, and drs runs", async () => {
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{"type":"module"}');
  const options = { cwd: app };
  await install("--omit=optional", ...serverTarballs);
  const { stdout } = await run("npx", ["drs", "event", "list", "--help"], options);
  expect(stdout).toContain("Usage: drs event list");
  await stopsOnOldNode();
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
  expect((await run("node", ["main.js"], options)).stdout.trim()).toMatch(/^[1-9]\d+ function function$/);
});

/** Imports the server on a Node that says that it is Node 20. */
async function stopsOnOldNode(): Promise<void> {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });`;
  writeFileSync(join(app, "old.js"), `${pretend}\nawait import("@device-risk-signals/server");`);
  const { stderr } = await run("node", ["old.js"], { cwd: app }).catch((error: { stderr: string }) => error);
  expect(stderr).toMatch(/Error: @device-risk-signals\/server needs Node 24\.6 or later; this is /);
}

const GUIDE = readFileSync(join(ROOT, "docs/integrator-backend.md"), "utf8");

it("the program of the backend guide compiles in strict mode and stores an event, from the tarballs", async () => {
  const program = /```ts\n\/\/ server\.ts\n([^]*?)```/.exec(GUIDE)?.[1] ?? "";
  expect(program.trimEnd().split("\n").length).toBeLessThanOrEqual(25);
  writeFileSync(join(app, "server.ts"), program);
  const options = { cwd: app };
  await install("--include=optional", "express@5", "@types/express@5", "@types/node@26");
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  await run(tsc, ["--strict", "--module", "nodenext", "--target", "es2024", "--types", "node", "server.ts"], options);
  const server = spawn(process.execPath, ["server.js"], { ...options, stdio: ["ignore", "inherit", "inherit"] });
  try {
    const answer = await firstAnswer();
    expect(answer).toEqual({ status: 201, created: true });
  } finally {
    const closed = once(server, "close");
    server.kill("SIGTERM");
    await closed;
  }
});

/** Sends the guide's event until the server answers. */
async function firstAnswer(): Promise<{ status: number; created: unknown }> {
  const observations = {
    session_id: "session-1",
    event_type: "device_intel_collection",
    schema_version: 1,
    collected_at: new Date().toISOString(),
    probes: {},
  };
  const event = { action_id: "payment-42", action_type: "payment", sdk_version: "1", platform: "ios", observations };
  const request = {
    method: "POST",
    headers: { Authorization: "Bearer example-token", "Idempotency-Key": "key-1", "Content-Type": "application/json" },
    body: JSON.stringify(event),
  };
  const deadline = Date.now() + 60_000;
  for (;;) {
    const response = await fetch("http://127.0.0.1:3000/api/v1/device-signal-events", request).catch(() => undefined);
    if (response) {
      const { created } = (await response.json()) as { created?: unknown };
      return { status: response.status, created };
    }
    if (Date.now() > deadline) throw new Error("the server of the guide does not answer");
    await sleep(200);
  }
}
