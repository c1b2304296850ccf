import { boolean, number, object, type Probe, string, strings } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const deviceIdentity: Probe = {
  id: "device_identity",
  title: "Device identity",
  meaning:
    "What make, model and OS build the device says it is. Shared by all devices of that kind; no identifier of one device.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: DIAGNOSTICS,
  fields: {
    manufacturer: string('Maker of the device: Build.MANUFACTURER on Android, always "Apple" on iOS.', {
      required: true,
      raw: true,
    }),
    model: string(
      "Model: Build.MODEL on Android, the machine identifier (the form iPhone15,2) on iOS; not a marketing name.",
      { required: true, raw: true },
    ),
    brand: string('Brand the device is sold under: Build.BRAND on Android, always "Apple" on iOS.', {
      required: true,
      raw: true,
    }),
    isTablet: boolean(
      "The device is of the tablet class, by smallest screen width on Android and interface idiom on iOS.",
      { required: true },
    ),
    systemName: string("Name of the operating system; UIDevice.systemName on iOS.", { required: true, raw: true }),
    systemVersion: string(
      "Version of the OS as users see it: Build.VERSION.RELEASE on Android, UIDevice.systemVersion on iOS.",
      { required: true, raw: true },
    ),
    osBuild: string("Identifier of the OS build; finer than systemVersion.", { raw: true }),
    kernelVersion: string("Version text of the running kernel, with its build details, as the kernel reports it.", {
      raw: true,
    }),
    kernelOsRelease: string("Release number of the running kernel, as uname reports it.", { raw: true }),
    kernelOsType: string("Name of the kernel's system, as uname reports it: Linux or Darwin.", {
      values: { android: ["Linux"], ios: ["Darwin"] },
    }),
    isIosAppOnMac: boolean("The iOS app runs unmodified on a Mac (NSProcessInfo.isiOSAppOnMac).", { on: "ios" }),
    isMacCatalystApp: boolean("The process runs on a Mac as a Catalyst app (NSProcessInfo.isMacCatalystApp).", {
      on: "ios",
    }),
    androidBuild: object(
      "The constants of android.os.Build, as the system image declares them; a modified system can declare anything.",
      {
        board: string("Build.BOARD: name of the underlying board.", { on: "android", raw: true }),
        bootloader: string("Build.BOOTLOADER: version of the bootloader; says nothing about whether it is locked.", {
          on: "android",
          raw: true,
        }),
        device: string("Build.DEVICE: name of the industrial design.", { on: "android", raw: true }),
        display: string("Build.DISPLAY: the build identifier as shown to users.", { on: "android", raw: true }),
        fingerprint: string("Build.FINGERPRINT: names this system build, not this device.", {
          on: "android",
          raw: true,
        }),
        hardware: string("Build.HARDWARE: name of the hardware, from the kernel.", { on: "android", raw: true }),
        host: string("Build.HOST: the machine on which the system image was built.", { on: "android", raw: true }),
        id: string("Build.ID: change list number or label of the build.", { on: "android", raw: true }),
        product: string("Build.PRODUCT: name of the overall product.", { on: "android", raw: true }),
        tags: string("Build.TAGS: comma-separated tags of the build, such as release-keys.", {
          on: "android",
          raw: true,
        }),
        buildType: string("Build.TYPE: kind of build, such as user or userdebug.", { on: "android", raw: true }),
        codename: string("Build.VERSION.CODENAME: development codename; REL on a released version.", {
          on: "android",
          raw: true,
        }),
        incremental: string("Build.VERSION.INCREMENTAL: the maker's internal number of this build.", {
          on: "android",
          raw: true,
        }),
        securityPatch: string("Build.VERSION.SECURITY_PATCH: date of the security patch level the build declares.", {
          on: "android",
          raw: true,
        }),
        baseOs: string("Build.VERSION.BASE_OS: the build this one is based on; often empty.", {
          on: "android",
          raw: true,
        }),
        socManufacturer: string("Build.SOC_MANUFACTURER: maker of the main chip (API 31 and later).", {
          on: "android",
          raw: true,
          systems: { android: { since: 31 } },
        }),
        socModel: string("Build.SOC_MODEL: model of the main chip (API 31 and later).", {
          on: "android",
          raw: true,
          systems: { android: { since: 31 } },
        }),
        supportedAbis: strings("Build.SUPPORTED_ABIS: instruction sets the device can run, the preferred one first.", {
          on: "android",
          raw: true,
        }),
        sdkInt: number("API level", "Build.VERSION.SDK_INT: API level of the running system.", { on: "android" }),
        buildTimeMs: number("epoch ms", "Build.TIME: when the system image was built.", { on: "android", range: {} }),
      },
      { on: "android" },
    ),
  },
};
