/**
 * Artefacts that reveal emulators of Android: the emulator and Cuttlefish of AOSP, containers, desktop players and
 * cloud phones. `evidence/emulators.md` has the sources of each product, with the date, and the products for which no
 * public source was found.
 */
import { under } from "./under.ts";

/**
 * The members of `android.os.Build` that are compared with the values of emulators: with those in `EMULATORS`, which no
 * phone has, and with the weak ones in `WEAK_BUILD_FACTS`.
 */
export const BUILD_MEMBERS = under(
  "",
  "manufacturer brand model product hardware fingerprint tags buildType bootloader",
);
/**
 * System properties that are compared with the values of emulators. `qemu.hw.mainkeys` is not in the list, because many
 * phones set it to show their navigation bar. `init.svc.*` and makers' own properties are not in it either, because
 * from Android 9 on apps can't know whether they are set (AOSP, system/sepolicy/private/property_contexts).
 */
export const EMULATOR_PROPERTIES = under("ro.", "kernel.qemu boot.qemu hardware hardware.egl");

type Emulator = readonly [product: string, files: readonly string[], facts: readonly string[]];

/**
 * The files of each emulator, and its values of the build, properties and mounts, in which `*` means any text. The
 * list has no value that a stock phone or a Chromebook may have, such as `libc_malloc_debug_qemu.so` or
 * `ro.hardware.egl=mesa`. `vboxsf` and `nemusf` are file systems for folders that are shared with the host; `root` is
 * the folder of the host that a container mounts.
 */
export const EMULATORS: readonly Emulator[] = [
  [
    "android_emulator",
    [...under("/dev/", "qemu_pipe goldfish_pipe goldfish_address_space socket/qemud"), "/system/bin/qemu-props"],
    [
      ...under("hardware=", "goldfish ranchu"),
      ...under("product=", "sdk sdk_* google_sdk google_sdk_*"),
      "model=Android SDK built*",
      ...under("", "model=sdk_gphone* fingerprint=generic* fingerprint=google/sdk_*"),
      ...under("ro.", "hardware=goldfish hardware=ranchu kernel.qemu=1 boot.qemu=1 hardware.egl=emulation"),
    ],
  ],
  ["cuttlefish", [], under("", "hardware=cutf_cvm* ro.hardware=cutf_cvm*")],
  [
    "genymotion",
    [...under("/dev/socket/", "genyd baseband_genyd"), "/system/bin/androVM-prop"],
    under("", "manufacturer=Genymo* hardware=vbox86* ro.hardware=vbox86*"),
  ],
  [
    "redroid",
    [],
    under(
      "",
      "hardware=redroid ro.hardware=redroid manufacturer=redroid brand=redroid product=redroid* model=redroid*" +
        " fingerprint=redroid*",
    ),
  ],
  [
    "waydroid",
    ["/vendor/waydroid.prop"],
    [
      ...under("", "manufacturer=Waydroid brand=waydroid product=*_waydroid_* fingerprint=waydroid/*"),
      "model=WayDroid *",
      ...under("root=*/waydroid/", "waydroid.prop data data/*"),
    ],
  ],
  [
    "bluestacks",
    [
      ...under("/dev/bst", "_gps _ime gyro pgaipc megn"),
      ...under("/system/bin/bst", "folder folderd syncfs shutdown ime svcmgrtest"),
    ],
    ["manufacturer=BlueStacks*", ...under("bst.", "installed_images=* instance=*")],
  ],
  [
    "nox",
    [
      ...under("/", "fstab.nox init.nox.rc"),
      ...under("/system/", "bin/nox-prop bin/noxd bin/nox-vbox-sf lib/libnoxd.so lib/libnoxspeedup.so"),
    ],
    under("", "hardware=nox mount=nemusf"),
  ],
  [
    "memu",
    [...under("/dev/memu", "fp guest user"), "/system/bin/microvirt-prop", "/system/lib/memuguest.ko"],
    ["manufacturer=Microvirt*"],
  ],
  [
    "ldplayer",
    under(
      "/system/",
      "lib/libldutils.so lib64/libldutils.so bin/ldinit bin/ldmountsf lib/hw/gps.ld.so lib/hw/sensors.ld.so",
    ),
    ["model=LDPlayer*"],
  ],
  ["mumu", ["/system/lib/libnemu.so"], under("", "model=MuMu* nemud.player_version=* nemud.player_engine=*")],
  ["huawei_cloud_phone", [], under("", "com.cph.mainkeys=* ro.com.cph.sfs_enable=* ro.com.cph.notification_disable=*")],
  ["virtualbox", [...under("/dev/vbox", "guest user"), ...under("/", "fstab.vbox86 init.vbox86.rc")], ["mount=vboxsf"]],
  ["windows_subsystem", ["/system/framework/windows-system_server.jar"], ["model=Subsystem for Android*"]],
];

/**
 * The other properties of `EMULATORS`: those of players and cloud phones. A phone does not let apps read properties that
 * it does not know, so these can add a marker and never show that none exists.
 */
export const PLAYER_PROPERTIES = EMULATORS.flatMap(([, , facts]) =>
  facts.map((fact) => fact.replace(/=.*/, "")),
).filter((name) => name.includes(".") && !EMULATOR_PROPERTIES.includes(name));

/**
 * Values that emulators share with test builds, vendors' debug builds and Chromebooks. An x86 processor is an equally
 * weak marker.
 */
export const WEAK_BUILD_FACTS =
  /^(tags=(.*,)?test-keys|buildType=(eng|userdebug)$|(manufacturer|bootloader)=unknown$|brand=(generic|unknown))/;

/** Libraries that translate ARM code. Chromebooks have them, too. */
export const TRANSLATORS = /=lib(houdini|ndk_translation)\.so$/;
export const TRANSLATOR_PATHS = under("/system/lib", "/libhoudini.so 64/libhoudini.so");

/** Agents of device farms: OpenSTF (github.com/DeviceFarmer), and Appium, which many farms run (appium.io). */
export const FARM_PACKAGES = ["jp.co.cyberagent.stf", ...under("io.appium.", "settings uiautomator2.server")];
export const FARM_PATHS = under("/data/local/tmp/", "minicap minicap.so minitouch");
