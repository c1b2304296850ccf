/**
 * Traces of root tools on Android, as published by the tools themselves, by RootBeer (github.com/scottyab/rootbeer,
 * Const.java) and by OWASP MASTG (testing root detection).
 *
 * The lists contain only paths that an ordinary app may examine on a stock phone. `/data/adb` (0700), `/cache` and, up
 * to Android 10, `/sbin` (0750) are closed to every app: their content is unknown on all phones, so a list that named
 * them would never be complete. The mount table shows what Magisk, KernelSU and APatch keep there.
 *
 * The lists contain no path of a vendor partition, because makers install busybox and tools with names like su there.
 */
import { under } from "./under.ts";

export const SU_PATHS = [
  ...under("/system/", "bin/su xbin/su sbin/su bin/.ext/su bin/failsafe/su sd/xbin/su"),
  ...under("/", "su/bin/su product/bin/su system_ext/bin/su odm/bin/su"),
  ...under("/data/local/", "su bin/su xbin/su"),
];

/**
 * Paths of `su`, files of Superuser and SuperSU, the image of Magisk up to version 14, and scripts that start SuperSU
 * or Magisk or reinstall Magisk after an update.
 */
export const ROOT_PATHS = [
  ...SU_PATHS,
  ...under(
    "/system/",
    "app/Superuser.apk app/SuperSU xbin/daemonsu etc/init.d/99SuperSUDaemon" +
      " etc/.installed_su_daemon addon.d/99-magisk.sh",
  ),
  ...under("/", "init.magisk.rc dev/com.koushikdutta.superuser.daemon data/magisk.img"),
];

/** Packages of Magisk, KernelSU, APatch and their forks, and the most common older ones of RootBeer's list. */
export const ROOT_MANAGERS = [
  ...under("com.", "topjohnwu.magisk rifsxd.ksunext sukisu.ultra koushikdutta.superuser kingroot.kinguser"),
  ...under(
    "",
    "io.github.huskydg.magisk io.github.vvb2060.magisk me.weishu.kernelsu me.bmax.apatch eu.chainfire.supersu",
  ),
];

/** Packages of RootBeer's list `knownDangerousAppsPackages`, and the managers of Xposed, its successors and LSPatch. */
export const PATCHERS_AND_HOOK_MANAGERS = [
  ...under("com.", "dimonvideo.luckypatcher chelpus.lackypatch chelpus.luckypatcher"),
  ...under("org.", "lsposed.manager lsposed.lspatch meowcat.edxposed.manager"),
  ...under("", "de.robv.android.xposed.installer cc.madkite.freedom"),
];

/** Packages of RootBeer's list `knownRootCloakingPackages` that hide root, and Hide My Applist. */
export const ROOT_CLOAKERS = under(
  "com.",
  "devadvance.rootcloak amphoras.hidemyroot formyhm.hideroot tsng.hidemyapplist",
);

/**
 * Values of properties that no stock `user` build has (AOSP, build/make/core/main.mk; source.android.com, "Implementing
 * dm-verity").
 */
export const DANGEROUS_FACTS = under("ro.", "debuggable=1 secure=0 boot.veritymode=disabled");

/**
 * The abstract socket of Magisk's daemon: `MAIN_SOCKET` in its sources up to version 18. Later versions use a random
 * name or no socket.
 */
export const MAGISK_SOCKET = /^d30138f2310a9fb9c54a3e0c21f58591$/;

/** The folder in which root tools keep their modules. It is on `/data`, and no maker mounts anything from it. */
export const MODULES_FOLDER = /^\/adb\/|(^|[=:])\/data\/adb\//;

/**
 * Options of an overlay that root tools mount: a folder of modules, or a folder for changes, which an overlay of a maker
 * does not have (kernel.org, overlayfs.rst; github.com/HuskyDG/magic_overlayfs). `adb remount` of a debug build also
 * uses a folder for changes (AOSP, system/core/fs_mgr/README.overlayfs.md).
 */
export const ROOT_OVERLAY =
  /(^|[=:])\/data\/adb\/|(^|,)(redirect_dir=on|upperdir=(?!\/(mnt\/scratch|cache)\/overlay\/))/;

/**
 * Folders that makers show on other partitions as read-only overlays: `mi_ext` on the phones of
 * github.com/topjohnwu/Magisk/issues/8009, and folders whose names begin with `my_` on those of issue 5016.
 */
export const FOLDER_OF_MAKER = /^\/mnt\/vendor\/(mi_ext|my_[a-z]+)(\/|$)/;
