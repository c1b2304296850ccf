import type { Text } from "../native/native-interface.ts";
import { anyFound, type Finding, findingIn, inText, together } from "./finding.ts";
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

/** Folders of overlays are shorter. On a longer path the search for its mount would be slow. */
const MAX_PATH_LENGTH = 256;

/** The type of the mount that contains a path, by the mount points of a table. */
function typeAt(path: string, types: ReadonlyMap<string, string>): string | undefined {
  if (path.length > MAX_PATH_LENGTH) return undefined;
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    const type = types.get(path.slice(0, end));
    if (type !== undefined) return type;
  }
  return undefined;
}

/**
 * The overlays of a table that show files of a root tool below a path of the system image. Makers also mount overlays
 * there: read-only ones, of folders of their partitions. A root tool shows a folder of modules, has a folder for
 * changes, or keeps its files in memory below a name of its choice (github.com/backslashxx/mountify), and it may give
 * the type another name.
 */
function rootOverlays(mounts: readonly Mount[], { overlay, maker }: OverlayRules): readonly Mount[] {
  const types = new Map(mounts.map(({ point, type }) => [point, type]));
  const isInMemory = (folder: string): boolean => !maker.test(folder) && typeAt(folder, types) === "tmpfs";
  return mounts.filter(({ point, superOptions }) => {
    const lower = /(?:^|,)lowerdir=([^,]*)/.exec(superOptions)?.[1];
    if (lower === undefined || !SYSTEM_PATH.test(point)) return false;
    return overlay.test(superOptions) || lower.split(":").some(isInMemory);
  });
}

/** Which of the rules of Android the judgement of overlays uses (`android-rules.ts`). */
interface OverlayRules {
  readonly overlay: RegExp;
  readonly maker: RegExp;
}

function mountsWith(look: (mount: Mount) => boolean): Finding {
  return inText("mountInfo", (text) => pointsOf(mountsOf(text).filter(look)));
}

function anyMount(look: (mount: Mount) => boolean): Judgement {
  return anyFound(mountsWith(look));
}

function pointsOf(mounts: readonly Mount[]): readonly string[] {
  return mounts.map(({ point }) => point);
}

export function androidMounts(rules: OverlayRules): Judgements {
  const overlays = inText("mountInfo", (text) => pointsOf(rootOverlays(mountsOf(text), rules)));
  return {
    writableSystemPathFound: anyMount(isWritable),
    suspiciousMountsFound: anyFound(together(mountsWith(isLeftByRootTool), overlays)),
    magiskMountsFound: anyMount(namesMagisk),
    /**
     * Whether a path of the system image shows files of `/data` or of a root tool: its mount has the device number of
     * `/data`, or is an overlay of a root tool.
     */
    magicMountModulesFound: anyFound(
      together(
        findingIn("mountInfo", true, (text) => {
          const mounts = mountsOf(text);
          const data = mounts.find(({ point }) => point === "/data")?.device;
          const shown = mounts.filter(({ point, device }) => SYSTEM_PATH.test(point) && device === data);
          return { found: pointsOf(shown), isComplete: !text.truncated && data !== undefined };
        }),
        overlays,
      ),
    ),
  };
}
