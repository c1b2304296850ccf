import { isSimulatorImage, SIMULATOR_VARIABLES } from "./ios-virtual-artefacts.ts";
import { type Judgement, mergeSources } from "./judgement.ts";
import type { Evidence } from "../native/native-interface.ts";

/** UIKit of a Mac, under which iOS apps run there, lies here (WWDC 2020, "iPad and iPhone apps on Apple silicon Macs"). */
const MAC_SUPPORT = "/System/iOSSupport/";

const sources = { images: true, environment: SIMULATOR_VARIABLES } as const;

/** Whether the files and processes around the app are those of a Mac: in the simulator, and for an iOS app on a Mac. */
function isOnMac({ images, environment }: Evidence): boolean | undefined {
  if (environment && SIMULATOR_VARIABLES.some((name) => environment.present.includes(name))) return true;
  return images?.some((path) => path.startsWith(MAC_SUPPORT) || isSimulatorImage(path));
}

/** What means something on iPhone and iPad alone. A Mac has a shell, links and other parents: nothing is concluded there. */
export function onPhone(judgement: Judgement): Judgement {
  return {
    sources: mergeSources([sources, judgement.sources]),
    judge: (evidence) => (isOnMac(evidence) === false ? judgement.judge(evidence) : undefined),
  };
}
