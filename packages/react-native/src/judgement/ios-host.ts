import type { Evidence } from "../native/native-interface.ts";
import { type Finding, UNKNOWN } from "./finding.ts";
import { isSimulatorImage, SIMULATOR_VARIABLES } from "./ios-virtual-artefacts.ts";
import { mergeSources } from "./judgement.ts";

/** UIKit of a Mac, under which iOS apps run there, lies here (WWDC 2020, "iPad and iPhone apps on Apple silicon Macs"). */
const MAC_SUPPORT = "/System/iOSSupport/";

/** Whether the files and processes around the app are those of a Mac: in the simulator, and for an iOS app on a Mac. */
function isOnMac({ images, environment }: Evidence): boolean | undefined {
  if (SIMULATOR_VARIABLES.some((name) => environment?.present.includes(name))) return true;
  return images?.some((path) => path.startsWith(MAC_SUPPORT) || isSimulatorImage(path));
}

/** What means something on iPhone and iPad alone. A Mac has a shell, links and other parents: nothing is known there. */
export function onPhone({ sources, find }: Finding): Finding {
  return {
    sources: mergeSources([{ images: true, environment: SIMULATOR_VARIABLES }, sources]),
    find: (evidence) => (isOnMac(evidence) === false ? find(evidence) : UNKNOWN),
  };
}
