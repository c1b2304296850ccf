import { facts, type Finding } from "./finding.ts";

/** The library that Android loads into zygote as a translator of code, where it is a known one. */
export function nativeBridge(known: RegExp): Finding {
  return facts("properties", ["ro.dalvik.vm.native.bridge"], known);
}

/** Through these Riru, Zygisk and Zygisk Next come into zygote, in the place of a translator. */
export const zygoteBridge = nativeBridge(/=lib(zygisk|zygisk_loader|zn_loader|riruloader)\.so$/);
