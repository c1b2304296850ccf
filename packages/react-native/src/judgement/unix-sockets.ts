import { captures } from "./lines.ts";

/** The abstract names of `/proc/net/unix`, each once; the kernel writes their leading zero byte as `@`. */
export function abstractSocketsOf(text: string): readonly string[] {
  return captures(text, / @(.*)/);
}
