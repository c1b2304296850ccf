import type { Evidence } from "../native/native-interface.ts";
import { type Finding, UNKNOWN } from "./finding.ts";
import { isSimulatorImage } from "./ios-virtual-artefacts.ts";
import { mergeSources } from "./judgement.ts";

/**
 * Images by which a Mac is recognised: its UIKit for iOS apps is in `/System/iOSSupport/` (WWDC 2020, "iPad and iPhone
 * apps on Apple silicon Macs"). The simulator loads libraries of its own.
 */
export const MAC_IMAGES: readonly ((path: string) => boolean)[] = [
  (path) => path.startsWith("/System/iOSSupport/"),
  isSimulatorImage,
];

/** A value that has a meaning only on iPhone and iPad. A Mac has a shell, links and other parents: unknown there. */
export function onPhone(macs: typeof MAC_IMAGES): (finding: Finding) => Finding {
  const isPhone = ({ images }: Evidence): boolean =>
    images !== undefined && !images.some((path) => macs.some((isMac) => isMac(path)));
  return ({ sources, find }) => ({
    sources: mergeSources([{ images: true }, sources]),
    find: (evidence) => (isPhone(evidence) ? find(evidence) : UNKNOWN),
  });
}
