import type { Text } from "../native/native-interface.ts";
import { factsOf, knowsAll } from "./facts.ts";
import {
  FRIDA_PORTS,
  FRIDA_THREADS,
  GLIB_THREADS,
  HOOK_CLASSES,
  isHookFrame,
  isHookLibrary,
  isInjectorPipe,
  isZygoteLibrary,
} from "./hook-artefacts.ts";
import {
  anyNamed,
  anyOf,
  anyPresent,
  countOf,
  type Judgement,
  type Judgements,
  note,
  remember,
  seenInText,
  whichNamed,
  whichPresent,
} from "./judgement.ts";
import { baseName, eachMapping } from "./maps.ts";
import { ZYGOTE_BRIDGES } from "./root-artefacts.ts";
import { eachListener } from "./tcp-sockets.ts";
import { under } from "./under.ts";

/** Where neither an app nor the system nor ART's compiler keeps code. */
const FOREIGN_PLACES = under("/", "data/local/ data/adb/ dev/ debug_ramdisk/ sbin/");
/** ART's compiler keeps its code in memory: memfd from Android 10 on, ashmem before (AOSP, art/runtime/jit). */
const JIT_MEMORY = new Set(under("/memfd:", "jit-cache jit-zygote-cache"));
const JIT_LIKE = "/memfd:jit-";
/** Graphics drivers and ashmem of ART, Dalvik's heirs and WebView; all of it is "deleted" for the kernel. */
const DEVICE_MEMORY = under("/dev/", "ashmem/ kgsl-3d0 mali0 dri/ pvrsrvkm nvhost nvmap dma_heap/ ion zero");

/** A mapping in `maps` is foreign when its place is, or when it takes the name of ART's memory in vain. */
export function isForeign(path: string): boolean {
  const place = path.endsWith(" (deleted)") ? path.slice(0, -10) : path;
  if (place.startsWith(JIT_LIKE)) return !JIT_MEMORY.has(place);
  if (place.startsWith("/memfd:")) return isHookLibrary(place) || isZygoteLibrary(place);
  if (DEVICE_MEMORY.some((memory) => place.startsWith(memory))) return false;
  return FOREIGN_PLACES.some((folder) => place.startsWith(folder));
}

interface Mapped {
  /** Base names of listed libraries. */
  readonly libraries: readonly string[];
  readonly hasHook: boolean;
  readonly hasZygote: boolean;
  readonly hasForeign: boolean;
}

const mappedIn = remember(({ text }: Text): Mapped => {
  const libraries = new Set<string>();
  const seen = { hasHook: false, hasZygote: false, hasForeign: false };
  let last = "";
  let lastExecutable = "";
  eachMapping(text, (path, executable) => {
    if (executable && path !== lastExecutable) {
      lastExecutable = path;
      seen.hasForeign ||= isForeign(path);
    }
    // A file is mapped in several pieces, one after the other.
    if (path === last) return;
    last = path;
    const isHook = isHookLibrary(path);
    const isZygote = isZygoteLibrary(path);
    if (isHook || isZygote) note(libraries, baseName(path));
    seen.hasHook ||= isHook;
    seen.hasZygote ||= isZygote;
  });
  return { libraries: [...libraries], ...seen };
});

const BRIDGE = ["ro.dalvik.vm.native.bridge"];
const bridgesIntoZygote: Judgement = {
  sources: { properties: BRIDGE },
  judge: ({ properties }) =>
    knowsAll(BRIDGE, properties) ? factsOf(BRIDGE, properties).some((fact) => ZYGOTE_BRIDGES.test(fact)) : undefined,
};

const libraryNames: Judgement = {
  sources: { maps: true },
  judge: ({ maps }) => (maps && !maps.truncated ? mappedIn(maps).libraries : undefined),
};
const hookFrame = anyNamed("stack", isHookFrame);
const injectorPipe = anyNamed("descriptors", isInjectorPipe);

export const androidHooks: Judgements = {
  injectedLibrariesFound: seenInText("maps", (text) => mappedIn(text).libraries.length > 0),
  injectedLibraryNames: libraryNames,
  injectedLibraryCount: countOf(libraryNames),
  hookFrameworkFound: anyOf(
    seenInText("maps", (text) => mappedIn(text).hasHook),
    anyPresent("classes", HOOK_CLASSES),
    hookFrame,
    anyNamed("threads", (name) => FRIDA_THREADS.includes(name)),
    injectorPipe,
  ),
  hookStackFrameFound: hookFrame,
  hookStackFrames: whichNamed("stack", (frame) => (isHookFrame(frame) ? frame : undefined)),
  loadedHookClassNames: whichPresent("classes", HOOK_CLASSES),
  zygiskIndicatorsFound: anyOf(
    seenInText("maps", (text) => mappedIn(text).hasZygote),
    bridgesIntoZygote,
  ),
  suspiciousExecutableMappingsFound: seenInText("maps", (text) => mappedIn(text).hasForeign),
  fridaThreadNamesFound: whichNamed("threads", (name) =>
    FRIDA_THREADS.includes(name) || GLIB_THREADS.includes(name) ? name : undefined,
  ),
  fridaInjectorPipeFound: injectorPipe,
  fridaListenerPortFound: seenInText("tcpSockets", ({ text }) => {
    let found = false;
    eachListener(text, (port) => (found ||= FRIDA_PORTS.includes(port)));
    return found;
  }),
};
