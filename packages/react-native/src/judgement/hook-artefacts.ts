/**
 * Traces of hooking frameworks in a process: Frida (frida.re/docs; the names of its agent, gadget, threads and named
 * pipe in frida-core), Xposed and its successors (github.com/rovo89, ElderDrivers, LSPosed, ganyao114/SandHook), Cydia
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
 * Matches a method of a hooking framework by the package, by the name of a class that the framework generates for a
 * hook, or by the name of a class of the Xposed API. A framework that renames its package at each start keeps the names
 * of these classes.
 */
export const HOOK_FRAME =
  /^(de\.robv\.android\.xposed|org\.lsposed|org\.meowcat\.edxposed|com\.saurik\.substrate|com\.elderdrivers\.riru)\.|(^|\.)((LSP|Ed|Sand)Hooker\w*_|Xposed(Bridge|Helpers)[.$])/;

/** Threads that only Frida has. */
export const FRIDA_THREAD = /^(gum-js-loop|pool-frida|frida-gadget|linjector)$/;
/** Threads of GLib. Frida contains GLib, but so do GStreamer and other libraries of ordinary apps. */
export const GLIB_THREAD = /^(gmain|gdbus|pool-spawner)$/;

/** A named pipe `linjector-<number>` in the temporary folder of frida-server. */
export const INJECTOR_PIPE = /^linjector(-|$)/;

/**
 * The port 27042 of frida-server and the gadget, and Frida's cluster port 27043, in hexadecimal as in `/proc/net/tcp`.
 */
export const FRIDA_PORTS = ["69A2", "69A3"];
