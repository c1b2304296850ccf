import { facts, type Finding } from "./finding.ts";
import { ZYGOTE_LOADERS } from "./hook-artefacts.ts";

/**
 * Finds the library that Android loads into the zygote to translate code for another processor, if `known` matches it.
 */
export function nativeBridge(known: RegExp): Finding {
  return facts("properties", ["ro.dalvik.vm.native.bridge"], known);
}

/** Finds the library that Riru, Zygisk or Zygisk Next registers as the translator, to be loaded into the zygote. */
export const zygoteBridge = nativeBridge(RegExp(`=lib(${ZYGOTE_LOADERS.join("|")})\\.so$`));
