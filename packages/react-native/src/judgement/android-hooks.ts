import type { Text } from "../native/native-interface.ts";
import type { AndroidRules } from "./android-rules.ts";
import { anyFound, countFound, inLines, inText, named, present, together, namesFound } from "./finding.ts";
import { FRIDA_PORTS, HOOK_CLASSES } from "./hook-artefacts.ts";
import type { Judgements } from "./judgement.ts";
import { baseName, eachMapping } from "./maps.ts";
import { zygoteBridge } from "./native-bridge.ts";
import { remember } from "./remember.ts";

interface Mapped {
  /** Base names of hooking libraries. */
  readonly hooks: Set<string>;
  readonly zygote: Set<string>;
  /** Paths of code that is from neither the app nor the system. */
  readonly foreign: Set<string>;
  /** Executable memory without a file, as `permissions name`, or as permissions if it has no name. */
  readonly memory: Set<string>;
}

/** Names of memory without a file: those of memfd, ashmem, shared and private anonymous memory, or no name. */
const MEMORY = /^(\/memfd:|\/dev\/ashmem\/|\/dev\/zero|\[anon|$)/;

function mappedBy({ library, zygote, foreign, explained }: AndroidRules): (text: Text) => Mapped {
  return remember(({ text }: Text): Mapped => {
    const mapped: Mapped = { hooks: new Set(), zygote: new Set(), foreign: new Set(), memory: new Set() };
    const file = (path: string): void => {
      const name = baseName(path);
      if (library.test(name)) mapped.hooks.add(name);
      // Modules of Zygisk are in a folder with the name `zygisk` (Magisk, developer guide).
      if (zygote.test(name) || path.includes("/zygisk/")) mapped.zygote.add(name);
    };
    const code = (path: string, permissions: string): void => {
      if (MEMORY.test(path)) mapped.memory.add(`${permissions} ${path}`.trimEnd());
      const isExplained = !library.test(baseName(path)) && explained.some((known) => known.test(path));
      if (foreign.test(path) && !isExplained) mapped.foreign.add(path);
    };
    eachMapping(text, file, code);
    return mapped;
  });
}

function matching(...known: readonly RegExp[]): (name: string) => string | undefined {
  return (name) => (known.some((one) => one.test(name)) ? name : undefined);
}

export function androidHooks(rules: AndroidRules): Judgements {
  const mapped = mappedBy(rules);
  const hookLibraries = inText("maps", (text) => mapped(text).hooks);
  const zygoteLibraries = inText("maps", (text) => mapped(text).zygote);
  const libraries = together(zygoteLibraries, hookLibraries);
  const frames = named("stack", matching(rules.frame));
  const pipes = named("descriptors", (path) => (rules.pipe.test(baseName(path)) ? path : undefined));
  const classes = present("classes", HOOK_CLASSES);
  return {
    injectedLibrariesFound: anyFound(libraries),
    injectedLibraryNames: namesFound(libraries),
    injectedLibraryCount: countFound(libraries),
    hookFrameworkFound: anyFound(
      together(hookLibraries, classes, frames, pipes, named("threads", matching(rules.frida))),
    ),
    hookStackFrameFound: anyFound(frames),
    hookStackFrames: namesFound(frames),
    loadedHookClassNames: namesFound(classes),
    zygiskIndicatorsFound: anyFound(together(zygoteLibraries, zygoteBridge)),
    suspiciousExecutableMappingsFound: anyFound(inText("maps", (text) => mapped(text).foreign)),
    executableMemoryMappings: namesFound(inText("maps", (text) => mapped(text).memory)),
    fridaThreadNamesFound: namesFound(named("threads", matching(rules.frida, rules.glib))),
    fridaInjectorPipeFound: anyFound(pipes),
    fridaListenerPortFound: anyFound(inLines("tcpSockets", rules.listener, (port) => FRIDA_PORTS.includes(port))),
  };
}
