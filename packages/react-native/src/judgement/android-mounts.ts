import type { Text } from "../native/native-interface.ts";
import type { AndroidRules } from "./android-rules.ts";
import { anyFound, findingIn, inText } from "./finding.ts";
import type { Judgement, Judgements } from "./judgement.ts";
import { type Mount, readMounts } from "./mount-info.ts";
import { remember } from "./remember.ts";
import { MODULES_FOLDER } from "./root-artefacts.ts";

/** The mounts of a table. Several fields use them, so the table is parsed only once. */
export const mountsOf = remember(({ text }: Text) => readMounts(text));

/** Matches the mount points of the system image's partitions, and every path below them. */
const SYSTEM_PATH = /^\/(system|vendor|product|system_ext|odm)(\/|$)/;
const READ_ONLY = /^\/((system|vendor)(\/(bin|xbin|etc|lib|lib64|app|priv-app|framework))?|product|system_ext|odm)?$/;
const WRITABLE = /(^|,)rw(,|$)/;

/**
 * Whether a normally read-only path is mounted read-write. A mount of the type `rootfs`, which early systems have at
 * `/`, does not count, because it is in memory and not in the system image.
 */
function isWritable({ point, type, options, superOptions }: Mount): boolean {
  return READ_ONLY.test(point) && type !== "rootfs" && WRITABLE.test(options) && WRITABLE.test(superOptions);
}

/** Matches only whole parts of a path: `/mnt/.magisk/x` matches, and `/mnt/magiskard` does not. */
const MAGISK_PATH = /(^|\/)\.?magisk(\/|$)/;
/** Names that KernelSU, APatch and Magisk give to file systems that they mount. */
const ROOT_TOOL = /^(KSU|APatch|worker)$/;

/**
 * Whether the marker matches the source, the root, the mount point, or the options of the file system, which contain
 * the folders of an overlay.
 */
function mentions({ source, root, point, superOptions }: Mount, marker: RegExp): boolean {
  return [source, root, point, superOptions].some((text) => marker.test(text));
}

function namesMagisk(mount: Mount): boolean {
  return mentions(mount, MAGISK_PATH);
}

function isLeftByRootTool(mount: Mount): boolean {
  return ROOT_TOOL.test(mount.source) || mentions(mount, MODULES_FOLDER) || namesMagisk(mount);
}

function anyMount(look: (mount: Mount) => boolean): Judgement {
  return anyFound(inText("mountInfo", (text) => pointsOf(mountsOf(text).filter(look))));
}

function pointsOf(mounts: readonly Mount[]): readonly string[] {
  return mounts.map(({ point }) => point);
}

export function androidMounts({ overlay }: Pick<AndroidRules, "overlay">): Judgements {
  return {
    writableSystemPathFound: anyMount(isWritable),
    suspiciousMountsFound: anyMount(isLeftByRootTool),
    magiskMountsFound: anyMount(namesMagisk),
    /**
     * Whether a path of the system image shows files of `/data`. The mount of such a path has the device number of
     * `/data`, or is an overlay with a folder in which root tools keep modules.
     */
    magicMountModulesFound: anyFound(
      findingIn("mountInfo", true, (text) => {
        const mounts = mountsOf(text);
        const data = mounts.find(({ point }) => point === "/data")?.device;
        // Makers also mount overlays, so an overlay counts only if the rule matches one of its folders.
        const shown = mounts.filter(
          ({ point, device, type, superOptions }) =>
            SYSTEM_PATH.test(point) && (device === data || (type === "overlay" && overlay.test(superOptions))),
        );
        return { found: pointsOf(shown), isComplete: !text.truncated && data !== undefined };
      }),
    ),
  };
}
