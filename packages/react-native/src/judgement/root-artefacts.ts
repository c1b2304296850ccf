/**
 * What root tools leave behind on Android, as published by the tools themselves and by RootBeer
 * (github.com/scottyab/rootbeer, Const.java) and OWASP MASTG (testing root detection).
 *
 * Only what an ordinary app is allowed to examine on a stock phone: `/data/adb` (0700), `/cache` and, up to Android 10,
 * `/sbin` (0750) are closed to every app, so that their content is unknown on all phones and would keep every list that
 * names it from ever being complete. What Magisk, KernelSU and APatch keep there shows in the mount table.
 *
 * No path of a vendor partition: makers ship a busybox there, and tools with names like su.
 */
import { under } from "./under.ts";

export const SU_PATHS = [
  ...under("/system/", "bin/su xbin/su sbin/su bin/.ext/su bin/failsafe/su sd/xbin/su"),
  ...under("/", "su/bin/su product/bin/su system_ext/bin/su odm/bin/su"),
  ...under("/data/local/", "su bin/su xbin/su"),
];

/** Superuser and SuperSU, Magisk up to version 14 (its image), survival scripts for updates. */
export const ROOT_PATHS = [
  ...SU_PATHS,
  ...under(
    "/system/",
    "app/Superuser.apk app/SuperSU xbin/daemonsu etc/init.d/99SuperSUDaemon" +
      " etc/.installed_su_daemon addon.d/99-magisk.sh",
  ),
  ...under("/", "init.magisk.rc dev/com.koushikdutta.superuser.daemon data/magisk.img"),
];

/** Magisk, KernelSU, APatch and their forks; before them those of RootBeer's list that were spread most. */
export const ROOT_MANAGERS = [
  ...under("com.", "topjohnwu.magisk rifsxd.ksunext sukisu.ultra koushikdutta.superuser kingroot.kinguser"),
  ...under(
    "",
    "io.github.huskydg.magisk io.github.vvb2060.magisk me.weishu.kernelsu me.bmax.apatch eu.chainfire.supersu",
  ),
];

/** RootBeer's `knownDangerousAppsPackages`, and the managers of Xposed, its successors and LSPatch. */
export const PATCHERS_AND_HOOK_MANAGERS = [
  ...under("com.", "dimonvideo.luckypatcher chelpus.lackypatch chelpus.luckypatcher"),
  ...under("org.", "lsposed.manager lsposed.lspatch meowcat.edxposed.manager"),
  ...under("", "de.robv.android.xposed.installer cc.madkite.freedom"),
];

/** The packages of RootBeer's `knownRootCloakingPackages` that hide root, and Hide My Applist. */
export const ROOT_CLOAKERS = under(
  "com.",
  "devadvance.rootcloak amphoras.hidemyroot formyhm.hideroot tsng.hidemyapplist",
);

/**
 * Properties, and values of them that no stock `user` build has: AOSP, build/make/core/main.mk, and source.android.com,
 * "Implementing dm-verity".
 */
export const DANGEROUS_PROPERTIES = under("ro.", "debuggable secure boot.veritymode");
export const DANGEROUS_VALUES = /(debuggable=1|secure=0|mode=disabled)$/;

/** Magisk's daemon: `MAIN_SOCKET` of its sources up to version 18. Later ones are random, or none. */
export const MAGISK_SOCKET = /^d30138f2310a9fb9c54a3e0c21f58591$/;

/** Where root tools keep their modules: on `/data`, in a folder that no other mount comes from. */
export const OF_MODULES = /^\/adb\/|(^|[=:])\/data\/adb\//;
