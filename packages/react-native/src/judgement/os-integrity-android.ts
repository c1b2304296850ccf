import { androidEmulator } from "./android-emulator.ts";
import { androidHooks } from "./android-hooks.ts";
import { androidMounts } from "./android-mounts.ts";
import { any, concluding, count, facts, type Finding, findingIn, inText, present, together, which } from "./finding.ts";
import { demand, everyGuard, type Guards } from "./guards.ts";
import type { Judgement, Judgements, Value } from "./judgement.ts";
import {
  DANGEROUS_APPS,
  DANGEROUS_PROPERTIES,
  DANGEROUS_VALUES,
  MAGISK_SOCKETS,
  NATIVE_BRIDGE,
  ROOT_CLOAKERS,
  ROOT_MANAGERS,
  ROOT_PATHS,
  SU_PATHS,
  ZYGOTE_BRIDGES,
} from "./root-artefacts.ts";
import { readTracerPid } from "./status.ts";
import { under } from "./under.ts";
import { abstractSocketsOf } from "./unix-sockets.ts";

/** What the linker of Android takes libraries from before an app's own (bionic, linker.cpp). */
const variables = present("environment", under("LD_", "PRELOAD LIBRARY_PATH"));
const paths = present("paths", ROOT_PATHS);
const dangerousProperties = together(
  facts("properties", DANGEROUS_PROPERTIES, DANGEROUS_VALUES),
  facts("properties", [NATIVE_BRIDGE], ZYGOTE_BRIDGES),
);

/** Found by its path in any folder of PATH; its name is absent if every folder was looked at. */
function su(guards: Guards): Finding {
  const isSu = demand(guards, "su-by-whole-name", (path: string) => path.endsWith("/su"));
  return findingIn("executables", ["su"], ({ present, absent }) => ({
    found: present.filter((path) => path.includes("/su") && isSu(path)),
    whole: absent.includes("su"),
  }));
}

/** Several vendors' services have long random names, as Magisk's daemon has. */
const LONG_NAME = 32;

function magiskSockets(guards: Guards): Finding {
  const isMagisk = demand(guards, "sockets-by-name", (name: string) => MAGISK_SOCKETS.includes(name));
  return inText("unixSockets", ({ text }) =>
    abstractSocketsOf(text).filter((name) => name.length >= LONG_NAME && isMagisk(name)),
  );
}

/** What a bootloader says of itself (source.android.com, "Verified Boot": device state; AVB's vbmeta properties). */
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

export function osIntegrityAndroid(guards: Guards = everyGuard): Judgements {
  return {
    ...STATE,
    ...androidEmulator(guards),
    ...androidHooks(guards),
    ...androidMounts(guards),
    suOnPath: any(su(guards)),
    magiskAbstractSocketFound: any(magiskSockets(guards)),
  };
}

const STATE: Judgements = {
  suBinaryFound: any(present("paths", SU_PATHS)),
  rootManagementAppFound: any(present("packages", ROOT_MANAGERS)),
  dangerousAppFound: any(present("packages", DANGEROUS_APPS)),
  rootCloakingAppFound: any(present("packages", ROOT_CLOAKERS)),
  suspiciousFilePathsFound: any(paths),
  suspiciousFilePaths: which(paths),
  suspiciousPathCount: count(paths),

  dangerousPropsPresent: any(dangerousProperties),
  dangerousSystemProperties: which(dangerousProperties),
  verifiedBootState: concluding(facts("properties", ["ro.boot.verifiedbootstate"], BOOT_STATE), ({ found: [state] }) =>
    state?.replace(/.*=/, ""),
  ),
  /** Unlocked as soon as one property says so: root rewrites some of them, and makers set only some. */
  bootloaderLocked: concluding(facts("properties", LOCK_STATES, LOCK_STATE), ({ found }) =>
    found.length === 0 ? undefined : !found.some((fact) => UNLOCKED.test(fact)),
  ),
  testKeysBuild: any(facts("build", ["tags"], /[=,]test-keys(,|$)/)),

  tracerPid: tracer((pid) => pid),
  tracedByOtherProcess: tracer((pid) => pid !== 0),
  suspiciousEnvironmentVariablesFound: any(variables),
  suspiciousEnvironmentVariableNames: which(variables),
};
