import type { Evidence } from "../native/native-interface.ts";
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
import { factsOf, knowsAll } from "./facts.ts";
import {
  anyPresent,
  complete,
  joined,
  type Judgement,
  type Judgements,
  LONGEST_NAME,
  mergeSources,
  whichPresent,
} from "./judgement.ts";

const PATHS = EMULATORS.flatMap(([, files]) => files);
const NATIVE_BRIDGE = ["ro.dalvik.vm.native.bridge"];
/** One marker alone makes no emulator. */
const FEWEST_MARKERS = 2;

const files = whichPresent("paths", PATHS);
const fromBuild = { sources: { build: true } } as const;
const fromProperties = { sources: { properties: EMULATOR_PROPERTIES } };
const fromProcessor = { sources: { cpuInfo: true, properties: NATIVE_BRIDGE, paths: TRANSLATOR_PATHS } } as const;
const fromAll: Pick<Judgement, "sources"> = {
  sources: mergeSources([{ build: true, mountInfo: true }, files.sources, fromProperties.sources]),
};

/** The products that such a fact is known of. */
function productsOf(facts: readonly string[]): readonly string[] {
  return EMULATORS.flatMap(([product, , known]) => facts.filter((fact) => known.test(fact)).map(() => product));
}

function isKnown(fact: string): boolean {
  return productsOf([fact]).length > 0;
}

/** Each strong marker that was seen, by product. The weak ones (test-keys, x86, translators, farms) never count. */
function strongMarkers({ build, properties, paths, mountInfo }: Evidence): readonly string[] {
  const types = new Set(mountInfo && mountsOf(mountInfo).map(({ type }) => type));
  return [
    // A build is one marker, however many of its members tell.
    ...productsOf(factsOf(BUILD_MEMBERS, build)).slice(0, 1),
    ...productsOf(factsOf(EMULATOR_PROPERTIES, properties)),
    ...EMULATORS.flatMap(([product, list]) => list.filter((path) => paths?.present.includes(path)).map(() => product)),
    ...productsOf([...types].map((type) => `mount=${type}`)),
  ];
}

/** Marks of a processor: what the kernel says of it, and a translator of ARM code. */
function processorMarks({ cpuInfo, properties, paths }: Evidence): readonly string[] | undefined {
  if (!cpuInfo || cpuInfo.truncated || !knowsAll(NATIVE_BRIDGE, properties)) return undefined;
  if (!paths || !complete(paths, TRANSLATOR_PATHS)) return undefined;
  const bridges = factsOf(NATIVE_BRIDGE, properties).filter((fact) => TRANSLATORS.test(fact));
  const translators = [...bridges, ...TRANSLATOR_PATHS.filter((path) => paths.present.includes(path))];
  return [
    ...new Set([...virtualProcessorMarks(cpuInfo.text), ...translators.map((name) => name.replace(/.*[/=]/, ""))]),
  ];
}

/** The checks whose answer can be a no. */
const CHECKS: Readonly<Record<string, (evidence: Evidence) => boolean>> = {
  build: ({ build }) => build !== undefined,
  files: ({ paths }) => paths !== undefined && complete(paths, PATHS),
  properties: ({ properties }) => knowsAll(EMULATOR_PROPERTIES, properties),
  mounts: ({ mountInfo }) => mountInfo?.truncated === false,
  cpu: (evidence) => processorMarks(evidence) !== undefined,
};

/**
 * A no needs what every app can read on every phone. Properties and mounts only add markers: up to Android 8.1 a
 * property that is not set can't be told from one that is denied.
 */
function lookedAtAll(evidence: Evidence): boolean {
  return ["build", "files"].every((check) => CHECKS[check]?.(evidence));
}

export const androidEmulator: Judgements = {
  isEmulator: {
    ...fromAll,
    judge(evidence) {
      if (strongMarkers(evidence).length >= FEWEST_MARKERS) return true;
      return lookedAtAll(evidence) ? false : undefined;
    },
  },
  emulatorFingerprintMatch: {
    ...fromBuild,
    judge: ({ build }) => build && factsOf(BUILD_MEMBERS, build).some(isKnown),
  },
  emulatorBuildMarkers: {
    ...fromBuild,
    judge: ({ build }) =>
      build &&
      factsOf(BUILD_MEMBERS, build)
        .filter((fact) => WEAK_BUILD_FACTS.test(fact) || isKnown(fact))
        .map((fact) => fact.slice(0, LONGEST_NAME)),
  },
  emulatorFilesFound: anyPresent("paths", PATHS),
  emulatorFilePaths: files,
  emulatorSystemPropertyMarkers: {
    ...fromProperties,
    judge({ properties }) {
      if (!knowsAll(EMULATOR_PROPERTIES, properties)) return undefined;
      return EMULATOR_PROPERTIES.filter((name) => factsOf([name], properties).some(isKnown));
    },
  },
  emulatorCpuMarkers: { ...fromProcessor, judge: processorMarks },
  emulatorVendorMarkers: {
    ...fromAll,
    judge: (evidence) => (lookedAtAll(evidence) ? [...new Set(strongMarkers(evidence))] : undefined),
  },
  emulatorChecksPerformed: {
    sources: mergeSources([fromAll.sources, fromProcessor.sources]),
    judge: (evidence) => Object.keys(CHECKS).filter((check) => CHECKS[check]?.(evidence)),
  },
  deviceFarmMarkers: joined(whichPresent("packages", FARM_PACKAGES), whichPresent("paths", FARM_PATHS)),
};
