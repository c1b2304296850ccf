import type { Text } from "../native/native-interface.ts";
import { any, count, facts, inText, named, present, together, which } from "./finding.ts";
import {
  FRIDA_PORTS,
  fridaOrGlibThread,
  fridaThread,
  HOOK_CLASSES,
  hookFrame,
  injectorPipe,
  isHookLibrary,
  isZygoteLibrary,
} from "./hook-artefacts.ts";
import type { Judgements } from "./judgement.ts";
import { baseName, eachMapping } from "./maps.ts";
import { remember } from "./remember.ts";
import { NATIVE_BRIDGE, ZYGOTE_BRIDGES } from "./root-artefacts.ts";
import { listenersOf } from "./tcp-sockets.ts";

/** Where neither an app nor the system nor ART's compiler keeps code. */
const FOREIGN_PLACE = /^\/(data\/local|data\/adb|dev|debug_ramdisk|sbin)\//;
/** ART's compiler keeps its code in memory: memfd from Android 10 on, ashmem before (AOSP, art/runtime/jit). */
const JIT_MEMORY = /^\/memfd:jit-(zygote-)?cache( \(deleted\))?$/;
/** Ashmem of ART and WebView, and what graphics drivers map. */
const DEVICE_MEMORY = /^\/dev\/(ashmem|kgsl|mali|dri\/|pvr|nv|dma_heap|ion|zero)/;

/** A mapping of code is foreign when its place is, or when it takes the name of ART's memory in vain. */
function isForeign(path: string): boolean {
  if (path.startsWith("/memfd:jit-")) return !JIT_MEMORY.test(path);
  if (path.startsWith("/memfd:")) return isHookLibrary(baseName(path));
  return FOREIGN_PLACE.test(path) && !DEVICE_MEMORY.test(path);
}

interface Mapped {
  /** Base names. */
  readonly hooks: Set<string>;
  readonly zygote: Set<string>;
  /** Paths. */
  readonly foreign: Set<string>;
}

const mappedIn = remember(({ text }: Text): Mapped => {
  const mapped: Mapped = { hooks: new Set(), zygote: new Set(), foreign: new Set() };
  const file = (path: string): void => {
    const name = baseName(path);
    if (isHookLibrary(name)) mapped.hooks.add(name);
    if (isZygoteLibrary(name, path)) mapped.zygote.add(name);
  };
  eachMapping(text, file, (path) => isForeign(path) && mapped.foreign.add(path));
  return mapped;
});

const hookLibraries = inText("maps", (text) => mappedIn(text).hooks);
const zygoteLibraries = inText("maps", (text) => mappedIn(text).zygote);
const libraries = together(zygoteLibraries, hookLibraries);
const frames = named("stack", hookFrame);
const pipes = named("descriptors", injectorPipe);
const classes = present("classes", HOOK_CLASSES);

export const androidHooks: Judgements = {
  injectedLibrariesFound: any(libraries),
  injectedLibraryNames: which(libraries),
  injectedLibraryCount: count(libraries),
  hookFrameworkFound: any(together(hookLibraries, classes, frames, pipes, named("threads", fridaThread))),
  hookStackFrameFound: any(frames),
  hookStackFrames: which(frames),
  loadedHookClassNames: which(classes),
  zygiskIndicatorsFound: any(together(zygoteLibraries, facts("properties", [NATIVE_BRIDGE], ZYGOTE_BRIDGES))),
  suspiciousExecutableMappingsFound: any(inText("maps", (text) => mappedIn(text).foreign)),
  fridaThreadNamesFound: which(named("threads", fridaOrGlibThread)),
  fridaInjectorPipeFound: any(pipes),
  fridaListenerPortFound: any(
    inText("tcpSockets", ({ text }) => listenersOf(text).filter((port) => FRIDA_PORTS.includes(port))),
  ),
};
