import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { deepEqual, equal, match } from "node:assert/strict";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { declarationsFor, QUERIES_MARKER } from "../../packages/react-native/src/app-config/declarations.ts";
import { APP as EXPO_APP, GUIDE_CODE } from "./fresh-expo.ts";
import { writeFromGuide } from "./guide.ts";
import { jestCounts } from "../suite/jest-counts.ts";
import { bin, type ProgramRunner } from "../suite/run.ts";
import type { Suite } from "../suite/suite.ts";

const APP = join(import.meta.dirname, "bare-app");
const PACKAGES = join(import.meta.dirname, "../native-spec");
const PROBES = "os_integrity,media_bluetooth_apps";
const MANIFEST = "android/app/src/main/AndroidManifest.xml";
const PLIST = "ios/HelloWorld/Info.plist";

/**
 * Checks an app made from React Native's own template, in which `npm install` has installed the tarballs as in a team's
 * app.
 */
export async function checkBareApp(
  suite: Suite,
  folder: string,
  runner: ProgramRunner,
  tarballs: readonly string[],
): Promise<void> {
  cpSync(APP, folder, { recursive: true });
  const installed = await suite.check("bare app: React Native's template with the packages installs", async () => {
    await prepare(folder, runner);
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
    await runner.must("npm", "install", ...flags, ...tarballs);
    cpSync(join(folder, "node_modules/@react-native-community/template/template"), folder, {
      recursive: true,
      filter: (path) => !/\/(package\.json|jest\.config\.js|index\.js|App\.tsx|__tests__)$/.test(path),
    });
  });
  if (!installed) return;
  await checkDoctor(suite, folder, runner);
  writeFromGuide(folder, [...GUIDE_CODE, "jest.setup.js"], withoutExpo);
  cpSync(join(EXPO_APP, "__tests__"), join(folder, "__tests__"), { recursive: true });
  await suite.check("bare app: types", async () => void (await runner.must(bin("tsc"), "--noEmit")));
  await suite.tests("bare app: Jest, with the guide's set-up", () => jestCounts(runner, folder));
  await suite.check("bare app: Metro bundles the guide's code for Android, and Hermes compiles it", async () => {
    const flags = ["--platform", "android", "--dev", "false", "--minify", "false", "--out", "bundle"];
    await runner.must(bin("metro"), "build", "index.js", ...flags, "--config", "metro.config.js");
    await runner.must(hermesCompiler(folder), "-emit-binary", "-O0", "-w", "-out", "bundle.hbc", "bundle.js");
    match(readFileSync(join(folder, "bundle.hbc"), "latin1"), /device_intel_collection/);
  });
  await checkModuleKinds(suite, runner);
}

/** The app has the packages of `tools/native-spec`, as links to its files, but no other React Native. */
async function prepare(folder: string, runner: ProgramRunner): Promise<void> {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(PACKAGES, "package.json"), "utf8"),
  ) as Manifest;
  const tools = Object.entries(devDependencies).filter(([name]) => !/^(newest|oldest)-|^@nativescript/.test(name));
  const manifest = { name: "bare-app", version: "0.0.1", dependencies, devDependencies: Object.fromEntries(tools) };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  cpSync(join(PACKAGES, "package-lock.json"), join(folder, "package-lock.json"));
  const copy = 'cp -al "$0" node_modules || cp -a "$0/." node_modules';
  await runner.must("sh", "-c", copy, join(PACKAGES, "node_modules"));
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The compiler of the Hermes of the app's React Native. */
function hermesCompiler(folder: string): string {
  const { resolve } = createRequire(join(folder, "node_modules/react-native/package.json"));
  const system = process.platform === "darwin" ? "osx" : "linux64";
  return join(dirname(resolve("hermes-compiler/package.json")), `hermesc/${system}-bin/hermesc`);
}

/** Applies to the guide's code what its comments say about a bare app. */
function withoutExpo(code: string): string {
  return code.replace(/^import .*"expo-crypto".*\n/m, "").replace(/^ *randomBytes: .*\n/m, "");
}

async function checkDoctor(suite: Suite, folder: string, runner: ProgramRunner): Promise<void> {
  const { packages, schemes, queryProbes } = declarationsFor(PROBES.split(","));
  const doctor = () => runner.run(bin("device-risk-signals"), ["doctor", "--probes", PROBES]);
  const queries = packages.map((name) => `<package android:name="${name}" />`).join(" ");
  await suite.check("bare app: doctor names exactly what is missing", async () => {
    const { code, out } = await doctor();
    equal(code, 1);
    deepEqual(missing(out), [
      `AndroidManifest.xml: <queries> lack ${queries}`,
      `AndroidManifest.xml: <application> lacks <meta-data android:name="${QUERIES_MARKER}" android:value="${queryProbes.join(",")}" />`,
      `Info.plist: LSApplicationQueriesSchemes lack ${schemes.map((scheme) => `<string>${scheme}</string>`).join(" ")}`,
    ]);
  });
  await suite.check("bare app: doctor finds nothing missing after its output was pasted", async () => {
    edit(join(folder, MANIFEST), "<application", `<queries>${queries}</queries>\n<application`);
    const marker = `<meta-data android:name="${QUERIES_MARKER}" android:value="${queryProbes.join(",")}" />`;
    edit(join(folder, MANIFEST), "<activity", `${marker}\n<activity`);
    const list = schemes.map((scheme) => `<string>${scheme}</string>`).join("\n");
    edit(join(folder, PLIST), "<dict>", `<dict>\n<key>LSApplicationQueriesSchemes</key>\n<array>${list}</array>`);
    const { code, out } = await doctor();
    deepEqual({ code, missing: missing(out) }, { code: 0, missing: [] });
  });
}

function missing(out: string): string[] {
  return out.split("\n").flatMap((line) => /^missing\s+(.*)$/.exec(line)?.[1] ?? []);
}

function edit(file: string, before: string, after: string): void {
  const text = readFileSync(file, "utf8");
  match(text, new RegExp(before));
  writeFileSync(file, text.replace(before, after));
}

/** Checks both module formats of the published packages in plain Node, as far as they do not need React Native. */
async function checkModuleKinds(suite: Suite, runner: ProgramRunner): Promise<void> {
  const use = `
    sampleEvent({ scenario: "clean-ios" }).then(({ event_type }) => console.log(event_type, typeof createSignalClient));`;
  const kinds = {
    module: `
      import { sampleEvent } from "@device-risk-signals/react-native/jest";
      import { createSignalClient } from "@device-risk-signals/host-client";${use}`,
    commonjs: `
      const { sampleEvent } = require("@device-risk-signals/react-native/jest");
      const { createSignalClient } = require("@device-risk-signals/host-client");${use}`,
  };
  for (const [kind, code] of Object.entries(kinds)) {
    await suite.check(`bare app: the packages load as ${kind}`, async () => {
      const out = await runner.must(process.execPath, `--input-type=${kind}`, "--eval", code);
      equal(out.trim(), "device_intel_collection function");
    });
  }
}
