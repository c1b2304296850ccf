import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
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
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const problems = (probes?: string[]) => examine(folder, probes).filter(({ kind }) => kind !== "ok");
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

it("a bare app that declares exactly what its probes ask for is well", () => {
  android(queries(packages) + marker("os_integrity"));
  ios(schemes);
  expect(problems(["os_integrity"])).toEqual([]);
});

it("what is missing is named, also where it stands in a comment only", () => {
  android(`<!-- ${queries(packages)} ${marker("os_integrity")} -->${queries(packages.slice(1))}`);
  ios(schemes.slice(1));
  expect(problems(["os_integrity"]).map(({ text }) => text)).toEqual([
    `AndroidManifest.xml: <queries> lack <package android:name="${packages[0]}" />`,
    'AndroidManifest.xml: <application> lacks <meta-data android:name="io.devicerisksignals.QUERIES" android:value="os_integrity" />',
    `Info.plist: LSApplicationQueriesSchemes lack <string>${schemes[0]}</string>`,
  ]);
});

it("what is too much is named", () => {
  android(`<uses-permission android:name="android.permission.QUERY_ALL_PACKAGES"/>${marker("os_integrity")}`);
  ios(Array.from({ length: 51 }, (_, index) => `own${index}`));
  const found = problems(["hardware"]);
  expect(found.map(({ kind }) => kind)).toEqual(["too much", "too much", "too much"]);
  expect(found.map(({ text }) => text).join()).toMatch(/names os_integrity.*QUERY_ALL_PACKAGES.*51 schemes/);
});

it("an old React Native, a missing package, an empty folder", () => {
  write("package.json", JSON.stringify({ dependencies: { "react-native": "^0.72.1" } }));
  android("");
  expect(problems(["hardware"]).map(({ text }) => text)).toEqual([
    "package.json: the dependency @device-risk-signals/react-native",
    "react-native 0.80 or later: package.json has ^0.72.1",
  ]);
  rmSync(join(folder, "package.json"));
  expect(problems()).toEqual([{ kind: "missing", text: "package.json: run this in the app's folder" }]);
});

it("a probe that does not exist is wrong usage", () => {
  expect(() => examine(folder, ["hardwear"])).toThrow(/probes.0/);
});
