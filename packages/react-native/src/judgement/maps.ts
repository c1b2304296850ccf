import { indexOrEnd } from "./lines.ts";

/**
 * Reports what `/proc/self/maps` (proc_pid_maps(5)) names, in the kernel's spelling. Of consecutive mappings with the
 * same name, `file` gets the name once if it is a path, and `code` gets it once for each change of the permissions of
 * the executable ones. `code` also gets names in brackets (`[anon:…]`, `[vdso]`), and `""` for mappings without a name.
 *
 * A line reads `start-end perms offset device inode name`. None of the columns before the name contains a slash or a
 * bracket, so `indexOf` finds the name, and each character is read a fixed number of times.
 */
export function eachMapping(
  text: string,
  file: (path: string) => void,
  code: (name: string, permissions: string) => void,
): void {
  let space = -1;
  let slash = -1;
  let bracket = -1;
  let name = "";
  let reported = "";
  for (let start = 0; start < text.length;) {
    const stop = indexOrEnd(text, "\n", start);
    if (space < start) space = indexOrEnd(text, " ", start);
    if (slash < start) slash = indexOrEnd(text, "/", start);
    if (bracket < start) bracket = indexOrEnd(text, "[", start);
    const place = Math.min(slash, bracket, stop);
    if (stop - place !== name.length || !text.startsWith(name, place)) {
      name = text.slice(place, stop);
      reported = "";
      if (name.startsWith("/")) file(name);
    }
    if (space + PERMISSIONS < place && text[space + 3] === "x") {
      const permissions = text.slice(space + 1, space + 1 + PERMISSIONS);
      if (permissions !== reported) code(name, permissions);
      reported = permissions;
    }
    start = stop + 1;
  }
}

/** Characters of a mapping's permissions, such as `r-xp`. */
const PERMISSIONS = 4;

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
