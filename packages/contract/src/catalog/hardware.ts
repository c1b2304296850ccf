import { additions, boolean, number, type Probe, string } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const hardware: Probe = {
  id: "hardware",
  title: "Hardware",
  meaning:
    "Screen, processor, memory, battery, storage and NFC, as the platform reports them at the moment of collection.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: DIAGNOSTICS,
  fields: {
    screenWidthPx: number("px", "Width of the screen in pixels, as it is now oriented and scaled."),
    screenHeightPx: number("px", "Height of the screen in pixels, as it is now oriented and scaled."),
    screenDensity: number(
      "ratio",
      "Pixels per layout unit: DisplayMetrics.density on Android, UIScreen.scale on iOS.",
      { sensitivity: "medium" },
    ),
    screenDpi: number("dpi", "Density in use (DisplayMetrics.densityDpi); follows the display size the user chose.", {
      on: "android",
      sensitivity: "medium",
    }),
    screenPhysicalWidthPx: number(
      "px",
      "Width of the panel itself: Display.Mode.getPhysicalWidth on Android, UIScreen.nativeBounds on iOS.",
    ),
    screenPhysicalHeightPx: number(
      "px",
      "Height of the panel itself: Display.Mode.getPhysicalHeight on Android, UIScreen.nativeBounds on iOS.",
    ),
    screenPhysicalDensity: number(
      "ratio",
      "Panel pixels per layout unit: UIScreen.nativeScale on iOS, the device's own density on Android.",
    ),
    screenBrightness: number(
      "ratio",
      "Brightness of the screen from 0 to 1, as set at this moment: UIScreen.brightness on iOS.",
      { sensitivity: "medium", range: { min: 0, max: 1 } },
    ),
    screenOrientation: string(
      "Portrait or landscape, from Configuration.orientation; of the screen, not of the device in the hand.",
      {
        on: "android",
        sensitivity: "medium",
        values: ["portrait", "landscape"],
      },
    ),

    processorCount: number(
      "count",
      "Logical processors: Runtime.availableProcessors on Android, NSProcessInfo.processorCount on iOS.",
    ),
    cpuArchitecture: string(
      "Processor architecture as the runtime reports it; a translated app sees the translated one.",
      { on: "android", raw: true },
    ),
    cpuMaxFrequencyMhz: number(
      "MHz",
      "Highest clock rate of any core the kernel lists; absent where the kernel's files can't be read.",
      { on: "android" },
    ),

    totalMemoryBytes: number(
      "bytes",
      "Main memory the OS can use: MemoryInfo.totalMem on Android, NSProcessInfo.physicalMemory on iOS.",
    ),
    freeMemoryBytes: number(
      "bytes",
      "Memory still available, as the OS counts it: ActivityManager.MemoryInfo.availMem on Android.",
      { sensitivity: "medium" },
    ),
    processResidentMemoryBytes: number("bytes", "Main memory this app's process occupies now (resident set size).", {
      sensitivity: "medium",
    }),
    runtimeMaxMemoryBytes: number("bytes", "Runtime.maxMemory: upper bound of this app's managed heap.", {
      on: "android",
    }),
    isLowMemory: boolean("ActivityManager.MemoryInfo.lowMemory: the system is short of memory at this moment.", {
      on: "android",
      sensitivity: "medium",
    }),
    isLowRamDevice: boolean(
      "ActivityManager.isLowRamDevice: built as a device with little memory; not whether it is short of it now.",
      { on: "android" },
    ),

    batteryLevel: number("ratio", "Charge of the battery from 0 to 1.", {
      sensitivity: "medium",
      range: { min: 0, max: 1 },
    }),
    batteryState: string("Whether the battery is charging, discharging or full; on iOS discharging means unplugged.", {
      sensitivity: "medium",
      values: {
        android: ["charging", "discharging", "not_charging", "full"],
        ios: ["charging", "discharging", "full"],
      },
    }),
    batteryHealth: string("Condition of the battery (BatteryManager.EXTRA_HEALTH), such as good or overheated.", {
      on: "android",
      sensitivity: "medium",
      values: ["good", "overheat", "dead", "over_voltage", "unspecified_failure", "cold"],
    }),
    batteryTemperatureC: number("°C", "Temperature of the battery (BatteryManager.EXTRA_TEMPERATURE).", {
      on: "android",
      sensitivity: "medium",
    }),
    batteryVoltageMv: number("mV", "Voltage of the battery (BatteryManager.EXTRA_VOLTAGE).", {
      on: "android",
      sensitivity: "medium",
    }),
    batteryTechnology: string("Chemistry of the battery (BatteryManager.EXTRA_TECHNOLOGY), such as Li-ion.", {
      on: "android",
      raw: true,
    }),
    batteryPresent: boolean("A battery is fitted (BatteryManager.EXTRA_PRESENT).", { on: "android" }),
    batteryLow: boolean("The system counts the charge as low (BatteryManager.EXTRA_BATTERY_LOW).", {
      on: "android",
      sensitivity: "medium",
      systems: { android: { since: 28 } },
    }),
    batteryCycleCount: number("count", "Charge cycles so far (BatteryManager.EXTRA_CYCLE_COUNT, API 34 and later).", {
      on: "android",
      sensitivity: "medium",
      systems: { android: { since: 34 } },
    }),
    powerSource: string("What supplies power (BatteryManager.EXTRA_PLUGGED), such as mains, USB or wireless.", {
      on: "android",
      sensitivity: "medium",
      values: ["battery", "ac", "usb", "wireless", "dock"],
    }),
    chargeTimeRemainingMs: number(
      "ms",
      "Estimated time until fully charged (BatteryManager.computeChargeTimeRemaining); absent when unknown.",
      {
        on: "android",
        sensitivity: "medium",
        systems: { android: { since: 28 } },
      },
    ),
    lowPowerModeEnabled: boolean(
      "Battery saving is on: PowerManager.isPowerSaveMode on Android, Low Power Mode on iOS.",
      { sensitivity: "medium" },
    ),

    storageTotalBytes: number(
      "bytes",
      "Size of the file system that holds app data (StatFs), not the advertised size.",
      { on: "android", sensitivity: "medium" },
    ),
    storageFreeBytes: number("bytes", "Free space of the file system that holds app data (StatFs).", {
      on: "android",
      sensitivity: "medium",
    }),
    nfcAvailable: boolean("The device has an NFC adapter; false means that the SDK looked and found none.", {
      on: "android",
    }),
    nfcEnabled: boolean("The NFC adapter is switched on (NfcAdapter.isEnabled).", {
      on: "android",
      sensitivity: "medium",
    }),
    uptimeMs: number("ms", "Time since boot; with the clock it gives the moment of boot.", {
      on: "android",
      sensitivity: "medium",
    }),

    ...additions({
      gpuRendererName: string(
        "Name of the graphics processor, read without drawing: GL_RENDERER on Android, MTLDevice.name on iOS. An emulator names the processor of its host or a renderer in software, such as SwiftShader; test devices and desktops that run mobile apps do so, too.",
        { raw: true },
      ),
    }),
  },
};
