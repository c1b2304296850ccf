import { facts, type Finding } from "./finding.ts";

/** Finds the library that Android loads into the zygote as a translator of code, if it is a known one. */
export function nativeBridge(known: RegExp): Finding {
  return facts("properties", ["ro.dalvik.vm.native.bridge"], known);
}

/** Libraries with which Riru, Zygisk and Zygisk Next enter the zygote, in place of a translator. */
export const zygoteBridge = nativeBridge(/=lib(zygisk|zygisk_loader|zn_loader|riruloader)\.so$/);
