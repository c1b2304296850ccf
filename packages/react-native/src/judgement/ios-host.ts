import type { Evidence } from "../native/native-interface.ts";
import { type Finding, UNKNOWN } from "./finding.ts";
import { demand, type Explanations, type Guards, isExplained } from "./guards.ts";
import { isSimulatorImage, SIMULATOR_VARIABLES } from "./ios-virtual-artefacts.ts";
import { mergeSources } from "./judgement.ts";

/** UIKit of a Mac, under which iOS apps run there, lies here (WWDC 2020, "iPad and iPhone apps on Apple silicon Macs"). */
const MAC_SUPPORT = "/System/iOSSupport/";

const IMAGES_OF_MACS: Explanations<string> = [
  ["mac-by-libraries", (path) => path.startsWith(MAC_SUPPORT)],
  ["simulator-by-libraries", isSimulatorImage],
];

/** Whether the files and processes around the app are those of a Mac: in the simulator, and for an iOS app on a Mac. */
function isOnMac(guards: Guards): (evidence: Evidence) => boolean | undefined {
  const isOfMac = isExplained(guards, IMAGES_OF_MACS);
  return ({ images, environment }) => {
    if (SIMULATOR_VARIABLES.some((name) => environment?.present.includes(name))) return true;
    return images?.some(isOfMac);
  };
}

/** What means something on iPhone and iPad alone. A Mac has a shell, links and other parents: nothing is known there. */
export function onPhone(guards: Guards): (finding: Finding) => Finding {
  const isMac = isOnMac(guards);
  const isPhone = demand(guards, "phones-only", (evidence: Evidence) => isMac(evidence) === false);
  return ({ sources, find }) => ({
    sources: mergeSources([{ images: true, environment: SIMULATOR_VARIABLES }, sources]),
    find: (evidence) => (isPhone(evidence) ? find(evidence) : UNKNOWN),
  });
}
