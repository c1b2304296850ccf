/**
 * Traces of hooking frameworks in a process: Frida (frida.re/docs; frida-core, names of agent, gadget, threads and the
 * injector's FIFO), Xposed and its successors (github.com/rovo89, ElderDrivers, LSPosed, ganyao114/SandHook), Cydia
 * Substrate (cydiasubstrate.com), Riru and Zygisk (github.com/RikkaApps/Riru, topjohnwu/Magisk). OWASP MASTG lists the
 * same traces.
 */
import { under } from "./under.ts";

/**
 * Base names of libraries. The pattern matches whole names, never a part of a word: `friday.so` and `libmyfrida.so` do
 * not belong to Frida. Names of some families continue after a separator (`frida-agent-64.so`). `libsubstrate_x.so` is
 * an ordinary library of a blockchain.
 */
export const HOOK_LIBRARY =
  /^(lib)?((lspd|lspatch|substrate|substrate-dvm|edxp|cycript|FridaGadget)(\.|$)|(frida|xposed)([-_.]|$))/;

/** Base names of libraries of Zygisk and Riru. Both load code into the zygote, from which Android forks each app. */
export const ZYGOTE_INJECTOR_LIBRARY = /^(lib)?((zygisk|zygisk_loader|zn_loader|riruloader)(\.|$)|riru([-_.]|$))/;

export const HOOK_CLASSES = [
  ...under("de.robv.android.xposed.", "XposedBridge XposedHelpers XC_MethodHook"),
  ...under("org.lsposed.lspatch.", "loader.LSPApplication metaloader.LSPAppComponentFactoryStub"),
  ...under("com.", "saurik.substrate.MS elderdrivers.riru.edxp.core.Main"),
];

/**
 * Packages of hooking frameworks; classes, in any package, that a framework generates for a hook; and classes of the
 * API of Xposed, which keep their names when the framework renames its package at each start.
 */
export const HOOK_FRAME =
  /^(de\.robv\.android\.xposed|org\.lsposed|org\.meowcat\.edxposed|com\.saurik\.substrate|com\.elderdrivers\.riru)\.|(^|\.)((LSP|Ed|Sand)Hooker\w*_|Xposed(Bridge|Helpers)[.$])/;

/** Threads that only Frida has. */
export const FRIDA_THREAD = /^(gum-js-loop|pool-frida|frida-gadget|linjector)$/;
/** Threads of GLib. Frida contains GLib, but so do GStreamer and other libraries of ordinary apps. */
export const GLIB_THREAD = /^(gmain|gdbus|pool-spawner)$/;

/** A named pipe `linjector-<number>` in the temporary folder of frida-server. */
export const INJECTOR_PIPE = /^linjector(-|$)/;

/** The port of frida-server and its gadget (27042), and the next one, which is Frida's cluster port; in hexadecimal. */
export const FRIDA_PORTS = ["69A2", "69A3"];
