import type { Evidence } from "../native/native-interface.ts";
import { any, concluding, count, type Finding, findingIn, named, present, together, which } from "./finding.ts";
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
  hookingImage,
  INJECTION_VARIABLES,
  injectedImage,
  JAILBREAK_PATHS,
  JAILBREAK_SCHEMES,
  JAILBREAK_STORES,
  JAILBREAK_SU,
  PLAIN_FOLDERS,
  READ_ONLY_PLACES,
  REVERSE_ENGINEERING_PORTS,
} from "./jailbreak-artefacts.ts";
import type { Judgements } from "./judgement.ts";

const LAUNCHD = 1;

const paths = onPhone(present("paths", JAILBREAK_PATHS));
const images = named("images", injectedImage);
const variables = onPhone(present("environment", INJECTION_VARIABLES));
const parent = findingIn("parentPid", true, (pid) => ({ found: pid === LAUNCHD ? [] : ["parent"], whole: true }));

const environment = present("environment", SIMULATOR_VARIABLES);
const simulator = named("images", (path) => (isSimulatorImage(path) ? path : undefined));
const files = present("paths", CORELLIUM_PATHS);
const CHECKS: Readonly<Record<string, Finding>> = { environment, images: simulator, files };
const { sources } = together(environment, simulator, files);

/** A scheme that ordinary apps claim, too, counts only beside another trace of a jailbreak. */
const contested = present("schemes", CONTESTED_SCHEMES);
const confirmed: Finding = {
  sources: together(contested, paths).sources,
  find(evidence) {
    const { found, whole } = contested.find(evidence);
    const trace = paths.find(evidence);
    return { found: trace.found.length > 0 ? found : [], whole: whole && (found.length === 0 || trace.whole) };
  },
};

function virtualProducts(evidence: Evidence): readonly string[] | undefined {
  if (!together(environment, simulator, files).find(evidence).whole) return undefined;
  const isSimulator = together(environment, simulator).find(evidence).found.length > 0;
  return [...(isSimulator ? ["ios_simulator"] : []), ...(files.find(evidence).found.length > 0 ? ["corellium"] : [])];
}

export const osIntegrityIos: Judgements = {
  parentPidUnexpected: any(onPhone(parent)),
  suBinaryFound: any(onPhone(present("paths", JAILBREAK_SU))),
  rootManagementAppFound: any(onPhone(present("paths", JAILBREAK_STORES))),
  suspiciousFilePathsFound: any(paths),
  suspiciousFilePaths: which(paths),
  suspiciousPathCount: count(paths),
  writableSystemPathFound: any(onPhone(present("writablePaths", READ_ONLY_PLACES))),
  canOpenJailbreakScheme: any(together(present("schemes", JAILBREAK_SCHEMES), confirmed)),
  symbolicLinksSuspicious: any(onPhone(present("links", PLAIN_FOLDERS))),
  jailbreakBypassDetected: any(together(onPhone(present("paths", BYPASS_PATHS)), named("images", bypassImage))),

  hookFrameworkFound: any(named("images", hookingImage)),
  injectedLibrariesFound: any(images),
  injectedLibraryNames: which(images),
  injectedLibraryCount: count(images),
  openReverseEngineeringPorts: concluding(present("ports", REVERSE_ENGINEERING_PORTS), ({ found, whole }) =>
    whole ? found.map(Number) : undefined,
  ),
  suspiciousEnvironmentVariablesFound: any(variables),
  suspiciousEnvironmentVariableNames: which(variables),

  simulatorEnvironmentPresent: any(environment),
  emulatorFingerprintMatch: any(simulator),
  emulatorBuildMarkers: which(named("images", simulatorImage)),
  emulatorFilesFound: any(files),
  emulatorFilePaths: which(files),
  emulatorSystemPropertyMarkers: which(environment),
  emulatorCpuMarkers: which(named("images", translatorImage)),
  emulatorVendorMarkers: { sources, judge: virtualProducts },
  emulatorChecksPerformed: {
    sources,
    judge: (evidence) => Object.keys(CHECKS).filter((check) => CHECKS[check]?.find(evidence).whole),
  },
  deviceFarmMarkers: which(together(present("environment", FARM_VARIABLES), named("images", farmImage))),
};
