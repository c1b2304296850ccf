/**
 * What hooking frameworks leave in a process: Frida (frida.re/docs; frida-core, names of agent, gadget, threads and the
 * injector's FIFO), Xposed and its successors (github.com/rovo89, ElderDrivers, LSPosed, ganyao114/SandHook), Cydia
 * Substrate (cydiasubstrate.com), Riru and Zygisk (github.com/RikkaApps/Riru, topjohnwu/Magisk). OWASP MASTG lists the same.
 */
import { families, isOfFamily } from "./families.ts";
import { demand, type Guards } from "./guards.ts";
import { baseName } from "./maps.ts";
import { under } from "./under.ts";

const HOOK_FAMILIES = families(
  "lspd lspatch substrate substrate-dvm edxp sandhook.edxp cycript FridaGadget",
  "frida xposed",
);
const ZYGOTE_FAMILIES = families("zygisk zygisk_loader zn_loader riruloader", "riru");

/** By its base name. */
export function hookLibrary(guards: Guards): (name: string) => boolean {
  return isOfFamily(HOOK_FAMILIES, guards);
}

/** By its base name, or as a module of Zygisk, which lies in a folder of that name (Magisk, developer guide). */
export function zygoteLibrary(guards: Guards): (name: string, path: string) => boolean {
  const isNamed = isOfFamily(ZYGOTE_FAMILIES, guards);
  return (name, path) => isNamed(name) || path.includes("/zygisk/");
}

export const HOOK_CLASSES = [
  ...under("de.robv.android.xposed.", "XposedBridge XposedHelpers XC_MethodHook"),
  ...under("org.lsposed.lspatch.", "loader.LSPApplication metaloader.LSPAppComponentFactoryStub"),
  ...under("com.", "saurik.substrate.MS elderdrivers.riru.edxp.core.Main"),
];

const HOOK_PACKAGE =
  /(de\.robv\.android\.xposed|org\.lsposed|org\.meowcat\.edxposed|com\.saurik\.substrate|com\.elderdrivers\.riru|com\.swift\.sandhook)\./;
/**
 * Whatever the package: classes that a framework generates for a hook, and those of the API of Xposed, whose names
 * remain where the framework renames its package at each start.
 */
const HOOK_CLASS = /(^|\.)((LSP|Ed|Sand)Hooker(New)?_|(XposedBridge|XposedHelpers|IXposedHook\w+)[.$])/;

export function hookFrame(guards: Guards): (frame: string) => string | undefined {
  const isPackage = demand(guards, "frames-by-package", (at: number) => at === 0);
  return (frame) => {
    const at = frame.search(HOOK_PACKAGE);
    return HOOK_CLASS.test(frame) || (at >= 0 && isPackage(at)) ? frame : undefined;
  };
}

/** Threads that only Frida has. */
const FRIDA_THREADS = ["gum-js-loop", "pool-frida", "frida-gadget", "linjector"];
/** Threads of GLib, which Frida brings along; so do GStreamer and other libraries of ordinary apps. */
const GLIB_THREADS = ["gmain", "gdbus", "pool-spawner"];

function threadNamed(guards: Guards, known: readonly string[]): (name: string) => string | undefined {
  return (name) => {
    const isKnown = demand(guards, "threads-by-whole-name", (one: string) => one === name);
    return known.some((one) => name.includes(one) && isKnown(one)) ? name : undefined;
  };
}

export function fridaThread(guards: Guards): (name: string) => string | undefined {
  return guards("glib-threads") ? threadNamed(guards, FRIDA_THREADS) : fridaOrGlibThread(guards);
}

export function fridaOrGlibThread(guards: Guards): (name: string) => string | undefined {
  return threadNamed(guards, [...FRIDA_THREADS, ...GLIB_THREADS]);
}

/** `linjector-<number>` in the temporary folder of frida-server. */
export function injectorPipe(guards: Guards): (path: string) => string | undefined {
  const isPipe = demand(guards, "pipes-by-whole-name", (name: string) => /^linjector(-|$)/.test(name));
  return (path) => {
    const name = baseName(path);
    return name.includes("linjector") && isPipe(name) ? path : undefined;
  };
}

/** frida-server and its gadget (27042), and the cluster port beside it, in hex. */
export const FRIDA_PORTS = ["69A2", "69A3"];
