import type { Evidence } from "../native/native-interface.ts";
import { type Finding, UNKNOWN } from "./finding.ts";
import { isSimulatorImage } from "./ios-virtual-artefacts.ts";
import { mergeSources } from "./judgement.ts";

/**
 * Images that only a Mac loads: on a Mac, UIKit for iOS apps is in `/System/iOSSupport/` (WWDC 2020, "iPad and iPhone
 * apps on Apple silicon Macs"). The simulator loads different libraries.
 */
export const MAC_IMAGES: readonly ((path: string) => boolean)[] = [
  (path) => path.startsWith("/System/iOSSupport/"),
  isSimulatorImage,
];

/**
 * Limits a finding to iPhone and iPad. On a Mac the finding is unknown, because every Mac has a shell and symbolic
 * links, and another parent process than an iPhone. Without the list of images the finding is unknown, too.
 */
export function onPhone(macs: typeof MAC_IMAGES): (finding: Finding) => Finding {
  const isPhone = ({ images }: Evidence): boolean =>
    images !== undefined && !images.some((path) => macs.some((isMac) => isMac(path)));
  return ({ sources, find }) => ({
    sources: mergeSources([{ images: true }, sources]),
    find: (evidence) => (isPhone(evidence) ? find(evidence) : UNKNOWN),
  });
}
