import { captures } from "./lines.ts";

/**
 * x86 kernels list the CPUID bit `hypervisor` among the flags of a guest (Linux, cpufeatures.h); the emulator's ARM
 * boards call themselves Goldfish or ranchu (AOSP, device/generic/goldfish); QEMU names its processors after itself.
 */
const VIRTUAL = /^(?:flags|hardware|model name)\s*:(?:.*\W)?(hypervisor|goldfish|ranchu|qemu|virtualbox)\b/i;

/** The words of `/proc/cpuinfo` that name a virtual processor, in lower case. */
export function virtualProcessorMarks(text: string): readonly string[] {
  return captures(text, VIRTUAL).map((mark) => mark.toLowerCase());
}
