import type { Evidence } from "../native/native-interface.ts";
import { mountsOf } from "./android-mounts.ts";
import { virtualProcessorMarks } from "./cpu-info.ts";
import {
  BUILD_MEMBERS,
  EMULATOR_PROPERTIES,
  EMULATORS,
  FARM_PACKAGES,
  FARM_PATHS,
  PLAYER_PROPERTIES,
  TRANSLATOR_PATHS,
  TRANSLATORS,
  WEAK_BUILD_FACTS,
} from "./emulator-artefacts.ts";
import {
  anyFound,
  asOne,
  facts,
  type Finding,
  type Found,
  inText,
  namesFound,
  onlyFound,
  present,
  together,
} from "./finding.ts";
import type { Judgements } from "./judgement.ts";
import { nativeBridge } from "./native-bridge.ts";
import { oneOfFacts } from "./patterns.ts";

const KNOWN_FACTS = oneOfFacts(EMULATORS.flatMap(([, , facts]) => facts));
const PRODUCTS = EMULATORS.map(([product, paths, facts]) => ({ product, paths, known: oneOfFacts(facts) }));

const build = facts("build", BUILD_MEMBERS, KNOWN_FACTS);
const files = present(
  "paths",
  EMULATORS.flatMap(([, paths]) => paths),
);
const properties = together(
  facts("properties", EMULATOR_PROPERTIES, KNOWN_FACTS),
  onlyFound(facts("properties", PLAYER_PROPERTIES, KNOWN_FACTS)),
);
const mounts = inText("mountInfo", (text) => {
  const known = mountsOf(text).flatMap(({ type, root }) => [`mount=${type}`, `root=${root}`]);
  return new Set(known.filter((fact) => KNOWN_FACTS.test(fact)));
});
export const cpuMarkers = together(
  inText("cpuInfo", ({ text }) => virtualProcessorMarks(text)),
  nativeBridge(TRANSLATORS),
  present("paths", TRANSLATOR_PATHS),
);

const CHECKS: Readonly<Record<string, Finding>> = { build, files, properties, mounts, cpu: cpuMarkers };

export const deviceFarmMarkers = together(present("packages", FARM_PACKAGES), present("paths", FARM_PATHS));

/**
 * The checks, other than `build`, for markers that no real device has. Weak values of the build, virtual processors and
 * agents of device farms do not count as markers, because real devices can have them. All matching mounts together
 * count as one marker, and so do all matching members of the build, because one cause sets several of them.
 */
export const STRONG_MARKERS: readonly Finding[] = [files, properties, asOne(mounts)];
const allFindings = together(build, files, properties, mounts);

/** Which of the rules of Android this judgement uses (`android-rules.ts`). */
interface EmulatorRules {
  readonly markers: readonly Finding[];
  readonly minMarkers: number;
}

function countMarkers({ markers }: EmulatorRules, evidence: Evidence): number {
  return together(asOne(build), ...markers).find(evidence).found.length;
}

/**
 * Whether the sources were examined that are needed for the value `false`: the sources that every app can read on every
 * phone. Properties and mounts can only add markers, because an app can't read them on every phone. Up to Android 8.1,
 * for example, a property that is not set can't be distinguished from a property that this app may not read.
 */
function lookedAtAll(evidence: Evidence): boolean {
  return build.find(evidence).isComplete && files.find(evidence).isComplete;
}

function productsOf({ found: markers }: Found): readonly string[] {
  const known = PRODUCTS.filter(({ paths, known }) => markers.some((name) => paths.includes(name) || known.test(name)));
  return known.map(({ product }) => product);
}

export function androidEmulator(rules: EmulatorRules): Judgements {
  return {
    ...MARKERS,
    isEmulator: {
      sources: allFindings.sources,
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
    sources: allFindings.sources,
    judge: (evidence) => (lookedAtAll(evidence) ? productsOf(allFindings.find(evidence)) : undefined),
  },
  emulatorChecksPerformed: {
    sources: together(allFindings, cpuMarkers).sources,
    judge: (evidence) => Object.keys(CHECKS).filter((check) => CHECKS[check]?.find(evidence).isComplete),
  },
  deviceFarmMarkers: namesFound(deviceFarmMarkers),
};
