import type { Text } from "../native/native-interface.ts";
import { any, findingIn, inText } from "./finding.ts";
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
const OF_MAGISK = /\/\.?magisk(\/|$)/;

function namesMagisk({ source, root, point }: Mount): boolean {
  return source === "magisk" || OF_MAGISK.test(root) || OF_MAGISK.test(point);
}

/** Names that Magisk, KernelSU and APatch give to the file systems that they mount. */
const ROOT_TOOLS = /^(magisk|KSU|APatch|worker)$/;
/** Where these keep their modules: on `/data`, in a folder that nothing else mounts from. */
const FROM_MODULES = /^\/adb\/|[=:]\/data\/adb\//;

function isLeftByRootTool(mount: Mount): boolean {
  const { source, root, superOptions } = mount;
  return ROOT_TOOLS.test(source) || FROM_MODULES.test(root) || FROM_MODULES.test(superOptions) || namesMagisk(mount);
}

function anyMount(look: (mount: Mount) => boolean): Judgement {
  return any(inText("mountInfo", (text) => pointsOf(mountsOf(text).filter(look))));
}

function pointsOf(mounts: readonly Mount[]): readonly string[] {
  return mounts.map(({ point }) => point);
}

export const androidMounts: Judgements = {
  writableSystemPathFound: anyMount(isWritable),
  suspiciousMountsFound: anyMount(isLeftByRootTool),
  magiskMountsFound: anyMount(namesMagisk),
  /** A place of the system image that shows files of `/data`: by the number of the device, or by an overlay's folders. */
  magicMountModulesFound: any(
    findingIn("mountInfo", true, (text) => {
      const mounts = mountsOf(text);
      const data = mounts.find(({ point }) => point === "/data")?.device;
      const overlays = ({ point, device, superOptions }: Mount): boolean =>
        OF_SYSTEM.test(point) && (device === data || FROM_MODULES.test(superOptions));
      return { found: pointsOf(mounts.filter(overlays)), whole: !text.truncated && data !== undefined };
    }),
  ),
};
