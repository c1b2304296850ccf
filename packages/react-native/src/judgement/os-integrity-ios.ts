import type { Evidence } from "../native/native-interface.ts";
import {
  anyFound,
  concluding,
  countFound,
  type Finding,
  findingIn,
  type Found,
  named,
  onlyFound,
  present,
  together,
  namesFound,
} from "./finding.ts";
import { MAC_IMAGES, onPhone } from "./ios-host.ts";
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
  IMAGE_RULES,
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
import { TUNNEL } from "./network-ios.ts";

const LAUNCHD = 1;

const parent = findingIn("parentPid", true, (pid) => ({ found: pid === LAUNCHD ? [] : ["parent"], isComplete: true }));

const environment = present("environment", SIMULATOR_VARIABLES);
const simulator = named("images", (path) => (isSimulatorImage(path) ? path : undefined));
const files = present("paths", CORELLIUM_PATHS);
const CHECKS: Readonly<Record<string, Finding>> = { environment, images: simulator, files };
const { sources } = together(environment, simulator, files);

/**
 * Any app may claim a scheme. A scheme therefore counts only with another trace of a jailbreak, and is unknown if that
 * trace is unknown.
 */
function confirmed({ found, isComplete }: Found, trace: Found): Found {
  return {
    found: trace.found.length > 0 ? found : [],
    isComplete: isComplete && (found.length === 0 || trace.isComplete),
  };
}

/** The rules that prevent known false alarms. They are data, so that a test can loosen or remove one rule at a time. */
export const IOS_RULES = { ...IMAGE_RULES, macs: MAC_IMAGES, confirmed, tunnel: TUNNEL };

export type IosRules = typeof IOS_RULES;

function schemesWith(trace: Finding, confirm: IosRules["confirmed"]): Finding {
  const schemes = present("schemes", JAILBREAK_SCHEMES);
  return {
    sources: together(schemes, trace).sources,
    find: (evidence) => confirm(schemes.find(evidence), trace.find(evidence)),
  };
}

function virtualProducts(evidence: Evidence): readonly string[] | undefined {
  if (!together(environment, simulator, files).find(evidence).isComplete) return undefined;
  const isSimulator = together(environment, simulator).find(evidence).found.length > 0;
  return [...(isSimulator ? ["ios_simulator"] : []), ...(files.find(evidence).found.length > 0 ? ["corellium"] : [])];
}

export function osIntegrityIos(rules: IosRules): Judgements {
  const phone = onPhone(rules.macs);
  const paths = phone(present("paths", JAILBREAK_PATHS));
  // On a Mac, which has libraries of its own in the folders of tweaks, only the names of images decide.
  const places = onlyFound(phone(named("images", imageInTweakPlace)));
  const images = together(named("images", injectedImage(rules)), places);
  const variables = phone(present("environment", INJECTION_VARIABLES));
  const bypass = together(phone(present("paths", BYPASS_PATHS)), named("images", bypassImage(rules)));
  return {
    ...HOST,
    parentPidUnexpected: anyFound(phone(parent)),
    suBinaryFound: anyFound(phone(present("paths", JAILBREAK_SU))),
    rootManagementAppFound: anyFound(phone(present("paths", JAILBREAK_STORES))),
    suspiciousFilePathsFound: anyFound(paths),
    suspiciousFilePaths: namesFound(paths),
    suspiciousPathCount: countFound(paths),
    writableSystemPathFound: anyFound(phone(present("writablePaths", READ_ONLY_PLACES))),
    canOpenJailbreakScheme: anyFound(schemesWith(together(paths, images), rules.confirmed)),
    symbolicLinksSuspicious: anyFound(phone(present("links", PLAIN_FOLDERS))),
    jailbreakBypassDetected: anyFound(bypass),
    hookFrameworkFound: anyFound(named("images", hookingImage(rules))),
    injectedLibrariesFound: anyFound(images),
    injectedLibraryNames: namesFound(images),
    injectedLibraryCount: countFound(images),
    suspiciousEnvironmentVariablesFound: anyFound(variables),
    suspiciousEnvironmentVariableNames: namesFound(variables),
  };
}

const HOST: Judgements = {
  openReverseEngineeringPorts: concluding(present("ports", REVERSE_ENGINEERING_PORTS), ({ found, isComplete }) =>
    isComplete ? found.map(Number) : undefined,
  ),
  simulatorEnvironmentPresent: anyFound(environment),
  emulatorFingerprintMatch: anyFound(simulator),
  emulatorBuildMarkers: namesFound(named("images", simulatorImage)),
  emulatorFilesFound: anyFound(files),
  emulatorFilePaths: namesFound(files),
  emulatorSystemPropertyMarkers: namesFound(environment),
  emulatorCpuMarkers: namesFound(named("images", translatorImage)),
  emulatorVendorMarkers: { sources, judge: virtualProducts },
  emulatorChecksPerformed: {
    sources,
    judge: (evidence) => Object.keys(CHECKS).filter((check) => CHECKS[check]?.find(evidence).isComplete),
  },
  deviceFarmMarkers: namesFound(together(present("environment", FARM_VARIABLES), named("images", farmImage))),
};
