import { indexOrEnd } from "./lines.ts";

/**
 * Reports every file that `/proc/self/maps` (proc_pid_maps(5)) names, by its path in the kernel's spelling. Consecutive
 * mappings of one file are reported once to `file`, and once to `code` if one of them is executable. Mappings without a
 * name, and those in brackets (`[anon:…]`, `[vdso]`), are ignored.
 *
 * A line reads `start-end perms offset device inode path`. None of the columns before the path contains a slash or a
 * bracket, so `indexOf` finds the path, and each character is read a fixed number of times.
 */
export function eachMapping(text: string, file: (path: string) => void, code: (path: string) => void): void {
  let space = -1;
  let slash = -1;
  let bracket = -1;
  let path = "";
  let isCode = false;
  for (let start = 0; start < text.length;) {
    const stop = indexOrEnd(text, "\n", start);
    if (slash < start) slash = indexOrEnd(text, "/", start);
    if (bracket < start) bracket = indexOrEnd(text, "[", start);
    if (slash < stop && slash < bracket) {
      if (stop - slash !== path.length || !text.startsWith(path, slash)) {
        path = text.slice(slash, stop);
        isCode = false;
        file(path);
      }
      if (!isCode) {
        if (space < start) space = indexOrEnd(text, " ", start);
        isCode = space < slash && text[space + 3] === "x";
        if (isCode) code(path);
      }
    }
    start = stop + 1;
  }
}

/**
 * The last part of a path, without the prefix `memfd:` of memory, and without the suffix ` (deleted)` that the kernel
 * adds to a deleted file and to such memory.
 */
export function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const whole = name.endsWith(DELETED) ? name.slice(0, -DELETED.length) : name;
  return whole.startsWith(MEMFD) ? whole.slice(MEMFD.length) : whole;
}

const DELETED = " (deleted)";
const MEMFD = "memfd:";
