import { eachLine } from "./lines.ts";

/** One line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)). */
export interface Mount {
  /** Major and minor number of the device. */
  readonly device: string;
  /** The folder within the file system that is mounted at `point`. */
  readonly root: string;
  /** The path at which the file system is mounted. */
  readonly point: string;
  readonly options: string;
  readonly type: string;
  readonly source: string;
  readonly superOptions: string;
}

/**
 * The maximum number of columns that are read. A line has the columns
 * `id parent device root point options [optional…] - type source superOptions`; there are few optional columns.
 */
const MAX_COLUMNS = 24;

/** The length of `1 1 0:1 / / ro - a b ro`, the shortest line. */
const MIN_LINE_LENGTH = 23;

/** Every mount of the table. Lines that do not have the expected form are ignored. */
export function readMounts(text: string): readonly Mount[] {
  const mounts: Mount[] = [];
  eachLine(text, (line) => {
    if (line.length < MIN_LINE_LENGTH) return;
    const columns = line.split(" ", MAX_COLUMNS);
    const end = columns.indexOf("-", 6);
    const [, , device = "", root = "", point = "", options = ""] = columns;
    const [type, source = "", superOptions = ""] = end < 0 ? [] : columns.slice(end + 1);
    if (type !== undefined) mounts.push({ device, root, point, options, type, source, superOptions });
  });
  return mounts;
}
