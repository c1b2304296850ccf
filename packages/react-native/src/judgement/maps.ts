/**
 * Every mapping of a name in `/proc/self/maps` (proc_pid_maps(5)): its path as the kernel writes it, and whether it may be
 * executed. Mappings without a name, and those in brackets (`[anon:…]`, `[vdso]`), are passed over.
 *
 * A line reads `start-end perms offset device inode    path`. None of the columns before the path holds a slash or a
 * bracket, so the search for these is native, never goes back, and each character is passed a fixed number of times.
 */
export function eachMapping(text: string, visit: (path: string, executable: boolean) => void): void {
  let space = 0;
  let slash = 0;
  let bracket = 0;
  for (let start = 0; start < text.length;) {
    const stop = from(text, "\n", start);
    if (slash < start) slash = from(text, "/", start);
    if (bracket < start) bracket = from(text, "[", start);
    if (slash < stop && slash < bracket) {
      if (space < start) space = from(text, " ", start);
      visit(text.slice(slash, stop), space < slash && text[space + 3] === "x");
    }
    start = stop + 1;
  }
}

function from(text: string, sought: string, start: number): number {
  const place = text.indexOf(sought, start);
  return place < 0 ? text.length : place;
}

/** The last part of a path, without what the kernel adds for a file that is gone, or that never had a place. */
export function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const whole = name.endsWith(DELETED) ? name.slice(0, -DELETED.length) : name;
  return whole.startsWith(MEMFD) ? whole.slice(MEMFD.length) : whole;
}

const DELETED = " (deleted)";
const MEMFD = "memfd:";
