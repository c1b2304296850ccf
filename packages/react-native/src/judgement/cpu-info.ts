import { captures } from "./lines.ts";

/**
 * x86 kernels list the CPUID bit `hypervisor` among the flags of a virtual machine (Linux, cpufeatures.h). The
 * emulator's ARM boards have the names Goldfish and ranchu (AOSP, device/generic/goldfish). QEMU's processors have
 * names that contain QEMU.
 */
const VIRTUAL_PROCESSOR = /^(?:flags|hardware|model name)\s*:(?:.*\W)?(hypervisor|goldfish|ranchu|qemu|virtualbox)\b/i;

/** The words of `/proc/cpuinfo` that name a virtual processor, in lower case. */
export function virtualProcessorMarks(text: string): readonly string[] {
  return captures(text, VIRTUAL_PROCESSOR).map((mark) => mark.toLowerCase());
}
