/**
 * What hooking frameworks leave in a process: Frida (frida.re/docs; frida-core, names of agent, gadget, threads and the
 * injector's FIFO), Xposed and its successors (github.com/rovo89, ElderDrivers, LSPosed, ganyao114/SandHook), Cydia
 * Substrate (cydiasubstrate.com), Riru and Zygisk (github.com/RikkaApps/Riru, topjohnwu/Magisk). OWASP MASTG lists the same.
 */
import { anchored, type Guards } from "./guards.ts";
import { baseName } from "./maps.ts";
import { under } from "./under.ts";

/**
 * Libraries by whole names, never by a part of a word: `friday.so` and `libmyfrida.so` are not Frida's. Some families go on
 * after a separator (`frida-agent-64.so`); `libsubstrate_x.so` is an ordinary library of a blockchain.
 */
function library(guards: Guards, whole: string, continuing: string): (name: string) => boolean {
  const begin = anchored(guards, "library-names-begin", "^(lib)?");
  const end = (after: string): string => anchored(guards, "library-names-end", after);
  const known = RegExp(`${begin}((${whole})${end("(\\.|$)")}|(${continuing})${end("([-_.]|$)")})`);
  return (name) => known.test(name);
}

/** By its base name. */
export function hookLibrary(guards: Guards): (name: string) => boolean {
  return library(
    guards,
    "lspd|lspatch|substrate|substrate-dvm|edxp|sandhook\\.edxp|cycript|FridaGadget",
    "frida|xposed",
  );
}

/** By its base name, or as a module of Zygisk, which lies in a folder of that name (Magisk, developer guide). */
export function zygoteLibrary(guards: Guards): (name: string, path: string) => boolean {
  const isNamed = library(guards, "zygisk|zygisk_loader|zn_loader|riruloader", "riru");
  return (name, path) => isNamed(name) || path.includes("/zygisk/");
}

export const HOOK_CLASSES = [
  ...under("de.robv.android.xposed.", "XposedBridge XposedHelpers XC_MethodHook"),
  ...under("org.lsposed.lspatch.", "loader.LSPApplication metaloader.LSPAppComponentFactoryStub"),
  ...under("com.", "saurik.substrate.MS elderdrivers.riru.edxp.core.Main"),
];

const HOOK_PACKAGES =
  "(de\\.robv\\.android\\.xposed|org\\.lsposed|org\\.meowcat\\.edxposed|com\\.(saurik\\.substrate|elderdrivers\\.riru|swift\\.sandhook))\\.";
/**
 * Whatever the package: classes that a framework generates for a hook, and those of the API of Xposed, whose names
 * remain where the framework renames its package at each start.
 */
const HOOK_CLASSES_ANYWHERE = "(^|\\.)((LSP|Ed|Sand)Hooker(New)?_|(Xposed(Bridge|Helpers)|IXposedHook\\w+)[.$])";

export type Recognise = (name: string) => string | undefined;

export function hookFrame(guards: Guards): Recognise {
  const known = RegExp(`${anchored(guards, "frames-by-package", "^")}${HOOK_PACKAGES}|${HOOK_CLASSES_ANYWHERE}`);
  return (frame) => (known.test(frame) ? frame : undefined);
}

/** Threads that only Frida has. */
const FRIDA_THREADS = "gum-js-loop|pool-frida|frida-gadget|linjector";
/** Threads of GLib, which Frida brings along; so do GStreamer and other libraries of ordinary apps. */
const GLIB_THREADS = "gmain|gdbus|pool-spawner";

function threadNamed(guards: Guards, names: string): Recognise {
  const anchor = (sign: string): string => anchored(guards, "threads-by-whole-name", sign);
  const known = RegExp(`${anchor("^")}(${names})${anchor("$")}`);
  return (name) => (known.test(name) ? name : undefined);
}

export function fridaThread(guards: Guards): Recognise {
  return guards("glib-threads") ? threadNamed(guards, FRIDA_THREADS) : fridaOrGlibThread(guards);
}

export function fridaOrGlibThread(guards: Guards): Recognise {
  return threadNamed(guards, `${FRIDA_THREADS}|${GLIB_THREADS}`);
}

/** `linjector-<number>` in the temporary folder of frida-server. */
export function injectorPipe(guards: Guards): Recognise {
  const known = RegExp(`^linjector${anchored(guards, "pipes-by-whole-name", "(-|$)")}`);
  return (path) => (known.test(baseName(path)) ? path : undefined);
}

/** frida-server and its gadget (27042), and the cluster port beside it, in hex. */
export const FRIDA_PORTS = ["69A2", "69A3"];
