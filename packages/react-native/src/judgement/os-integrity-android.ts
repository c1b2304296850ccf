import { androidEmulator } from "./android-emulator.ts";
import { androidHooks } from "./android-hooks.ts";
import { androidMounts } from "./android-mounts.ts";
import { ANDROID_RULES, type AndroidRules } from "./android-rules.ts";
import {
  anyFound,
  concluding,
  countFound,
  facts,
  type Finding,
  findingIn,
  inLines,
  present,
  together,
  namesFound,
} from "./finding.ts";
import type { Judgement, Judgements, Value } from "./judgement.ts";
import { zygoteBridge } from "./native-bridge.ts";
import { oneOfFacts } from "./patterns.ts";
import {
  PATCHERS_AND_HOOK_MANAGERS,
  DANGEROUS_FACTS,
  ROOT_CLOAKERS,
  ROOT_MANAGERS,
  ROOT_PATHS,
  SU_PATHS,
} from "./root-artefacts.ts";
import { readTracerPid } from "./status.ts";
import { under } from "./under.ts";
import { ABSTRACT_NAME } from "./unix-sockets.ts";

/** Variables that make the linker of Android load libraries before those of the app (bionic, linker.cpp). */
const variables = present("environment", under("LD_", "PRELOAD LIBRARY_PATH"));
const paths = present("paths", ROOT_PATHS);
const dangerousProperties = together(
  facts(
    "properties",
    DANGEROUS_FACTS.map((fact) => fact.replace(/=.*/, "")),
    oneOfFacts(DANGEROUS_FACTS),
  ),
  zygoteBridge,
);

/** Finds `su` in the folders of PATH. The finding is complete only if native code examined every folder. */
function onPath(su: RegExp): Finding {
  return findingIn("executables", ["su"], ({ present, absent }) => ({
    found: present.filter((path) => su.test(path)),
    isComplete: absent.includes("su"),
  }));
}

/**
 * Properties in which a bootloader reports its state (source.android.com, "Verified Boot": device state; AVB's vbmeta
 * properties).
 */
const LOCK_STATES = under("ro.boot.", "vbmeta.device_state flash.locked verifiedbootstate");
const LOCK_STATE = /=(locked|1|green|yellow|unlocked|0|orange)$/;
const UNLOCKED = /=(unlocked|0|orange)$/;
const BOOT_STATE = /=(green|yellow|orange|red)$/;

function tracer(conclude: (pid: number) => Value): Judgement {
  return {
    sources: { status: true },
    judge({ status }) {
      const pid = status && readTracerPid(status.text);
      return pid === undefined ? undefined : conclude(pid);
    },
  };
}

export function osIntegrityAndroid(rules: AndroidRules = ANDROID_RULES): Judgements {
  return {
    ...STATE_JUDGEMENTS,
    ...androidEmulator(rules),
    ...androidHooks(rules),
    ...androidMounts(rules),
    suOnPath: anyFound(onPath(rules.su)),
    magiskAbstractSocketFound: anyFound(inLines("unixSockets", ABSTRACT_NAME, (name) => rules.socket.test(name))),
  };
}

const STATE_JUDGEMENTS: Judgements = {
  suBinaryFound: anyFound(present("paths", SU_PATHS)),
  rootManagementAppFound: anyFound(present("packages", ROOT_MANAGERS)),
  dangerousAppFound: anyFound(present("packages", PATCHERS_AND_HOOK_MANAGERS)),
  rootCloakingAppFound: anyFound(present("packages", ROOT_CLOAKERS)),
  suspiciousFilePathsFound: anyFound(paths),
  suspiciousFilePaths: namesFound(paths),
  suspiciousPathCount: countFound(paths),

  dangerousPropsPresent: anyFound(dangerousProperties),
  dangerousSystemProperties: namesFound(dangerousProperties),
  verifiedBootState: concluding(facts("properties", ["ro.boot.verifiedbootstate"], BOOT_STATE), ({ found: [state] }) =>
    state?.replace(/.*=/, ""),
  ),
  /**
   * The bootloader is unlocked if one property says so, because root tools overwrite some of these properties and
   * makers set only some.
   */
  bootloaderLocked: concluding(facts("properties", LOCK_STATES, LOCK_STATE), ({ found }) =>
    found.length === 0 ? undefined : !found.some((fact) => UNLOCKED.test(fact)),
  ),
  testKeysBuild: anyFound(facts("build", ["tags"], /[=,]test-keys(,|$)/)),

  tracerPid: tracer((pid) => pid),
  tracedByOtherProcess: tracer((pid) => pid !== 0),
  suspiciousEnvironmentVariablesFound: anyFound(variables),
  suspiciousEnvironmentVariableNames: namesFound(variables),
};
