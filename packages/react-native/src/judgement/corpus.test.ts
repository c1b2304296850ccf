import { CATALOG } from "@device-risk-signals/contract/catalog";
import { outsideVocabulary } from "@device-risk-signals/contract/catalog/vocabulary";
import { describe, expect, it, test } from "vitest";
import { conclude, departures, judgedProbes } from "../../evidence/check.ts";
import type { EvidenceCase } from "../../evidence/load.ts";
import { readCaseFiles, readCorpus } from "../../evidence/read.ts";
import { SCENARIOS } from "../../evidence/scenarios.ts";
import { JAVASCRIPT_FIELDS } from "../javascript-fields.ts";
import { JUDGEMENTS } from "./judgements.ts";

const corpus = readCorpus();
const cases = [...corpus.values()];

test.each(cases)("$name: each expected field has its value, and every other field is absent", (subject) => {
  expect(departures(subject)).toEqual([]);
});

test.each(cases)("$name: the values are values that a device can send", (subject) => {
  const concluded = new Map(
    judgedProbes(subject).map(([probe, judgements]) => [probe as string, conclude(subject, probe, judgements)]),
  );
  const probes = Object.entries(subject.answers).map(([probe, { fields }]) => [
    probe,
    { data: definedOf({ ...fields, ...concluded.get(probe) }) },
  ]);
  expect(outsideVocabulary(subject.platform, Object.fromEntries(probes) as Record<string, unknown>)).toEqual([]);
});

function definedOf(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

describe("the corpus", () => {
  it("has at least 60 cases, each with a source and an expectation", () => {
    expect(cases.length).toBeGreaterThanOrEqual(60);
    for (const { name, about, sources } of cases) {
      expect(sources.length, name).toBeGreaterThan(0);
      expect(about, name).toMatch(/^.{20,}\.$/);
    }
  });

  it("names each case after its file, and uses each name once", () => {
    const names = readCaseFiles().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBe(corpus.size);
  });

  it("holds clean phones of ten makers and of five versions of Android", () => {
    const clean = cases.filter(isCleanPhone).map(({ answers }) => answers["os_integrity"]?.evidence?.["build"]);
    const builds = clean as Record<string, string>[];
    expect(new Set(builds.map(({ brand }) => brand?.toLowerCase())).size).toBeGreaterThanOrEqual(10);
    const versions = new Set(builds.map(({ release }) => release?.split(".")[0]));
    for (const version of ["8", "10", "12", "14", "15"]) expect(versions).toContain(version);
  });

  it("has a case for every known false alarm", () => {
    const alarms = new Set(cases.map(({ falseAlarm }) => falseAlarm));
    for (const alarm of KNOWN_FALSE_ALARMS) expect(alarms).toContain(alarm);
  });
});

/** Every false alarm that the rules must prevent. */
const KNOWN_FALSE_ALARMS = [
  "substrings of names",
  "deleted mappings of the JIT",
  "deleted mappings of drivers and WebView",
  "long names of sockets",
  "busybox and names like su",
  "build markers",
  "Chromebooks",
  "device farms",
  "the simulator",
  "contested URL schemes",
  "schemes that were not declared",
  "capture apps",
  "debuggers on debug builds",
  "iOS on a Mac",
  "developer options hidden",
  "tunnels of iOS",
  "overlays of the maker",
  "overlays of a debug build",
  "properties of the emulator on phones",
  "threads of GLib",
  "ports without a listener",
  "a single marker",
];

function isCleanPhone({ name, platform }: EvidenceCase): boolean {
  return platform === "android" && /-android-\d+$/.test(name) && !/^(emulator|magisk|supersu)/.test(name);
}

/** Fields that must never be true for a clean phone. */
const ALARMS =
  /^(su|root|dangerous(App|Props)|suspicious.*Found|writable|injectedLib.*Found|hook.*Found|magi|frida.*Found$|zygisk|canOpen|symbolic|jailbreak|isEmulator)/;

test.each(cases.filter(({ falseAlarm }) => falseAlarm !== undefined))(
  "$name does not report the false alarm $falseAlarm",
  (subject) => {
    const concluded = judgedProbes(subject).flatMap(([probe, judgements]) =>
      Object.entries(conclude(subject, probe, judgements)),
    );
    const alarming = concluded.filter(([field, value]) => ALARMS.test(field) && value === true);
    expect(alarming.map(([field]) => field)).toEqual(EXPECTED_ALARMS[subject.name] ?? []);
  },
);

/** Fields that are rightly true in these cases, because the cases are about them. */
const EXPECTED_ALARMS: Readonly<Record<string, readonly string[]>> = {
  "vendor-debug-build": ["dangerousPropsPresent"],
  "adb-remount": ["dangerousPropsPresent"],
  "debugger-ios": ["suspiciousEnvironmentVariablesFound"],
};

describe("the scenarios of the mock", () => {
  it("are the cases of the corpus that the mock imports", () => {
    for (const [name, scenario] of SCENARIOS) expect(scenario).toEqual(corpus.get(name));
    expect([...SCENARIOS.keys()]).toHaveLength(9);
  });

  it.each(["android", "ios"] as const)("full-%s answers every field that a current system provides", (platform) => {
    const { answers, expect: expected } = SCENARIOS.get(`full-${platform}`) ?? expect.fail();
    for (const { id, fields } of CATALOG) {
      for (const [name, { platforms, systems, constantOn }] of Object.entries(fields)) {
        if (!platforms.includes(platform) || name === "skippedReason" || systems?.[platform]?.until) continue;
        const isAnswered =
          Object.hasOwn(answers[id]?.fields ?? {}, name) ||
          Object.hasOwn(expected[id] ?? {}, name) ||
          JAVASCRIPT_FIELDS[id as "runtime"]?.includes(name) ||
          constantOn?.includes(platform);
        expect(isAnswered, `${id}.${name}`).toBe(true);
      }
    }
  });

  it.each([
    "clean-android",
    "rooted-android",
    "hooked-android",
    "emulator-android",
    "clean-ios",
    "jailbroken-ios",
    "simulator-ios",
  ])("%s answers every probe that is on by default", (name) => {
    const { answers } = SCENARIOS.get(name) ?? expect.fail();
    const asked = CATALOG.filter(({ id, enabledByDefault }) => enabledByDefault && id !== "runtime");
    for (const { id } of asked) expect(Object.keys(answers[id]?.fields ?? {}), id).not.toHaveLength(0);
  });
});

it.each(["android", "ios"] as const)("%s judges fields of the catalog, and only those of its platform", (platform) => {
  for (const [probe, judgements] of Object.entries(JUDGEMENTS[platform])) {
    const fields = CATALOG.find(({ id }) => id === probe)?.fields ?? {};
    for (const name of Object.keys(judgements)) expect(fields[name]?.platforms, name).toContain(platform);
  }
});
