import type { Evidence } from "../native/native-interface.ts";
import type { AndroidRules } from "./android-rules.ts";
import { mountsOf } from "./android-mounts.ts";
import { virtualProcessorMarks } from "./cpu-info.ts";
import {
  BUILD_MEMBERS,
  EMULATOR_PROPERTIES,
  EMULATORS,
  FARM_PACKAGES,
  FARM_PATHS,
  TRANSLATOR_PATHS,
  TRANSLATORS,
  WEAK_BUILD_FACTS,
} from "./emulator-artefacts.ts";
import { anyFound, facts, type Finding, type Found, inText, present, together, namesFound } from "./finding.ts";
import type { Judgements } from "./judgement.ts";
import { nativeBridge } from "./native-bridge.ts";

const KNOWN_FACTS = new RegExp(EMULATORS.map(([, , known]) => known.source).join("|"));

const build = facts("build", BUILD_MEMBERS, KNOWN_FACTS);
const files = present(
  "paths",
  EMULATORS.flatMap(([, paths]) => paths),
);
const properties = facts("properties", EMULATOR_PROPERTIES, KNOWN_FACTS);
const mounts = inText("mountInfo", (text) =>
  [...new Set(mountsOf(text).map(({ type }) => `mount=${type}`))].filter((fact) => KNOWN_FACTS.test(fact)),
);
export const cpuMarkers = together(
  inText("cpuInfo", ({ text }) => virtualProcessorMarks(text)),
  nativeBridge(TRANSLATORS),
  present("paths", TRANSLATOR_PATHS),
);

const CHECKS: Readonly<Record<string, Finding>> = { build, files, properties, mounts, cpu: cpuMarkers };

export const deviceFarmMarkers = together(present("packages", FARM_PACKAGES), present("paths", FARM_PATHS));

/**
 * Markers that make a device an emulator. Weak values of the build, processors and farms do not: real devices have
 * them, too.
 */
export const STRONG_MARKERS: readonly Finding[] = [files, properties, mounts];
const all = together(build, ...STRONG_MARKERS);

/** A build is one marker, however many of its members match. */
function countMarkers({ markers }: AndroidRules, evidence: Evidence): number {
  return build.find(evidence).found.slice(0, 1).length + together(...markers).find(evidence).found.length;
}

/**
 * A `false` needs what every app can read on every phone. Properties and mounts only add markers: up to Android 8.1 a
 * property that is not set can't be distinguished from one that is denied.
 */
function lookedAtAll(evidence: Evidence): boolean {
  return build.find(evidence).whole && files.find(evidence).whole;
}

function productsOf({ found: markers }: Found): readonly string[] {
  const known = EMULATORS.filter(([, paths, facts]) =>
    markers.some((name) => paths.includes(name) || facts.test(name)),
  );
  return known.map(([product]) => product);
}

export function androidEmulator(rules: AndroidRules): Judgements {
  return {
    ...MARKERS,
    isEmulator: {
      sources: all.sources,
      judge(evidence) {
        if (countMarkers(rules, evidence) >= rules.minMarkers) return true;
        return lookedAtAll(evidence) ? false : undefined;
      },
    },
  };
}

const MARKERS: Judgements = {
  emulatorFingerprintMatch: anyFound(build),
  emulatorBuildMarkers: namesFound(
    facts("build", BUILD_MEMBERS, new RegExp(`${KNOWN_FACTS.source}|${WEAK_BUILD_FACTS.source}`)),
  ),
  emulatorFilesFound: anyFound(files),
  emulatorFilePaths: namesFound(files),
  emulatorSystemPropertyMarkers: namesFound(properties),
  emulatorCpuMarkers: namesFound(cpuMarkers),
  emulatorVendorMarkers: {
    sources: all.sources,
    judge: (evidence) => (lookedAtAll(evidence) ? productsOf(all.find(evidence)) : undefined),
  },
  emulatorChecksPerformed: {
    sources: together(all, cpuMarkers).sources,
    judge: (evidence) => Object.keys(CHECKS).filter((check) => CHECKS[check]?.find(evidence).whole),
  },
  deviceFarmMarkers: namesFound(deviceFarmMarkers),
};
