import { deepEqual, equal, ok } from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { APP, GUIDE_CODE } from "./fresh-expo.ts";
import { writeFromGuide } from "./guide.ts";
import { jestCounts } from "../suite/jest-counts.ts";
import type { Probe } from "../../packages/contract/src/catalog/declare.ts";
import { bin, type ProgramRunner } from "../suite/run.ts";
import type { Suite } from "../suite/suite.ts";
import { ROOT } from "../pack/manifest.ts";

const EXAMPLE = join(ROOT, "examples/mobile");
const SDK = "@device-risk-signals/react-native";
const PLATFORMS = ["android", "ios"] as const;

/** Copies the example without files that were installed or built in it. */
export function copyExample(folder: string): void {
  cpSync(EXAMPLE, folder, {
    recursive: true,
    filter: (path) => !/^(node_modules|packages|android|ios|\.expo)$/.test(relative(EXAMPLE, path)),
  });
}

/** Installs the app by its lock file, with the newly packed packages. @returns whether the installation succeeded. */
export async function installExample(
  suite: Suite,
  folder: string,
  runner: ProgramRunner,
  tarballs: readonly string[],
): Promise<boolean> {
  copyExample(folder);
  for (const tarball of tarballs) cpSync(tarball, join(folder, "packages", tarball.slice(tarball.lastIndexOf("/"))));
  await suite.check("example: the lock file names no host, and no hash of our own packages", () => {
    const { packages } = readJson(join(folder, "package-lock.json")) as { packages: Record<string, Locked> };
    const problems = Object.entries(packages).filter(([path, { resolved, integrity }]) =>
      path.startsWith("node_modules/@device-risk-signals/")
        ? integrity !== undefined || !resolved?.startsWith("file:packages/")
        : resolved !== undefined,
    );
    deepEqual(problems, [], "remove `integrity` of our packages, and `resolved` of all others");
  });
  return await suite.check("example: npm ci installs it with the packed packages", () => runner.install());
}

interface Locked {
  readonly resolved?: string;
  readonly integrity?: string;
}

/** Checks types, lint and tests of the example, and that its checklist is that of the guide. */
export async function checkSources(suite: Suite, folder: string, runner: ProgramRunner): Promise<void> {
  await suite.check("example: types", async () => void (await runner.must(bin("tsc"), "--noEmit")));
  await suite.check("example: lint, with the rules of the repository", async () => {
    const oxlint = join(ROOT, "node_modules/.bin/oxlint");
    await runner.must(
      oxlint,
      "--type-aware",
      "--deny-warnings",
      "--config",
      join(ROOT, ".oxlintrc.json"),
      "--ignore-pattern",
      "guide",
    );
  });
  await suite.check("example: its checklist is that of docs/integrator-mobile.md", () => {
    const guide = readFileSync(join(ROOT, "docs/integrator-mobile.md"), "utf8");
    const items = [...guide.matchAll(/^- \[ \] (.*)$/gm)].map(([, item]) => item);
    const source = readFileSync(join(folder, "src/checklist.tsx"), "utf8");
    const list = /CHECKLIST = \[([\s\S]*?)\] as const/.exec(source)?.[1] ?? "";
    deepEqual(
      [...list.matchAll(/^ {2}"(.*)",$/gm)].map(([, item]) => item),
      items,
    );
  });
  await suite.tests("example: Jest", () => jestCounts(runner, folder));
}

/** Checks that each file exists that autolinking names for the build of an app. */
export async function checkAutolinking(suite: Suite, runner: ProgramRunner): Promise<void> {
  for (const platform of PLATFORMS) {
    await suite.check(
      `example: autolinking finds the native half on ${platform}, and each file that it names exists`,
      async () => {
        const flags = ["react-native-config", "--json", "--platform", platform];
        const config = JSON.parse(await runner.must(bin("expo-modules-autolinking"), ...flags)) as Autolinking;
        const found = config.dependencies[SDK]?.platforms[platform];
        ok(found, `${SDK} is not linked`);
        const named = [found.sourceDir, found.cmakeListsPath, found.podspecPath].filter((path) => path !== undefined);
        ok(named.length > 0);
        deepEqual(
          named.filter((path) => !existsSync(path)),
          [],
          "autolinking names what the package does not hold",
        );
      },
    );
  }
}

interface Autolinking {
  readonly dependencies: Readonly<
    Record<string, { readonly platforms: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> }>
  >;
}

/** An app that imports only the SDK. */
const MINIMAL = `
import { consentFor, DeviceIntel } from "${SDK}";

const intel = new DeviceIntel({ consent: consentFor("hardware") });
void intel.collect({ sessionId: "session" });
`;

/** The type of an event. Every bundle that contains code of the SDK contains this text. */
const EVENT_TYPE = "device_intel_collection";

/**
 * Checks that Expo's Metro bundles the packages, that Hermes compiles the bundles, and that an app contains only the
 * parts that it uses.
 */
export async function checkBundles(suite: Suite, folder: string, runner: ProgramRunner): Promise<void> {
  const meanings = await catalogMeanings(folder);
  // React Native's own Metro bundles the bare app for Android.
  await suite.check("example: Metro and Hermes bundle it for iOS", async () => {
    await runner.must(bin("expo"), "export", "--platform", "ios", "--output-dir", "bundles");
    const text = bundle(folder, "bundles");
    ok(text.includes(EVENT_TYPE), "no code of the SDK in the bundle");
    // The inspector shows the meanings. If they were missing here, the check below would prove nothing.
    const absent = meanings.filter((meaning) => !text.includes(meaning));
    deepEqual(absent, [], "the bundle lacks what the app imports");
  });
  await suite.check("a minimal app: its bundle has no prose of the catalog, no mock and no tool", async () => {
    writeFileSync(join(folder, "minimal.ts"), MINIMAL);
    const code = await bundleFrom("minimal.ts", folder, runner);
    ok(code.includes(EVENT_TYPE), "no code of the SDK in the bundle");
    const others = ["rooted-android", "LSApplicationQueriesSchemes", "QUERY_ALL_PACKAGES"];
    deepEqual(
      [...meanings, ...others].filter((each) => code.includes(each)),
      [],
      "what an app does not import is in its bundle",
    );
  });
  await suite.check("fresh Expo app: Metro and Hermes bundle the guide's code, catalog included", async () => {
    const app = join(folder, "guide");
    mkdirSync(app);
    cpSync(join(APP, "index.ts"), join(app, "index.ts"));
    writeFromGuide(app, GUIDE_CODE);
    const code = await bundleFrom("guide/index.ts", folder, runner);
    ok(code.includes(EVENT_TYPE), "no code of the SDK in the bundle");
    deepEqual(
      meanings.filter((meaning) => !code.includes(meaning)),
      [],
      "the bundle lacks the catalog that the app imports",
    );
  });
}

/** Bundles the example's folder for iOS with another entry. */
async function bundleFrom(main: string, folder: string, runner: ProgramRunner): Promise<string> {
  const manifest = join(folder, "package.json");
  const text = readFileSync(manifest, "utf8");
  writeFileSync(manifest, text.replace('"main": "index.ts"', `"main": "${main}"`));
  const output = `bundle-${main.replace(/\W.*/, "")}`;
  try {
    await runner.must(bin("expo"), "export", "--platform", "ios", "--output-dir", output);
  } finally {
    writeFileSync(manifest, text);
  }
  return bundle(folder, output);
}

/** The meanings of fields in the installed contract. A bundle contains them unchanged. */
async function catalogMeanings(folder: string): Promise<readonly string[]> {
  const catalog = join(folder, "node_modules/@device-risk-signals/contract/src/catalog/catalog.js");
  const { CATALOG } = (await import(catalog)) as { readonly CATALOG: readonly Probe[] };
  const meanings = CATALOG.flatMap(({ fields }) => Object.values(fields).map(({ meaning }) => meaning));
  return meanings.filter((meaning) => /^[\w ,.:;()-]{20,}$/.test(meaning));
}

function bundle(folder: string, output: string): string {
  const place = join(folder, output, "_expo/static/js/ios");
  const files = readdirSync(place);
  equal(files.length, 1);
  return readFileSync(join(place, files[0] ?? ""), "latin1");
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
