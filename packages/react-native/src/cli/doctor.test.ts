import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { declarationsFor } from "../app-config/declarations.ts";
import { examine } from "./doctor.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "drs-doctor-"));
  write(
    "package.json",
    JSON.stringify({ dependencies: { "react-native": "0.86.3", "@device-risk-signals/react-native": "0.1.0" } }),
  );
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const problems = (probes?: string[]) =>
  examine(folder, probes).filter(({ kind }) => kind === "missing" || kind === "too much");
const optional = (probes?: string[]) =>
  examine(folder, probes).flatMap(({ kind, text }) => (kind === "optional" ? [text] : []));
const { packages, schemes } = declarationsFor(["os_integrity"]);
const queries = (names: readonly string[]) =>
  `<queries>${names.map((name) => `<package android:name="${name}"/>`).join("\n")}</queries>`;
const android = (inside: string) => write("android/app/src/main/AndroidManifest.xml", `<manifest>${inside}</manifest>`);
const marker = (value: string) => `<meta-data android:name="io.devicerisksignals.QUERIES" android:value="${value}"/>`;
const ios = (names: readonly string[]) =>
  write(
    "ios/App/Info.plist",
    `<plist><dict><key>LSApplicationQueriesSchemes</key><array>${names.map((name) => `<string>${name}</string>`).join("\n")}</array></dict></plist>`,
  );

it("an Expo app needs the plugin", () => {
  write("app.json", JSON.stringify({ expo: {} }));
  expect(problems()).toEqual([{ kind: "missing", text: 'app.json: the plugin "@device-risk-signals/react-native"' }]);
  write(
    "app.json",
    JSON.stringify({ expo: { plugins: [["@device-risk-signals/react-native", { probes: ["hardware"] }]] } }),
  );
  expect(problems()).toEqual([]);
});

/**
 * Installs a stand-in for `@expo/config`, which reads an app's config: it runs `app.config.js` with the content of
 * `app.json`.
 */
const installExpo = (file = "@expo/config/index.js") =>
  write(
    `node_modules/${file}`,
    `const { existsSync, readFileSync } = require("node:fs");
     exports.getConfig = (folder, { skipSDKVersionRequirement }) => {
       if (!skipSDKVersionRequirement) throw new Error("no sdkVersion");
       const json = folder + "/app.json";
       const config = existsSync(json) ? JSON.parse(readFileSync(json, "utf8")).expo : {};
       return { exp: require(folder + "/app.config.js")({ config }), dynamicConfigPath: folder + "/app.config.js" };
     };`,
  );
const PLUGIN = "@device-risk-signals/react-native";

it("an Expo app whose plugin is in app.config.js has no problem, and doctor reads the probes of the plugin", () => {
  installExpo();
  write("app.json", JSON.stringify({ expo: { android: { permissions: ["android.permission.USE_BIOMETRIC"] } } }));
  write(
    "app.config.js",
    `module.exports = ({ config }) => ({ ...config, plugins: [["${PLUGIN}", { probes: ["transaction_safety"] }]] });`,
  );
  expect(problems()).toEqual([]);
  expect(examine(folder, undefined).map(({ text }) => text)).toContain(
    `app.config.js: the plugin "${PLUGIN}" declares the rest at prebuild`,
  );
  expect(optional().map((text) => text.split(":")[1]?.trim())).toEqual([
    '"android.permission.ACCESS_NETWORK_STATE" in android.permissions gives network',
    '"android.permission.DETECT_SCREEN_RECORDING" in android.permissions gives transaction_safety',
    '"android.permission.DETECT_SCREEN_CAPTURE" in android.permissions gives transaction_safety',
  ]);
});

it("a config that can't be read is reported with its reason, not as a missing plugin", () => {
  write("app.config.ts", "export default {};");
  expect(problems()).toEqual([
    { kind: "missing", text: "app.config.ts: a config that can be read; Expo is not installed" },
  ]);
  rmSync(join(folder, "app.config.ts"));
  installExpo();
  write("app.config.js", 'throw new Error("APP_VARIANT is not set");');
  expect(problems()).toEqual([
    { kind: "missing", text: "app.config.js: a config that can be read; APP_VARIANT is not set" },
  ]);
});

it("doctor examines packages even if the config can't be read", () => {
  write("package.json", "{}");
  write("app.json", "{");
  expect(problems().map(({ text }) => text)).toEqual([
    `package.json: the dependency ${PLUGIN}`,
    "package.json: the dependency react-native",
    "app.json: a config that can be read; not JSON",
  ]);
});

it.each(["ts", "mts", "cts", "mjs", "cjs", "js"])("app.config.%s is run as Expo runs it", (extension) => {
  write(`app.config.${extension}`, "");
  expect(problems().map(({ text }) => text)).toEqual([
    `app.config.${extension}: a config that can be read; Expo is not installed`,
  ]);
});

it.each([
  ["app.config.json", { expo: { plugins: [PLUGIN] } }],
  ["app.json", { plugins: [PLUGIN] }],
])("%s is read without Expo", (file, config) => {
  write(file, JSON.stringify(config));
  expect(problems()).toEqual([]);
});

it("a config whose plugins are not a list counts as one without the plugin", () => {
  write("app.json", JSON.stringify({ expo: { plugins: {}, android: { permissions: {} } } }));
  expect(problems().map(({ text }) => text)).toEqual([`app.json: the plugin "${PLUGIN}"`]);
});

describe("the app's own Expo", () => {
  const config = (text: string) => write("app.config.js", `module.exports = () => (${text});`);

  it("is found if only the package expo provides it", () => {
    installExpo("expo/config.js");
    config(`{ plugins: ["${PLUGIN}"] }`);
    expect(problems()).toEqual([]);
  });

  it("tells which file a finding names", () => {
    installExpo();
    write("app.config.ts", "");
    config("{}");
    expect(problems().map(({ text }) => text)).toEqual([`app.config.js: the plugin "${PLUGIN}"`]);
  });

  it("has the environment files of development loaded before it runs the config", () => {
    vi.stubEnv("NODE_ENV", undefined);
    vi.stubEnv("APP_PLUGIN", undefined);
    installExpo();
    write(
      "node_modules/@expo/env/index.js",
      `exports.load = () => { if (process.env.NODE_ENV === "development") process.env.APP_PLUGIN = "${PLUGIN}"; };`,
    );
    config("{ plugins: [process.env.APP_PLUGIN] }");
    expect(problems()).toEqual([]);
  });

  it("is reported as broken with the reason, and not as missing", () => {
    write("node_modules/@expo/config/index.js", 'throw new Error("half an installation");');
    config("{}");
    expect(problems().map(({ text }) => text)).toEqual([
      "app.config.js: a config that can be read; half an installation",
    ]);
  });
});

it("doctor examines native projects for the probes that the plugin names", () => {
  write("app.json", JSON.stringify({ expo: { plugins: [[PLUGIN, { probes: ["media_bluetooth_apps"] }]] } }));
  android("");
  const queryElement = (text: string) => `<package android:name="${text}" />`;
  const packages = declarationsFor(["media_bluetooth_apps"]).packages;
  expect(problems()[0]?.text).toBe(`AndroidManifest.xml: <queries> lack ${packages.map(queryElement).join(" ")}`);
});

it("doctor reports the declarations that a bare app lacks, except those of prebuild's template", () => {
  const probes = ["os_integrity_frida_scan"];
  write("app.json", JSON.stringify({ expo: { plugins: [[PLUGIN, { probes }]] } }));
  expect(optional().join()).not.toContain("INTERNET");
  android("");
  expect(optional(probes).join()).toContain("INTERNET");
});

it("doctor reports permissions that unlock fields of the enabled probes, but does not count them as problems", () => {
  const permission = (name: string) => `<uses-permission android:name="android.permission.${name}"/>`;
  const [network, biometric] = [permission("ACCESS_NETWORK_STATE"), permission("USE_BIOMETRIC")];
  android(`<!-- ${network} -->`);
  const probes = ["network", "device_security_posture"];
  const [first = "", second = ""] = optional(probes);
  expect(first).toMatch(
    /^AndroidManifest.xml: <uses-permission android:name="android.permission.ACCESS_NETWORK_STATE" \/>/,
  );
  expect(first).toMatch(
    / gives network: isConnected, connectionType, .*isVpnActive.*wifiSecurityType; no user is asked/,
  );
  expect(second).toContain("USE_BIOMETRIC");
  expect(problems(probes)).toEqual([]);
  android(network + biometric.replace("/>", ' tools:node="remove"/>'));
  expect(optional(probes)).toEqual([second]);
  android(network + biometric);
  expect(optional(probes)).toEqual([]);
  android("");
  expect(optional(["hardware"])).toEqual([]);
});

it("a bare app that declares exactly what its probes need has no problem", () => {
  android(queries(packages) + marker("os_integrity"));
  ios(schemes);
  expect(problems(["os_integrity"])).toEqual([]);
});

it("doctor reports a missing declaration, even if a comment contains that declaration", () => {
  android(`<!-- ${queries(packages)} ${marker("os_integrity")} -->${queries(packages.slice(1))}`);
  ios(schemes.slice(1));
  expect(problems(["os_integrity"]).map(({ text }) => text)).toEqual([
    `AndroidManifest.xml: <queries> lack <package android:name="${packages[0]}" />`,
    'AndroidManifest.xml: <application> lacks <meta-data android:name="io.devicerisksignals.QUERIES" android:value="os_integrity" />',
    `Info.plist: LSApplicationQueriesSchemes lack <string>${schemes[0]}</string>`,
  ]);
});

it("doctor reports declarations that no probe needs", () => {
  android(`<uses-permission android:name="android.permission.QUERY_ALL_PACKAGES"/>${marker("os_integrity")}`);
  ios(Array.from({ length: 51 }, (_, index) => `own${index}`));
  const found = problems(["hardware"]);
  expect(found.map(({ kind }) => kind)).toEqual(["too much", "too much", "too much"]);
  expect(found.map(({ text }) => text).join()).toMatch(/names os_integrity.*QUERY_ALL_PACKAGES.*51 schemes/);
});

it("doctor reports an old React Native, a missing package and an empty folder", () => {
  write("package.json", JSON.stringify({ dependencies: { "react-native": "^0.72.1" } }));
  android("");
  expect(problems(["hardware"]).map(({ text }) => text)).toEqual([
    "package.json: the dependency @device-risk-signals/react-native",
    "react-native 0.80 or later: package.json has ^0.72.1",
  ]);
  rmSync(join(folder, "package.json"));
  expect(problems()).toEqual([{ kind: "missing", text: "package.json: run this in the app's folder" }]);
});

it("a wrong name of a probe is an error that says where it is, and names the probe and the valid ones", () => {
  const valid = "; the probes are device_identity, hardware, ";
  expect(() => examine(folder, ["hardware", "hardwear"])).toThrow(`doctor --probes: no such probe: "hardwear"${valid}`);
  write("app.json", JSON.stringify({ expo: { plugins: [[PLUGIN, { probes: ["hardwear", 7] }]] } }));
  expect(() => examine(folder, undefined)).toThrow(
    `app.json: the plugin "${PLUGIN}": no such probe: "hardwear", 7${valid}`,
  );
  write("app.json", JSON.stringify({ expo: { plugins: [[PLUGIN, { probes: "hardware" }]] } }));
  expect(() => examine(folder, undefined)).toThrow(`app.json: the plugin "${PLUGIN}": probes must be a list${valid}`);
});
