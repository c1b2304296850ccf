import type { Text } from "../native/native-interface.ts";
import { any, findingIn, inText } from "./finding.ts";
import { demand, type Guards } from "./guards.ts";
import type { Judgement, Judgements } from "./judgement.ts";
import { type Mount, readMounts } from "./mount-info.ts";
import { remember } from "./remember.ts";

/** The mounts of a table; read once, for several fields. */
export const mountsOf = remember(({ text }: Text) => readMounts(text));

/** The partitions of the system image, and the folders of theirs that root tools mount over. */
const OF_SYSTEM = /^\/(system|vendor|product|system_ext|odm)(\/|$)/;
const READ_ONLY = /^\/((system|vendor)(\/(bin|xbin|etc|lib|lib64|app|priv-app|framework))?|product|system_ext|odm)?$/;
const WRITABLE = /(^|,)rw(,|$)/;

/** Writable is what neither the mount nor its file system keeps from being written. Early systems' `/` is in memory. */
function isWritable({ point, type, options, superOptions }: Mount): boolean {
  return READ_ONLY.test(point) && type !== "rootfs" && WRITABLE.test(options) && WRITABLE.test(superOptions);
}

/** Whole parts of a path: `/mnt/.magisk/x` has such a part, `/mnt/magiskard` has none. */
const OF_MAGISK = /(^|\/)\.?magisk(\/|$)/;
/** Names that Magisk, KernelSU and APatch give to the file systems that they mount. */
const ROOT_TOOL = /^(magisk|KSU|APatch|worker)$/;
/** Where these keep their modules: on `/data`, in a folder that nothing else mounts from. */
const OF_MODULES = /^\/adb\/|(^|[=:])\/data\/adb\//;

/** A marker may be in what is mounted, in the part of it, in the place, or in the folders of an overlay. */
function marksOf({ source, root, point, superOptions }: Mount): readonly string[] {
  return [source, root, point, superOptions];
}

function namesMagisk(mount: Mount): boolean {
  return [mount.source, mount.root, mount.point].some((mark) => OF_MAGISK.test(mark));
}

function isLeftByRootTool(mount: Mount): boolean {
  return ROOT_TOOL.test(mount.source) || marksOf(mount).some((mark) => OF_MODULES.test(mark)) || namesMagisk(mount);
}

function anyMount(look: (mount: Mount) => boolean): Judgement {
  return any(inText("mountInfo", (text) => pointsOf(mountsOf(text).filter(look))));
}

function pointsOf(mounts: readonly Mount[]): readonly string[] {
  return mounts.map(({ point }) => point);
}

/** Makers overlay their own folders, too. */
function overlayOfModules(guards: Guards): (mount: Mount) => boolean {
  const isOfModules = demand(guards, "overlays-of-modules", ({ superOptions }: Mount) => OF_MODULES.test(superOptions));
  return (mount) => mount.type === "overlay" && isOfModules(mount);
}

export function androidMounts(guards: Guards): Judgements {
  const isOverlay = overlayOfModules(guards);
  return {
    writableSystemPathFound: anyMount(isWritable),
    suspiciousMountsFound: anyMount(isLeftByRootTool),
    magiskMountsFound: anyMount(namesMagisk),
    /** A place of the system image that shows files of `/data`: by the number of the device, or by an overlay's folders. */
    magicMountModulesFound: any(
      findingIn("mountInfo", true, (text) => {
        const mounts = mountsOf(text);
        const data = mounts.find(({ point }) => point === "/data")?.device;
        const shown = mounts.filter(
          (mount) => OF_SYSTEM.test(mount.point) && (mount.device === data || isOverlay(mount)),
        );
        return { found: pointsOf(shown), whole: !text.truncated && data !== undefined };
      }),
    ),
  };
}
