/** Temporary folders of a test run, for PostgreSQL clusters, keys, journals and the files of tests. */
import { readdirSync, readlinkSync, rmSync, statfsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of Linux whose files are in memory. */
const MEMORY_FOLDER = "/dev/shm";
/** New folders are in memory only while this many bytes are free. The clusters of a whole test run take 6 GiB. */
const NEEDED_BYTES = 8 * 2 ** 30;
/** The environment variable with the name of the test run. The names of the run's folders contain it. */
const RUN = "TEST_RUN";

/**
 * The folder that contains new folders. A test run in memory takes three quarters of the processor time and half of the
 * duration of a run on a disk: each test database has hundreds of files, which a file system on a disk is slow to make,
 * and each commit waits for the disk. Tests kill processes but never the machine, so PostgreSQL does not lose data that
 * it has written to memory.
 */
function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    if (Math.min(bavail * bsize, freemem()) >= NEEDED_BYTES) return MEMORY_FOLDER;
  } catch {
    // The system has no such folder.
  }
  return tmpdir();
}

export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(parentFolder(), `drs-test-${process.env[RUN] ?? nameOfRun()}-`));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Begins a test run in this process, and removes what killed runs left in memory. */
export function beginTestRun(): void {
  process.env[RUN] = nameOfRun();
  removeFromMemory((pid) => !isAlive(pid));
}

/** Removes what the run of this process left in memory. */
export const endTestRun = (): void => removeFromMemory((pid) => pid === process.pid);

/**
 * The name of a run that this process starts. Containers can share the memory folder and have the same process ids, so
 * the name contains the namespace of the process.
 */
const nameOfRun = (): string => `${namespace()}-${process.pid}`;

/** The number of the namespace of process ids (pid_namespaces(7)); 0 where there is none. */
function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0";
  }
}

/** Removes the folders of some test runs. @param isRemoved whether to remove those of the process with this id */
function removeFromMemory(isRemoved: (pid: number) => boolean): void {
  const folderOfThisNamespace = new RegExp(`^drs-test-${namespace()}-(\\d+)-`);
  for (const name of namesInMemory()) {
    const pid = folderOfThisNamespace.exec(name)?.[1];
    if (pid === undefined || !isRemoved(Number(pid))) continue;
    try {
      rmSync(join(MEMORY_FOLDER, name), { recursive: true, force: true });
    } catch {
      // Another user's run left it.
    }
  }
}

function namesInMemory(): readonly string[] {
  try {
    return readdirSync(MEMORY_FOLDER);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
