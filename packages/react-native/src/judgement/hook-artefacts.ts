/**
 * Traces of hooking frameworks in a process: Frida (frida.re/docs; the names of its agent, gadget, threads and named
 * pipe in frida-core), Xposed and its successors (github.com/rovo89, ElderDrivers, LSPosed, ganyao114/SandHook), Cydia
 * Substrate (cydiasubstrate.com), Riru and Zygisk (github.com/RikkaApps/Riru, topjohnwu/Magisk). OWASP MASTG lists the
 * same traces.
 */
import { libraryNamed, wholeName } from "./patterns.ts";
import { under } from "./under.ts";

/**
 * Base names of libraries. A whole name counts, never a part of a word: `friday.so` and `libmyfrida.so` do not belong to
 * Frida. `libsubstrate_x.so` is an ordinary library of a blockchain.
 */
export const HOOK_LIBRARIES = under("", "lspd lspatch substrate substrate-dvm edxp cycript FridaGadget");
export const HOOK_FAMILIES = under("", "frida xposed");
export const HOOK_LIBRARY = libraryNamed(HOOK_LIBRARIES, HOOK_FAMILIES);

/** Base names of libraries of Zygisk and Riru. Both load code into the zygote, from which Android forks each app. */
export const ZYGOTE_LOADERS = under("", "zygisk zygisk_loader zn_loader riruloader");
export const ZYGOTE_FAMILIES = under("", "riru");
export const ZYGOTE_INJECTOR_LIBRARY = libraryNamed(ZYGOTE_LOADERS, ZYGOTE_FAMILIES);

export const HOOK_CLASSES = [
  ...under("de.robv.android.xposed.", "XposedBridge XposedHelpers XC_MethodHook"),
  ...under("org.lsposed.lspatch.", "loader.LSPApplication metaloader.LSPAppComponentFactoryStub"),
  ...under("com.", "saurik.substrate.MS elderdrivers.riru.edxp.core.Main"),
];

export const HOOK_PACKAGES = [
  ...under("org.", "lsposed meowcat.edxposed"),
  ...under("com.", "saurik.substrate elderdrivers.riru"),
  "de.robv.android.xposed",
];
/** Names of classes that frameworks generate for a hook. They continue to the next underscore. */
export const HOOKERS = under("", "LSPHooker EdHooker SandHooker");
/** Classes of the API of Xposed. A framework that renames its package at each start keeps their names. */
export const XPOSED_CLASSES = under("Xposed", "Bridge Helpers");

/** Matches a method of a hooking framework by its package or by its class. */
export const HOOK_FRAME = RegExp(
  `^(${HOOK_PACKAGES.join("|").replaceAll(".", "\\.")})\\.|(^|\\.)((${HOOKERS.join("|")})\\w*_|(${XPOSED_CLASSES.join("|")})[.$])`,
);

/** Threads that only Frida has. */
export const FRIDA_THREADS = under("", "gum-js-loop pool-frida frida-gadget linjector");
export const FRIDA_THREAD = wholeName(FRIDA_THREADS);
/** Threads of GLib. Frida contains GLib, but so do GStreamer and other libraries of ordinary apps. */
export const GLIB_THREADS = under("", "gmain gdbus pool-spawner");
export const GLIB_THREAD = wholeName(GLIB_THREADS);

/** A named pipe `linjector-<number>` in the temporary folder of frida-server. */
export const INJECTOR_PIPE = /^linjector(-|$)/;

/**
 * The port 27042 of frida-server and the gadget, and Frida's cluster port 27043, in hexadecimal as in `/proc/net/tcp`.
 */
export const FRIDA_PORTS = ["69A2", "69A3"];
