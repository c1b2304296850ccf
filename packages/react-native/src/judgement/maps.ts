import { placeOf } from "./lines.ts";

/**
 * Every file that `/proc/self/maps` (proc_pid_maps(5)) names, by its path as the kernel writes it: once for the pieces that
 * follow each other, and once more to `code` if one of these may be executed. Mappings without a name, and those in
 * brackets (`[anon:…]`, `[vdso]`), are passed over.
 *
 * A line reads `start-end perms offset device inode    path`. None of the columns before the path holds a slash or a
 * bracket, so the search for these is native, never moves back, and each character is passed a fixed number of times.
 */
export function eachMapping(text: string, file: (path: string) => void, code: (path: string) => void): void {
  let space = -1;
  let slash = -1;
  let bracket = -1;
  let path = "";
  let isCode = false;
  for (let start = 0; start < text.length;) {
    const stop = placeOf(text, "\n", start);
    if (slash < start) slash = placeOf(text, "/", start);
    if (bracket < start) bracket = placeOf(text, "[", start);
    if (slash < stop && slash < bracket) {
      if (stop - slash !== path.length || !text.startsWith(path, slash)) {
        path = text.slice(slash, stop);
        isCode = false;
        file(path);
      }
      if (!isCode) {
        if (space < start) space = placeOf(text, " ", start);
        isCode = space < slash && text[space + 3] === "x";
        if (isCode) code(path);
      }
    }
    start = stop + 1;
  }
}

/** The last part of a path, without the suffix that the kernel adds for a file that is deleted or never had a path. */
export function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const whole = name.endsWith(DELETED) ? name.slice(0, -DELETED.length) : name;
  return whole.startsWith(MEMFD) ? whole.slice(MEMFD.length) : whole;
}

const DELETED = " (deleted)";
const MEMFD = "memfd:";
