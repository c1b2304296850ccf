import type { Evidence } from "../native/native-interface.ts";
import { any, concluding, count, type Finding, findingIn, named, present, together, which } from "./finding.ts";
import { demand, type Guards } from "./guards.ts";
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
  hookingImage,
  imageInTweakPlace,
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

const parent = findingIn("parentPid", true, (pid) => ({ found: pid === LAUNCHD ? [] : ["parent"], whole: true }));

const environment = present("environment", SIMULATOR_VARIABLES);
const simulator = named("images", (path) => (isSimulatorImage(path) ? path : undefined));
const files = present("paths", CORELLIUM_PATHS);
const CHECKS: Readonly<Record<string, Finding>> = { environment, images: simulator, files };
const { sources } = together(environment, simulator, files);

/** On a Mac, whose own libraries are in such places, the names of images still tell. */
function onlyFound({ sources, find }: Finding): Finding {
  return { sources, find: (evidence) => ({ found: find(evidence).found, whole: true }) };
}

/** A scheme counts only with another trace of a jailbreak. */
function confirmedBy(trace: Finding, guards: Guards): Finding {
  const schemes = present("schemes", JAILBREAK_SCHEMES);
  return {
    sources: together(schemes, trace).sources,
    find(evidence) {
      const { found, whole } = schemes.find(evidence);
      const traces = trace.find(evidence);
      const isConfirmed = demand(guards, "schemes-need-a-trace", () => traces.found.length > 0);
      const isKnown = demand(guards, "unknown-traces", () => found.length === 0 || traces.whole);
      return { found: isConfirmed(found) ? found : [], whole: whole && isKnown(found) };
    },
  };
}

function virtualProducts(evidence: Evidence): readonly string[] | undefined {
  if (!together(environment, simulator, files).find(evidence).whole) return undefined;
  const isSimulator = together(environment, simulator).find(evidence).found.length > 0;
  return [...(isSimulator ? ["ios_simulator"] : []), ...(files.find(evidence).found.length > 0 ? ["corellium"] : [])];
}

export function osIntegrityIos(guards: Guards): Judgements {
  const phone = onPhone(guards);
  const paths = phone(present("paths", JAILBREAK_PATHS));
  const places = onlyFound(phone(named("images", imageInTweakPlace)));
  const images = together(named("images", injectedImage(guards)), places);
  const variables = phone(present("environment", INJECTION_VARIABLES));
  const bypass = together(phone(present("paths", BYPASS_PATHS)), named("images", bypassImage(guards)));
  return {
    ...HOST,
    parentPidUnexpected: any(phone(parent)),
    suBinaryFound: any(phone(present("paths", JAILBREAK_SU))),
    rootManagementAppFound: any(phone(present("paths", JAILBREAK_STORES))),
    suspiciousFilePathsFound: any(paths),
    suspiciousFilePaths: which(paths),
    suspiciousPathCount: count(paths),
    writableSystemPathFound: any(phone(present("writablePaths", READ_ONLY_PLACES))),
    canOpenJailbreakScheme: any(confirmedBy(together(paths, images), guards)),
    symbolicLinksSuspicious: any(phone(present("links", PLAIN_FOLDERS))),
    jailbreakBypassDetected: any(bypass),
    hookFrameworkFound: any(named("images", hookingImage(guards))),
    injectedLibrariesFound: any(images),
    injectedLibraryNames: which(images),
    injectedLibraryCount: count(images),
    suspiciousEnvironmentVariablesFound: any(variables),
    suspiciousEnvironmentVariableNames: which(variables),
  };
}

const HOST: Judgements = {
  openReverseEngineeringPorts: concluding(present("ports", REVERSE_ENGINEERING_PORTS), ({ found, whole }) =>
    whole ? found.map(Number) : undefined,
  ),
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
