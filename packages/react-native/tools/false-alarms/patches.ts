/**
 * The guard against each known false alarm, switched off: a piece of source and what stands there instead. The test beside
 * the judgements applies them to a copy, one at a time, and sees a case of that alarm fail. A patch that no longer finds
 * its piece fails, too, so the list can't grow stale in silence.
 */
export interface Patch {
  /** As the case says it: `falseAlarm` in `evidence/*.json`. */
  readonly alarm: string;
  /** What is gone. */
  readonly guard: string;
  readonly edits: readonly Edit[];
}

interface Edit {
  /** In `src/judgement`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

function patch(alarm: string, guard: string, file: string, find: string, replace: string): Patch {
  return { alarm, guard, edits: [{ file, find, replace }] };
}

export const PATCHES: readonly Patch[] = [
  ...[
    ["families of libraries end at a separator", "(frida|xposed)([-_.]|$)", "(frida|xposed)"],
    ["other libraries end with their name", "FridaGadget)(\\.|$)", "FridaGadget)([-_.]|$)"],
    ["Riru's modules begin with its whole name", "riru([-_.]|$)", "riru"],
    ["a library's name begins at its beginning", "/^(lib)?((lspd", "/(lib)?((lspd"],
    ["frames are known by their whole package", "/^((de\\.robv", "/((de\\.robv"],
    ["threads are known by their whole name", "/^(gmain|gdbus)$/", "/^(gmain|gdbus)/"],
    ["the injector's pipe is known by its whole name", "/^linjector(-|$)/", "/^linjector/"],
  ].map(([guard = "", find = "", replace = ""]) =>
    patch("substrings of names", guard, "hook-artefacts.ts", find, replace),
  ),
  patch(
    "substrings of names",
    "images of iOS are known by their whole name",
    "jailbreak-artefacts.ts",
    "known.has(name)",
    '[...known].some((one) => name.includes(one.replace(".dylib", "")))',
  ),

  patch(
    "deleted mappings of the JIT",
    "memory of ART's compiler is known by name",
    "android-hooks.ts",
    "return !JIT_MEMORY.test(path)",
    "return true",
  ),
  patch("deleted mappings of the JIT", "so is its ashmem", "android-hooks.ts", "(ashmem|kgsl", "(kgsl"),
  patch(
    "deleted mappings of drivers and WebView",
    "memory of drivers is known by its device",
    "android-hooks.ts",
    "kgsl|mali|",
    "",
  ),
  patch(
    "deleted mappings of drivers and WebView",
    "nameless memory counts only with a hook's name",
    "android-hooks.ts",
    "return isHookLibrary(baseName(path))",
    "return true",
  ),
  patch(
    "deleted mappings of the app",
    "a file that is gone is foreign only by its place",
    "android-hooks.ts",
    "return FOREIGN_PLACE.test(path) &&",
    'return path.endsWith(" (deleted)") || FOREIGN_PLACE.test(path) &&',
  ),
  patch(
    "long names of sockets",
    "Magisk's sockets are known by name",
    "os-integrity-android.ts",
    "MAGISK_SOCKETS.includes(name)",
    "name.length >= 32",
  ),
  patch(
    "busybox and names like su",
    "no path of a vendor partition is looked at",
    "root-artefacts.ts",
    "product/bin/su system_ext/bin/su",
    "product/bin/su vendor/bin/busybox",
  ),
  patch(
    "busybox and names like su",
    "su is a whole name",
    "os-integrity-android.ts",
    'path.endsWith("/su")',
    'path.includes("/su")',
  ),

  patch(
    "build markers",
    "weak values of the build make no emulator",
    "android-emulator.ts",
    "build.find(evidence).found.slice(0, 1)",
    'facts("build", BUILD_MEMBERS, WEAK_BUILD_FACTS).find(evidence).found',
  ),
  patch(
    "Chromebooks",
    "marks of the processor make no emulator",
    "android-emulator.ts",
    "together(files, properties, mounts);",
    "together(files, properties, mounts, cpu);",
  ),
  patch(
    "device farms",
    "marks of a farm make no emulator",
    "android-emulator.ts",
    "together(files, properties, mounts);",
    'together(files, properties, mounts, present("packages", FARM_PACKAGES), present("paths", FARM_PATHS));',
  ),
  patch("a single marker", "one marker makes no emulator", "android-emulator.ts", "MARKERS = 2", "MARKERS = 1"),
  {
    alarm: "properties of the emulator on phones",
    guard: "qemu.hw.mainkeys is not looked at",
    edits: [
      {
        file: "emulator-artefacts.ts",
        find: 'under("ro.", "kernel.qemu boot.qemu hardware hardware.egl")',
        replace: 'under("", "ro.kernel.qemu ro.boot.qemu ro.hardware qemu.hw.mainkeys")',
      },
      { file: "emulator-artefacts.ts", find: "ro\\.hardware\\.egl=emulation", replace: "qemu\\.hw\\.mainkeys=0" },
    ],
  },

  patch(
    "overlays of the maker",
    "an overlay counts only with folders of modules",
    "android-mounts.ts",
    "[=:]\\/data\\/adb\\/",
    "lowerdir=",
  ),
  patch(
    "capture apps",
    "an app that records traffic is not listed",
    "root-artefacts.ts",
    "cc.madkite.freedom",
    "cc.madkite.freedom com.emanuelef.remote_capture",
  ),
  patch(
    "debuggers on debug builds",
    "a debugger's threads are no hook",
    "android-hooks.ts",
    'named("threads", fridaThread)',
    'named("threads", (name) => (name.includes("JDWP") ? name : fridaThread(name)))',
  ),
  patch(
    "debuggers on debug builds",
    "libraries of Xcode's debugger are no injected ones",
    "jailbreak-artefacts.ts",
    '"TweakInject.dylib systemhook',
    '"libViewDebuggerSupport.dylib TweakInject.dylib systemhook',
  ),
  patch(
    "threads of GLib",
    "threads of GLib are no hook",
    "android-hooks.ts",
    'named("threads", fridaThread)',
    'named("threads", fridaOrGlibThread)',
  ),
  patch("ports that nobody listens on", "only listeners count", "tcp-sockets.ts", "\\S+ 0A /", "\\S+ \\S+ /"),

  patch(
    "the simulator",
    "files and processes of a Mac say nothing",
    "ios-host.ts",
    "isOnMac(evidence) === false ? find(evidence) : UNKNOWN",
    "find(evidence)",
  ),
  patch(
    "the simulator",
    "the simulator is known by its libraries, too",
    "ios-host.ts",
    "path.startsWith(MAC_SUPPORT) || isSimulatorImage(path)",
    "path.startsWith(MAC_SUPPORT)",
  ),
  patch(
    "iOS on a Mac",
    "a Mac is known by its libraries",
    "ios-host.ts",
    "path.startsWith(MAC_SUPPORT) || isSimulatorImage(path)",
    "isSimulatorImage(path)",
  ),
  patch(
    "contested URL schemes",
    "a contested scheme needs another trace",
    "os-integrity-ios.ts",
    "trace.found.length > 0 ? found : []",
    "found",
  ),
  patch(
    "contested URL schemes",
    "what the trace can't tell stays unknown",
    "os-integrity-ios.ts",
    "whole && (found.length === 0 || trace.whole)",
    "whole",
  ),
  patch(
    "schemes that were not declared",
    "what was not looked at is not absent",
    "finding.ts",
    "whole: list.every((name) => seen.has(name))",
    "whole: true",
  ),
  patch("tunnels of iOS", "only tunnels with settings are a VPN", "network-ios.ts", "TUNNEL.test(name)", "true"),
];
