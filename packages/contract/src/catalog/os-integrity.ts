import { additions, boolean, number, numbers, type Probe, string, strings } from "./declare.ts";
import { INSTALLED_APPS } from "./disclosure.ts";
import { FACT, IDENTIFIER, PATH, VARIABLE } from "./forms.ts";

export const osIntegrity: Probe = {
  id: "os_integrity",
  title: "OS integrity",
  meaning:
    "Traces of root, jailbreak, hooks, debuggers and emulators. Observations, not a verdict: each has innocent causes.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: INSTALLED_APPS,
  fields: {
    isDebuggerAttached: boolean("A debugger is attached to this process now; ordinary for a debug build.", {
      required: true,
      sensitivity: "medium",
    }),
    isDebuggerWaiting: boolean("Debug.waitingForDebugger: the process is held until a debugger attaches.", {
      on: "android",
      sensitivity: "medium",
    }),
    tracedByOtherProcess: boolean("Another process traces this one, by TracerPid in /proc/self/status.", {
      on: "android",
      sensitivity: "medium",
    }),
    tracerPid: number("none", "Process id of the tracer, from /proc/self/status; 0 means that nothing traces.", {
      on: "android",
      sensitivity: "medium",
      range: { min: 0, integer: true },
    }),
    parentPidUnexpected: boolean(
      "The parent of this process is not launchd; normal under a debugger, on a Mac or in a simulator.",
      {
        on: "ios",
        sensitivity: "medium",
      },
    ),
    developerModeEnabled: boolean(
      "Developer options are on, as the settings report it; Android 17 QPR1 and later may hide it from apps.",
      {
        required: true,
        sensitivity: "medium",
        constantOn: ["ios"],
      },
    ),
    usbDebuggingEnabled: boolean("USB debugging (adb) is on. Never filled: apps have no reliable way to read it.", {
      on: "never",
      sensitivity: "medium",
    }),
    isRunningInUserTestHarness: boolean(
      "ActivityManager.isRunningInUserTestHarness: the device is set up for automated tests.",
      {
        on: "android",
        sensitivity: "medium",
        systems: { android: { since: 29 } },
      },
    ),
    hiddenApiPolicy: string(
      "Enforcement of hidden-API limits as set for this device; absent when nothing is set or it can't be read.",
      {
        on: "android",
        sensitivity: "medium",
        raw: true,
      },
    ),

    suBinaryFound: boolean(
      "An su executable exists at a listed path; false means that all were examined and none was seen.",
      { sensitivity: "medium" },
    ),
    suOnPath: boolean("An su executable exists in one of the folders of PATH.", {
      on: "android",
      sensitivity: "medium",
    }),
    rootManagementAppFound: boolean(
      "A listed root manager or, on iOS, jailbreak store is installed; only listed ones are looked for.",
      {
        sensitivity: "medium",
      },
    ),
    dangerousAppFound: boolean(
      "A listed app that patches other apps or needs root is installed; false means that the SDK looked and found none.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    rootCloakingAppFound: boolean(
      "A listed app that hides root is installed; false means that the SDK looked and found none.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    suspiciousFilePathsFound: boolean(
      "At least one listed root or jailbreak path exists; false means that all were examined and none was seen.",
      {
        sensitivity: "medium",
      },
    ),
    suspiciousFilePaths: strings("The listed root or jailbreak paths that exist.", {
      sensitivity: "medium",
      form: PATH,
    }),
    suspiciousPathCount: number("count", "How many of the listed root or jailbreak paths exist.", {
      sensitivity: "medium",
    }),
    writableSystemPathFound: boolean(
      "A place that a stock system keeps read-only to apps is mounted writable or could be written.",
      {
        sensitivity: "medium",
      },
    ),
    suspiciousMountsFound: boolean("The mount table has entries that root tools leave behind.", {
      on: "android",
      sensitivity: "medium",
    }),
    magiskMountsFound: boolean("The mount table names Magisk.", { on: "android", sensitivity: "medium" }),
    magiskAbstractSocketFound: boolean(
      "An abstract socket with the marks of Magisk's daemon was seen; a long random name without them does not count.",
      {
        on: "android",
        sensitivity: "medium",
        systems: { android: { until: 28 } },
      },
    ),
    magicMountModulesFound: boolean("Files of the system image are overlaid by a module of a root tool.", {
      on: "android",
      sensitivity: "medium",
    }),
    zygiskIndicatorsFound: boolean(
      "Traces of code injected through zygote (Zygisk or its like) were seen in this process.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    canOpenJailbreakScheme: boolean(
      "A listed jailbreak URL scheme can be opened, and another trace of a jailbreak was seen: any app may claim a scheme. Absent when not declared.",
      {
        on: "ios",
        sensitivity: "medium",
      },
    ),
    symbolicLinksSuspicious: boolean("A system folder that is a plain folder on a stock device is a symbolic link.", {
      on: "ios",
      sensitivity: "medium",
    }),
    jailbreakBypassDetected: boolean("A listed tweak that hides a jailbreak was seen.", {
      on: "ios",
      sensitivity: "medium",
    }),

    bootloaderLocked: boolean("System properties say that the bootloader is locked; root can rewrite properties.", {
      on: "android",
      sensitivity: "medium",
    }),
    verifiedBootState: string(
      "ro.boot.verifiedbootstate as readable: green, yellow, orange or red; root can rewrite it.",
      {
        on: "android",
        sensitivity: "medium",
        values: ["green", "yellow", "orange", "red"],
      },
    ),
    selinuxEnforcing: boolean(
      "SELinux enforces its policy; false means that the SDK read it as permissive; absent if it can't be read.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    testKeysBuild: boolean("The system build carries the tag test-keys; custom and some vendor builds do.", {
      on: "android",
    }),
    dangerousPropsPresent: boolean("At least one system property has a value that a stock user build does not have.", {
      on: "android",
      sensitivity: "medium",
    }),
    dangerousSystemProperties: strings("The system properties with such values.", {
      on: "android",
      sensitivity: "medium",
      form: FACT,
    }),
    mainExecutableEncrypted: boolean(
      "The app's executable has App Store encryption; false is normal for development builds.",
      { on: "ios" },
    ),

    hookFrameworkFound: boolean(
      "A known hooking framework was recognised; false means that the SDK looked for the listed ones and found none.",
      {
        sensitivity: "medium",
      },
    ),
    hookStackFrameFound: boolean("A stack trace of this app holds frames of a hooking framework.", {
      on: "android",
      sensitivity: "medium",
    }),
    hookStackFrames: strings("The stack frames that belong to a hooking framework.", {
      on: "android",
      sensitivity: "medium",
      raw: true,
    }),
    loadedHookClassNames: strings("Listed classes of hooking frameworks that this process can load.", {
      on: "android",
      sensitivity: "medium",
      form: IDENTIFIER,
    }),
    injectedLibrariesFound: boolean(
      "A listed instrumentation library is loaded in this process; false means that the SDK looked and found none.",
      {
        sensitivity: "medium",
      },
    ),
    injectedLibraryNames: strings("Names of the listed instrumentation libraries that are loaded.", {
      sensitivity: "medium",
      raw: true,
    }),
    injectedLibraryCount: number("count", "How many listed instrumentation libraries are loaded.", {
      sensitivity: "medium",
    }),
    dyldImageCount: number(
      "count",
      "Images the dynamic linker has loaded into this process; compare only within one app build and OS.",
      {
        on: "ios",
        sensitivity: "medium",
      },
    ),
    suspiciousExecutableMappingsFound: boolean(
      "Executable memory is mapped from a place that neither app, system nor JIT accounts for.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    fridaThreadNamesFound: strings(
      "Threads of this process whose names are those of Frida's; some also occur in other libraries.",
      {
        on: "android",
        sensitivity: "medium",
        raw: true,
      },
    ),
    fridaInjectorPipeFound: boolean("A pipe of Frida's injector (linjector) is open in this process.", {
      on: "android",
      sensitivity: "medium",
    }),
    fridaListenerPortFound: boolean(
      "A listener on one of Frida's default ports was seen; which program listens was not examined.",
      {
        on: "android",
        sensitivity: "medium",
        systems: { android: { until: 28 } },
      },
    ),
    openReverseEngineeringPorts: numbers(
      "port",
      "Listed ports of analysis tools that accept connections on this device; empty means none did.",
      {
        on: "ios",
        sensitivity: "medium",
      },
    ),
    ldPreloadSet: boolean("The environment variable LD_PRELOAD is set in this process.", {
      on: "android",
      sensitivity: "medium",
    }),
    ldPreloadValue: string("Value of LD_PRELOAD; absent when it is not set.", {
      on: "android",
      sensitivity: "medium",
      raw: true,
    }),
    suspiciousEnvironmentVariablesFound: boolean(
      "At least one listed injection variable is set in this process; false means none is.",
      {
        sensitivity: "medium",
      },
    ),
    suspiciousEnvironmentVariableNames: strings(
      "Names, never values, of the listed injection variables that are set.",
      { sensitivity: "medium", form: VARIABLE },
    ),

    isEmulator: boolean(
      "Several markers together, or the simulator build itself, say that the device is virtual; one weak marker is not enough.",
      {
        required: true,
      },
    ),
    emulatorFingerprintMatch: boolean("The build or device identity has the pattern of a known emulator or simulator."),
    emulatorBuildMarkers: strings(
      "Values of the OS build that emulators use; vendor and test builds use some of them too.",
      { raw: true },
    ),
    emulatorFilesFound: boolean(
      "At least one listed file of an emulator exists; false means that all were examined and none was seen.",
    ),
    emulatorFilePaths: strings("The listed emulator files that exist.", { form: PATH }),
    emulatorSystemPropertyMarkers: strings("System properties whose presence or value points to an emulator.", {
      raw: true,
    }),
    emulatorCpuMarkers: strings("Marks of virtual or translated processors; Chromebooks show some of them.", {
      raw: true,
    }),
    emulatorVendorMarkers: strings("Names of the emulator products that the markers seen belong to.", {
      values: {
        android: [
          "android_emulator",
          "cuttlefish",
          "genymotion",
          "bluestacks",
          "nox",
          "memu",
          "ldplayer",
          "mumu",
          "virtualbox",
          "windows_subsystem",
          "redroid",
          "waydroid",
          "huawei_cloud_phone",
        ],
        ios: ["ios_simulator", "corellium"],
      },
    }),
    emulatorChecksPerformed: strings(
      "The emulator checks that could run; a marker of any other check is unknown, not absent.",
      {
        values: { android: ["build", "files", "properties", "mounts", "cpu"], ios: ["environment", "images", "files"] },
      },
    ),
    deviceFarmMarkers: strings("Marks of remotely operated test devices; such devices are real, not virtual.", {
      sensitivity: "medium",
      raw: true,
    }),
    simulatorEnvironmentPresent: boolean("The environment variables of the iOS Simulator are set.", { on: "ios" }),
    abi: string("Instruction set this process or device prefers; x86 is no proof of an emulator.", {
      on: "android",
      raw: true,
    }),
    sensorCount: number("count", "Sensors that SensorManager lists.", { on: "android" }),
    hasAccelerometer: boolean("SensorManager has an accelerometer; false means that the SDK looked and found none.", {
      on: "android",
    }),
    hasGyroscope: boolean(
      "SensorManager has a gyroscope; false means that the SDK looked and found none, as on many plain phones.",
      {
        on: "android",
      },
    ),
    hasMagnetometer: boolean(
      "SensorManager has a magnetic field sensor; false means that the SDK looked and found none.",
      {
        on: "android",
      },
    ),
    hasProximitySensor: boolean(
      "SensorManager has a proximity sensor; false means that the SDK looked and found none, as on most tablets.",
      { on: "android" },
    ),

    ...additions({
      executableMemoryMappings: strings(
        "Executable memory without a file on disk, by permissions and name (if any) in /proc/self/maps: the first 64 different texts, each cut to 128 characters; absent if the map was not read to its end. No finding: ART's JIT (`jit-cache`, `jit-zygote-cache`, `dalvik-jit-code-cache`), WebView and drivers have such memory on ordinary devices.",
        {
          on: "android",
          sensitivity: "medium",
          raw: true,
        },
      ),
    }),
  },
};
