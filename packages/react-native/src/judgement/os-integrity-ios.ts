import type { Evidence } from "../native/native-interface.ts";
import { onPhone } from "./ios-host.ts";
import {
  CORELLIUM_PATHS,
  FARM_VARIABLES,
  farmImage,
  isSimulatorImage,
  SIMULATOR_VARIABLES,
  simulatorImage,
  translatorImage,
} from "./ios-virtual-artefacts.ts";
import {
  BYPASS_PATHS,
  bypassImage,
  CONTESTED_SCHEMES,
  INJECTION_VARIABLES,
  hookingImage,
  injectedImage,
  JAILBREAK_PATHS,
  JAILBREAK_SCHEMES,
  JAILBREAK_STORES,
  JAILBREAK_SU,
  PLAIN_FOLDERS,
  READ_ONLY_PLACES,
  REVERSE_ENGINEERING_PORTS,
} from "./jailbreak-artefacts.ts";
import {
  anyNamed,
  anyOf,
  anyPresent,
  countOf,
  joined,
  type Judgement,
  type Judgements,
  mergeSources,
  whichNamed,
  whichPresent,
} from "./judgement.ts";

const LAUNCHD = 1;

const anyPath = onPhone(anyPresent("paths", JAILBREAK_PATHS));
const paths = onPhone(whichPresent("paths", JAILBREAK_PATHS));
const images = whichNamed("images", injectedImage);
const simulator = anyPresent("environment", SIMULATOR_VARIABLES);
const simulatorImages = anyNamed("images", isSimulatorImage);
const corellium = anyPresent("paths", CORELLIUM_PATHS);

const uncontested = anyPresent("schemes", JAILBREAK_SCHEMES);
const contested = anyPresent("schemes", CONTESTED_SCHEMES);

/** A scheme that ordinary apps claim, too, counts only beside another trace of a jailbreak. */
const canOpenJailbreakScheme = anyOf(uncontested, bothOf(contested, anyPath));

/** True if both say so, false if one says no. */
function bothOf(one: Judgement, other: Judgement): Judgement {
  return {
    sources: mergeSources([one.sources, other.sources]),
    judge(evidence) {
      const first = one.judge(evidence);
      const second = other.judge(evidence);
      if (first === false || second === false) return false;
      return first === undefined || second === undefined ? undefined : true;
    },
  };
}

const parentPidUnexpected: Judgement = {
  sources: { parentPid: true },
  judge: ({ parentPid }) => (parentPid === undefined ? undefined : parentPid !== LAUNCHD),
};

const openPorts: Judgement = {
  sources: { ports: REVERSE_ENGINEERING_PORTS },
  judge: (evidence) => (whichPresent("ports", REVERSE_ENGINEERING_PORTS).judge(evidence) as string[])?.map(Number),
};

const VIRTUAL_CHECKS: Readonly<Record<string, Judgement>> = {
  environment: simulator,
  images: simulatorImages,
  files: corellium,
};
const fromVirtualChecks = { sources: mergeSources(Object.values(VIRTUAL_CHECKS).map(({ sources }) => sources)) };

function isSimulator(evidence: Evidence): boolean {
  return simulator.judge(evidence) === true || simulatorImages.judge(evidence) === true;
}

function virtualProducts(evidence: Evidence): readonly string[] | undefined {
  if (Object.values(VIRTUAL_CHECKS).some((check) => check.judge(evidence) === undefined)) return undefined;
  return [
    ...(isSimulator(evidence) ? ["iOS Simulator"] : []),
    ...(corellium.judge(evidence) === true ? ["Corellium"] : []),
  ];
}

export const osIntegrityIos: Judgements = {
  parentPidUnexpected: onPhone(parentPidUnexpected),
  suBinaryFound: onPhone(anyPresent("paths", JAILBREAK_SU)),
  rootManagementAppFound: onPhone(anyPresent("paths", JAILBREAK_STORES)),
  suspiciousFilePathsFound: anyPath,
  suspiciousFilePaths: paths,
  suspiciousPathCount: countOf(paths),
  writableSystemPathFound: onPhone(anyPresent("writablePaths", READ_ONLY_PLACES)),
  canOpenJailbreakScheme,
  symbolicLinksSuspicious: onPhone(anyPresent("links", PLAIN_FOLDERS)),
  jailbreakBypassDetected: anyOf(
    onPhone(anyPresent("paths", BYPASS_PATHS)),
    anyNamed("images", (path) => bypassImage(path) !== undefined),
  ),

  hookFrameworkFound: anyNamed("images", (path) => hookingImage(path) !== undefined),
  injectedLibrariesFound: anyNamed("images", (path) => injectedImage(path) !== undefined),
  injectedLibraryNames: images,
  injectedLibraryCount: countOf(images),
  openReverseEngineeringPorts: openPorts,
  suspiciousEnvironmentVariablesFound: onPhone(anyPresent("environment", INJECTION_VARIABLES)),
  suspiciousEnvironmentVariableNames: onPhone(whichPresent("environment", INJECTION_VARIABLES)),

  simulatorEnvironmentPresent: simulator,
  emulatorFingerprintMatch: simulatorImages,
  emulatorBuildMarkers: whichNamed("images", simulatorImage),
  emulatorFilesFound: corellium,
  emulatorFilePaths: whichPresent("paths", CORELLIUM_PATHS),
  emulatorSystemPropertyMarkers: whichPresent("environment", SIMULATOR_VARIABLES),
  emulatorCpuMarkers: whichNamed("images", translatorImage),
  emulatorVendorMarkers: { ...fromVirtualChecks, judge: virtualProducts },
  emulatorChecksPerformed: {
    ...fromVirtualChecks,
    judge: (evidence) =>
      Object.keys(VIRTUAL_CHECKS).filter((check) => VIRTUAL_CHECKS[check]?.judge(evidence) !== undefined),
  },
  deviceFarmMarkers: joined(whichPresent("environment", FARM_VARIABLES), whichNamed("images", farmImage)),
};
