/**
 * Artefacts that reveal emulators of Android: the emulator and Cuttlefish of AOSP (device/generic/goldfish,
 * device/google/cuttlefish), Genymotion and the desktop players, as published in
 * github.com/framgia/android-emulator-detector, github.com/mofneko/EmulatorDetector,
 * github.com/happylishang/AntiFakerAndroidChecker and OWASP MASTG.
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

type Emulator = readonly [product: string, files: readonly string[], facts: RegExp];

/**
 * The files of each emulator, and a pattern of its values of the build, properties and mounts. The list has no file
 * that a stock phone may have, such as `libc_malloc_debug_qemu.so`. `vboxsf` and `nemusf` are file systems for folders
 * that are shared with the host.
 */
export const EMULATORS: readonly Emulator[] = [
  [
    "android_emulator",
    [...under("/dev/", "qemu_pipe goldfish_pipe goldfish_address_space socket/qemud"), "/system/bin/qemu-props"],
    /^((ro\.)?hardware=(goldfish|ranchu)$|product=(google_)?sdk(_|$)|model=(Android SDK built|sdk_gphone)|fingerprint=(generic|google\/sdk_)|ro\.(kernel|boot)\.qemu=1|ro\.hardware\.egl=emulation)/,
  ],
  ["cuttlefish", [], /^(ro\.)?hardware=cutf_cvm/],
  [
    "genymotion",
    [...under("/dev/socket/", "genyd baseband_genyd"), "/system/bin/androVM-prop"],
    /^(manufacturer=Genymo|(ro\.)?hardware=vbox86)/,
  ],
  ["bluestacks", under("/dev/bst", "_gps _ime gyro pgaipc"), /^manufacturer=BlueStacks/],
  [
    "nox",
    [...under("/", "fstab.nox init.nox.rc"), ...under("/system/", "bin/nox-prop lib/libnoxd.so")],
    /^(hardware=nox$|mount=nemusf)/,
  ],
  ["memu", [...under("/dev/memu", "fp guest user"), "/system/bin/microvirt-prop"], /^manufacturer=Microvirt/],
  [
    "ldplayer",
    under("/system/", "lib/libldutils.so lib64/libldutils.so bin/ldinit lib/hw/gps.ld.so"),
    /^model=LDPlayer/,
  ],
  ["mumu", ["/system/lib/libnemu.so"], /^model=MuMu/],
  ["virtualbox", [...under("/dev/vbox", "guest user"), ...under("/", "fstab.vbox86 init.vbox86.rc")], /^mount=vboxsf/],
  ["windows_subsystem", ["/system/framework/windows-system_server.jar"], /^model=Subsystem for Android/],
];

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
