import { eachLine } from "./lines.ts";

/**
 * x86 kernels list the CPUID bit `hypervisor` among the flags of a guest (Linux, cpufeatures.h); the emulator's ARM
 * boards call themselves Goldfish or ranchu (AOSP, device/generic/goldfish); QEMU names its processors after itself.
 */
const VIRTUAL = /^(flags|hardware|model name)\s*:(.*\W)?(hypervisor|goldfish|ranchu|qemu|virtualbox)\b/i;

/** The words of `/proc/cpuinfo` that name a virtual processor, one a line, in lower case, each once. */
export function virtualProcessorMarks(text: string): readonly string[] {
  const marks = new Set<string>();
  eachLine(text, (line) => {
    const mark = VIRTUAL.exec(line)?.[3];
    if (mark) marks.add(mark.toLowerCase());
  });
  return [...marks];
}
