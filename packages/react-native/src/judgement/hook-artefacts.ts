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

/** By its base name. */
export function isHookLibrary(name: string): boolean {
  return HOOK_LIBRARY.test(name);
}

/** By its base name, or as a module of Zygisk, which lies in a folder of that name (Magisk, developer guide). */
export function isZygoteLibrary(name: string, path: string): boolean {
  return ZYGOTE_LIBRARY.test(name) || path.includes("/zygisk/");
}

export const HOOK_CLASSES = [
  ...under("de.robv.android.xposed.", "XposedBridge XposedHelpers XC_MethodHook"),
  ...under("org.lsposed.lspatch.", "loader.LSPApplication metaloader.LSPAppComponentFactoryStub"),
  ...under("com.", "saurik.substrate.MS elderdrivers.riru.edxp.core.Main"),
];

/** Packages, and classes without a package that LSPosed and EdXposed generate for a hook. */
const HOOK_FRAME =
  /^((de\.robv\.android\.xposed|org\.lsposed|org\.meowcat\.edxposed|com\.saurik\.substrate|com\.elderdrivers\.riru)\.|(LSP|Ed)Hooker_)/;

export function hookFrame(frame: string): string | undefined {
  return HOOK_FRAME.test(frame) ? frame : undefined;
}

/** Threads that only Frida has. */
const FRIDA_THREAD = /^(gum-js-loop|pool-frida|pool-spawner|frida-gadget|linjector)$/;
/** Threads of GLib, which Frida brings along; so do GStreamer and other libraries of ordinary apps. */
const GLIB_THREAD = /^(gmain|gdbus)$/;

export function fridaThread(name: string): string | undefined {
  return FRIDA_THREAD.test(name) ? name : undefined;
}

export function fridaOrGlibThread(name: string): string | undefined {
  return GLIB_THREAD.test(name) ? name : fridaThread(name);
}

/** `linjector-<number>` in the temporary folder of frida-server. */
const INJECTOR_PIPE = /^linjector(-|$)/;

export function injectorPipe(path: string): string | undefined {
  return INJECTOR_PIPE.test(baseName(path)) ? path : undefined;
}

/** frida-server and its gadget (27042), and the cluster port beside it, in hex. */
export const FRIDA_PORTS = ["69A2", "69A3"];
