import type { Text } from "../native/native-interface.ts";
import { type Judgements, remember, seenInText } from "./judgement.ts";
import { type Mount, readMounts } from "./mount-info.ts";
import { ROOT_MOUNT_SOURCES } from "./root-artefacts.ts";
import { under } from "./under.ts";

/** The mounts of a table; read once, for several fields. */
export const mountsOf = remember(({ text }: Text) => readMounts(text));

/** The partitions of the system image, and below them the folders that root tools mount over. */
const SYSTEM_POINTS = ["/system", "/vendor", "/product", "/system_ext", "/odm"];
const READ_ONLY_POINTS = new Set([
  "/",
  ...SYSTEM_POINTS,
  ...under("/system/", "bin xbin etc lib lib64 app priv-app framework"),
  ...under("/vendor/", "bin etc lib lib64"),
]);

function isOfSystem({ point }: Mount): boolean {
  return SYSTEM_POINTS.some((folder) => point === folder || point.startsWith(`${folder}/`));
}

function hasOption(options: string, sought: string): boolean {
  return options.split(",").includes(sought);
}

/** Writable is what neither the mount nor its file system keeps from being written. Early systems' `/` is in memory. */
function isWritable({ point, type, options, superOptions }: Mount): boolean {
  return READ_ONLY_POINTS.has(point) && type !== "rootfs" && hasOption(options, "rw") && hasOption(superOptions, "rw");
}

/** Whole parts of a path: `/mnt/.magisk/x` has `.magisk`, `/mnt/magiskard` has none. */
function hasPart(path: string, part: string): boolean {
  return `${path}/`.includes(`/${part}/`);
}

function namesMagisk({ source, root, point }: Mount): boolean {
  return source === "magisk" || [root, point].some((path) => hasPart(path, "magisk") || hasPart(path, ".magisk"));
}

/** Where KernelSU, APatch and Magisk keep their modules: on `/data`, in a folder that nothing else mounts from. */
const FROM_MODULES = /^\/adb\/|[=:]\/data\/adb\//;

function isLeftByRootTool(mount: Mount): boolean {
  const { source, root, superOptions } = mount;
  return (
    ROOT_MOUNT_SOURCES.includes(source) ||
    FROM_MODULES.test(root) ||
    FROM_MODULES.test(superOptions) ||
    namesMagisk(mount)
  );
}

/** A place of the system image that shows files of `/data`: by the number of the device, or by the folders of an overlay. */
function overlays(mount: Mount, dataDevices: ReadonlySet<string>): boolean {
  return isOfSystem(mount) && (dataDevices.has(mount.device) || FROM_MODULES.test(mount.superOptions));
}

export const androidMounts: Judgements = {
  writableSystemPathFound: seenInText("mountInfo", (text) => mountsOf(text).some(isWritable)),
  suspiciousMountsFound: seenInText("mountInfo", (text) => mountsOf(text).some(isLeftByRootTool)),
  magiskMountsFound: seenInText("mountInfo", (text) => mountsOf(text).some(namesMagisk)),
  magicMountModulesFound: {
    sources: { mountInfo: true },
    judge({ mountInfo }) {
      if (!mountInfo) return undefined;
      const mounts = mountsOf(mountInfo);
      const dataDevices = new Set(mounts.filter(({ point }) => point === "/data").map(({ device }) => device));
      if (mounts.some((mount) => overlays(mount, dataDevices))) return true;
      return mountInfo.truncated || dataDevices.size === 0 ? undefined : false;
    },
  },
};
