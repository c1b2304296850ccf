import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { declarationsFor, QUERIES_MARKER } from "../../packages/react-native/src/app-config/declarations.ts";
import { PROBE_IDS } from "@device-risk-signals/contract/catalog/fields";
import { copyExample } from "./example.ts";
import { bin, type ProgramRunner } from "../suite/run.ts";
import type { Suite } from "../suite/suite.ts";

interface AppConfig {
  readonly expo: { readonly plugins?: readonly unknown[]; readonly ios: Readonly<Record<string, unknown>> };
}

/** Paths and texts of all files that prebuild made. */
type Made = ReadonlyMap<string, string>;

const EXPO = bin("expo");
const MANIFEST = "android/app/src/main/AndroidManifest.xml";
const PLIST = /^ios\/[^/]+\/Info\.plist$/;

/** Runs a real `expo prebuild` of the example without network, from the template in the `expo` package. */
export async function checkPrebuild(
  suite: Suite,
  folder: string,
  runner: ProgramRunner,
  modules: string,
): Promise<void> {
  copyExample(folder);
  symlinkSync(modules, join(folder, "node_modules"));
  const app = JSON.parse(readFileSync(join(folder, "app.json"), "utf8")) as AppConfig;
  const configure = (expo: Partial<AppConfig["expo"]>): void =>
    writeFileSync(join(folder, "app.json"), JSON.stringify({ expo: { ...app.expo, ...expo } }));
  const [[, { probes }]] = app.expo.plugins as [[string, { probes: string[] }]];
  const declared = declarationsFor(probes);
  const doctor = async (): Promise<string> => await runner.must(bin("device-risk-signals"), "doctor");

  await suite.check("example: its plugin names every probe that has something to declare", () => {
    const sets = ({ packages, schemes, queryProbes }: typeof declared): unknown =>
      [packages, schemes, queryProbes].map((list) => new Set<string>(list));
    deepEqual(sets(declared), sets(declarationsFor(PROBE_IDS)));
  });
  await suite.check("prebuild: doctor finds nothing missing before it", async () => void (await doctor()));

  let made: Made = new Map();
  const ran = await suite.check("prebuild: runs for both platforms without network", async () => {
    await runner.must(EXPO, ...prebuild("all"));
    made = read(folder);
  });
  if (!ran) return;
  await suite.check(
    "prebuild: the Android manifest declares exactly the packages of the probes, and the marker",
    () => {
      const { packages, queryProbes } = declared;
      const xml = made.get(MANIFEST) ?? "";
      const queries = /<queries>([\s\S]*?)<\/queries>/.exec(xml)?.[1] ?? "";
      deepEqual(all(queries, /<package android:name="([^"]*)"\/>/g), packages);
      deepEqual(all(xml, new RegExp(`<meta-data android:name="${QUERIES_MARKER}" android:value="([^"]*)"/>`, "g")), [
        queryProbes.join(","),
      ]);
    },
  );
  await suite.check("prebuild: Info.plist declares exactly the schemes of the probes", () => {
    deepEqual(all(schemesOf(plist(made)), /<string>([^<]*)<\/string>/g), declared.schemes);
  });
  await suite.check("prebuild: doctor finds nothing missing after it", async () => void (await doctor()));
  await suite.check("prebuild: a second prebuild changes no byte", async () => {
    await runner.must(EXPO, ...prebuild("all"), "--no-clean");
    deepEqual(differences(made, read(folder)), []);
  });
  await suite.check("prebuild: without the plugin, everything else is the same, also the permissions", async () => {
    configure({ plugins: [] });
    clean(folder);
    await runner.must(EXPO, ...prebuild("all"));
    const without = read(folder);
    equal(schemesOf(plist(without)), "");
    deepEqual(differences(changed(changed(made, withoutOurs), withoutIds), changed(without, withoutIds)), []);
  });
  await suite.check("prebuild: an app with 60 schemes of its own is rejected with the reason", async () => {
    const own = Array.from({ length: 60 }, (_, index) => `own${index}`);
    configure({ ios: { ...app.expo.ios, infoPlist: { LSApplicationQueriesSchemes: own } } });
    clean(folder);
    const { code, all: said } = await runner.run(EXPO, prebuild("ios"));
    notEqual(code, 0);
    match(said, /LSApplicationQueriesSchemes would hold \d+ schemes, and iOS considers only 50: 60 are the app's/);
  });
}

const prebuild = (platform: string): string[] => ["prebuild", "--no-install", "--platform", platform];

function clean(folder: string): void {
  for (const platform of ["android", "ios"]) rmSync(join(folder, platform), { recursive: true, force: true });
}

function read(folder: string): Made {
  const made = new Map<string, string>();
  for (const platform of ["android", "ios"]) {
    for (const entry of readdirSync(join(folder, platform), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile()) made.set(path.slice(folder.length + 1), readFileSync(path, "latin1"));
    }
  }
  return made;
}

function differences(one: Made, other: Made): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path));
}

function changed(made: Made, change: (text: string, path: string) => string): Made {
  return new Map([...made].map(([path, text]) => [path, change(text, path)]));
}

function plist(made: Made): string {
  return [...made].find(([path]) => PLIST.test(path))?.[1] ?? "";
}

const SCHEMES = /\s*<key>LSApplicationQueriesSchemes<\/key>\s*<array>[\s\S]*?<\/array>/;

function schemesOf(xml: string): string {
  return SCHEMES.exec(xml)?.[0] ?? "";
}

/** The content that a file would have without the plugin, if the plugin has made only the expected changes. */
function withoutOurs(text: string, path: string): string {
  if (path === MANIFEST) {
    return text.replaceAll(/\n *<package android:name="[^"]*"\/>/g, "").replace(markerLine, "");
  }
  return PLIST.test(path) ? text.replace(SCHEMES, "") : text;
}

/**
 * The dev launcher gives its build phase another identifier each time the project is made, so the identifier is
 * removed.
 */
function withoutIds(text: string, path: string): string {
  return path.endsWith(".pbxproj") ? text.replaceAll(/\b[0-9A-F]{24}\b/g, "") : text;
}

const markerLine = new RegExp(`\\n *<meta-data android:name="${QUERIES_MARKER}"[^>]*/>`);

function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = ""]) => found);
}
