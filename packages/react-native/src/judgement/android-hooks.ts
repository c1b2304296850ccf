import type { Text } from "../native/native-interface.ts";
import { any, count, facts, inText, named, present, together, which } from "./finding.ts";
import { type Explanations, type Guards, isExplained } from "./guards.ts";
import {
  FRIDA_PORTS,
  fridaOrGlibThread,
  fridaThread,
  HOOK_CLASSES,
  hookFrame,
  hookLibrary,
  injectorPipe,
  zygoteLibrary,
} from "./hook-artefacts.ts";
import type { Judgements } from "./judgement.ts";
import { baseName, eachMapping } from "./maps.ts";
import { remember } from "./remember.ts";
import { NATIVE_BRIDGE, ZYGOTE_BRIDGES } from "./root-artefacts.ts";
import { listenersOf } from "./tcp-sockets.ts";

/** Where neither an app nor the system nor ART's compiler keeps code. */
const FOREIGN_PLACE = /^\/(data\/local|data\/adb|dev|debug_ramdisk|sbin)\//;
const MEMORY = "/memfd:";
const DELETED = " (deleted)";

/** Memory that may be executed, and who put it there. What takes the name of ART's memory in vain is not explained. */
const EXPLAINED: Explanations<string> = [
  // ART's compiler keeps its code in memory: memfd from Android 10 on, ashmem before (AOSP, art/runtime/jit).
  ["jit-memfd", (path) => /^\/memfd:jit-(zygote-)?cache( \(deleted\))?$/.test(path)],
  ["jit-ashmem", (path) => path.startsWith("/dev/ashmem")],
  ["driver-memory", (path) => /^\/dev\/(kgsl|mali|dri\/|pvr|nv|dma_heap|ion|zero)/.test(path)],
  ["deleted-files", (path) => path.endsWith(DELETED) && !path.startsWith(MEMORY) && !FOREIGN_PLACE.test(path)],
];

/** A mapping of code is foreign when its place is, or when a hook keeps it in memory. */
function foreignCode(guards: Guards): (path: string) => boolean {
  const isExplainedPath = isExplained(guards, EXPLAINED);
  const isHook = hookLibrary(guards);
  const isNameless = (path: string): boolean =>
    guards("nameless-memory") &&
    path.startsWith(MEMORY) &&
    !path.startsWith(`${MEMORY}jit-`) &&
    !isHook(baseName(path));
  return (path) =>
    (path.startsWith(MEMORY) || path.endsWith(DELETED) || FOREIGN_PLACE.test(path)) &&
    !isExplainedPath(path) &&
    !isNameless(path);
}

interface Mapped {
  /** Base names. */
  readonly hooks: Set<string>;
  readonly zygote: Set<string>;
  /** Paths. */
  readonly foreign: Set<string>;
}

function mappedWith(guards: Guards): (text: Text) => Mapped {
  const [isHook, isZygote, isForeign] = [hookLibrary(guards), zygoteLibrary(guards), foreignCode(guards)];
  return remember(({ text }: Text): Mapped => {
    const mapped: Mapped = { hooks: new Set(), zygote: new Set(), foreign: new Set() };
    const file = (path: string): void => {
      const name = baseName(path);
      if (isHook(name)) mapped.hooks.add(name);
      if (isZygote(name, path)) mapped.zygote.add(name);
    };
    eachMapping(text, file, (path) => isForeign(path) && mapped.foreign.add(path));
    return mapped;
  });
}

export function androidHooks(guards: Guards): Judgements {
  const mappedIn = mappedWith(guards);
  const hookLibraries = inText("maps", (text) => mappedIn(text).hooks);
  const zygoteLibraries = inText("maps", (text) => mappedIn(text).zygote);
  const libraries = together(zygoteLibraries, hookLibraries);
  const frames = named("stack", hookFrame(guards));
  const pipes = named("descriptors", injectorPipe(guards));
  const classes = present("classes", HOOK_CLASSES);
  return {
    injectedLibrariesFound: any(libraries),
    injectedLibraryNames: which(libraries),
    injectedLibraryCount: count(libraries),
    hookFrameworkFound: any(together(hookLibraries, classes, frames, pipes, named("threads", fridaThread(guards)))),
    hookStackFrameFound: any(frames),
    hookStackFrames: which(frames),
    loadedHookClassNames: which(classes),
    zygiskIndicatorsFound: any(together(zygoteLibraries, facts("properties", [NATIVE_BRIDGE], ZYGOTE_BRIDGES))),
    suspiciousExecutableMappingsFound: any(inText("maps", (text) => mappedIn(text).foreign)),
    fridaThreadNamesFound: which(named("threads", fridaOrGlibThread(guards))),
    fridaInjectorPipeFound: any(pipes),
    fridaListenerPortFound: any(
      inText("tcpSockets", ({ text }) => listenersOf(text, guards).filter((port) => FRIDA_PORTS.includes(port))),
    ),
  };
}
