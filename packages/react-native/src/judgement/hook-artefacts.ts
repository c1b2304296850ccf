/**
 * What hooking frameworks leave in a process: Frida (frida.re/docs; frida-core, names of agent, gadget, threads and the
 * injector's FIFO), Xposed and its successors (github.com/rovo89, ElderDrivers, LSPosed), Cydia Substrate
 * (cydiasubstrate.com), Riru and Zygisk (github.com/RikkaApps/Riru, topjohnwu/Magisk). OWASP MASTG lists the same.
 *
 * Libraries by their base name without `lib` and without ending.
 */
import { baseName } from "./maps.ts";
import { under } from "./under.ts";

/**
 * Whole names, never a part of a word: `libfrida-agent-64.so` is Frida's, `friday.so` and `libmyfrida.so` are not. Some
 * families go on after a separator; `libsubstrate_x.so` is an ordinary library of a blockchain.
 */
const HOOK_LIBRARY =
  /^(lib)?((lspd|lspatch|substrate|substrate-dvm|edxp|cycript|FridaGadget)(\.|$)|(frida|xposed)([-_.]|$))/;
const ZYGOTE_LIBRARY = /^(lib)?((zygisk|zygisk_loader|zn_loader|riruloader)(\.|$)|riru([-_.]|$))/;

export function isHookLibrary(path: string): boolean {
  return HOOK_LIBRARY.test(baseName(path));
}

/** Zygisk's modules lie in a folder of its name, called after the instruction set (Magisk, developer guide). */
export function isZygoteLibrary(path: string): boolean {
  return ZYGOTE_LIBRARY.test(baseName(path)) || path.includes("/zygisk/");
}

export const HOOK_CLASSES = [
  ...under("de.robv.android.xposed.", "XposedBridge XposedHelpers XC_MethodHook"),
  ...under("org.lsposed.lspatch.", "loader.LSPApplication metaloader.LSPAppComponentFactoryStub"),
  ...under("com.", "saurik.substrate.MS elderdrivers.riru.edxp.core.Main"),
];

/** Packages, with their dot. */
const HOOK_PACKAGES = [
  ...under("de.robv.android.", "xposed."),
  ...under("org.", "lsposed. meowcat.edxposed."),
  ...under("com.", "saurik.substrate. elderdrivers.riru."),
];

/** Classes without a package that LSPosed and EdXposed generate for a hook. */
const HOOK_STUBS = ["LSPHooker_", "EdHooker_"];

export function isHookFrame(frame: string): boolean {
  return HOOK_PACKAGES.some((name) => frame.startsWith(name)) || HOOK_STUBS.some((name) => frame.startsWith(name));
}

/** Threads that only Frida has. */
export const FRIDA_THREADS = ["gum-js-loop", "pool-frida", "pool-spawner", "frida-gadget", "linjector"];
/** Threads of GLib, which Frida brings along; so do GStreamer and other libraries of ordinary apps. */
export const GLIB_THREADS = ["gmain", "gdbus"];

/** `linjector-<number>` in the temporary folder of frida-server. */
export function isInjectorPipe(path: string): boolean {
  const name = baseName(path);
  return name === "linjector" || name.startsWith("linjector-");
}

/** frida-server and its gadget (27042), and the cluster port beside it. */
export const FRIDA_PORTS = [27042, 27043];
