import { androidEmulator } from "./android-emulator.ts";
import { androidHooks } from "./android-hooks.ts";
import { androidMounts } from "./android-mounts.ts";
import {
  anyPresent,
  countOf,
  type Judgement,
  type Judgements,
  seenInText,
  type Value,
  whichPresent,
} from "./judgement.ts";
import {
  DANGEROUS_APPS,
  DANGEROUS_PROPERTIES,
  isDangerous,
  MAGISK_SOCKETS,
  ROOT_CLOAKERS,
  ROOT_MANAGERS,
  ROOT_PATHS,
  SU_PATHS,
} from "./root-artefacts.ts";
import { under } from "./under.ts";
import { factsOf, knowsAll } from "./facts.ts";
import { readTracerPid } from "./status.ts";
import { eachAbstractSocket } from "./unix-sockets.ts";

/** What the linker of Android takes libraries from before an app's own (bionic, linker.cpp). */
const INJECTION_VARIABLES = ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"];

const paths = whichPresent("paths", ROOT_PATHS);

const suOnPath: Judgement = {
  sources: { executables: ["su"] },
  judge({ executables }) {
    if (!executables) return undefined;
    if (executables.present.some((path) => path.endsWith("/su"))) return true;
    return executables.absent.includes("su") ? false : undefined;
  },
};

function tracer(conclude: (pid: number) => Value): Judgement {
  return {
    sources: { status: true },
    judge({ status }) {
      const pid = status && readTracerPid(status.text);
      return pid === undefined ? undefined : conclude(pid);
    },
  };
}

function fromProperties(
  names: readonly string[],
  conclude: (facts: readonly string[]) => Value | undefined,
): Judgement {
  return {
    sources: { properties: names },
    judge: ({ properties }) => properties && conclude(factsOf(names, properties)),
  };
}

const dangerousProperties: Judgement = {
  sources: { properties: DANGEROUS_PROPERTIES },
  judge: ({ properties }) =>
    knowsAll(DANGEROUS_PROPERTIES, properties)
      ? DANGEROUS_PROPERTIES.filter((name) => factsOf([name], properties).some(isDangerous))
      : undefined,
};

/** What a bootloader says of itself (source.android.com, "Verified Boot": device state; AVB's vbmeta properties). */
const LOCK_STATES = under("ro.boot.", "vbmeta.device_state flash.locked verifiedbootstate");
const LOCKED = /(device_state=locked|flash\.locked=1|=green|=yellow)$/;
const UNLOCKED = /(device_state=unlocked|flash\.locked=0|=orange)$/;

/** Unlocked as soon as one property says so: root rewrites some of them, and makers set only some. */
function isLocked(facts: readonly string[]): boolean | undefined {
  if (facts.some((fact) => UNLOCKED.test(fact))) return false;
  return facts.some((fact) => LOCKED.test(fact)) || undefined;
}

/** One such value is enough; a no needs them all. */
const anyDangerousProperty: Judgement = {
  sources: dangerousProperties.sources,
  judge: ({ properties }) =>
    factsOf(DANGEROUS_PROPERTIES, properties).some(isDangerous) ||
    (knowsAll(DANGEROUS_PROPERTIES, properties) ? false : undefined),
};

export const osIntegrityAndroid: Judgements = {
  ...androidEmulator,
  ...androidHooks,
  ...androidMounts,

  suBinaryFound: anyPresent("paths", SU_PATHS),
  suOnPath,
  rootManagementAppFound: anyPresent("packages", ROOT_MANAGERS),
  dangerousAppFound: anyPresent("packages", DANGEROUS_APPS),
  rootCloakingAppFound: anyPresent("packages", ROOT_CLOAKERS),
  suspiciousFilePathsFound: anyPresent("paths", ROOT_PATHS),
  suspiciousFilePaths: paths,
  suspiciousPathCount: countOf(paths),
  magiskAbstractSocketFound: seenInText("unixSockets", ({ text }) => {
    let found = false;
    eachAbstractSocket(text, (name) => (found ||= MAGISK_SOCKETS.includes(name)));
    return found;
  }),

  dangerousPropsPresent: anyDangerousProperty,
  dangerousSystemProperties: dangerousProperties,
  verifiedBootState: fromProperties(
    ["ro.boot.verifiedbootstate"],
    ([fact = ""]) => /=(green|yellow|orange|red)$/.exec(fact)?.[1],
  ),
  bootloaderLocked: fromProperties(LOCK_STATES, isLocked),
  testKeysBuild: {
    sources: { build: true },
    judge: ({ build }) => build?.["tags"]?.split(",").includes("test-keys"),
  },

  tracerPid: tracer((pid) => pid),
  tracedByOtherProcess: tracer((pid) => pid !== 0),
  suspiciousEnvironmentVariablesFound: anyPresent("environment", INJECTION_VARIABLES),
  suspiciousEnvironmentVariableNames: whichPresent("environment", INJECTION_VARIABLES),
};
