/** Folders for an embedded server and its keys, and functions that look for the PostgreSQL that runs on them. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { copyCluster } from "./cluster-template.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface Home {
  /** The folder with the data directory and the key directory. Only its owner may enter it. */
  readonly path: string;
  readonly dataDir: string;
  readonly keyDir: string;
  /** The environment of servers and commands. The system chooses the ports. */
  readonly environment: Record<string, string>;
  /** Process ids of the PostgreSQL on the data directory: one or none. */
  postgres(): Promise<number[]>;
  /** Ends the PostgreSQL if it still runs, and removes the folder. */
  remove(): Promise<void>;
}

/** A home with a cluster that no server has used yet, so that its first server needs no initdb. */
export async function makeHome(): Promise<Home> {
  const home = await makeEmptyHome();
  // The server runs the embedded PostgreSQL, which can't use a cluster that another PostgreSQL made.
  if (process.env["TEST_POSTGRES_BIN"] === undefined) await copyCluster(home.dataDir);
  return home;
}

/** A home without a data directory, as before the first start. */
export async function makeEmptyHome(name = "data"): Promise<Home> {
  const { path, remove } = await temporaryFolder();
  const dataDir = join(path, name);
  const keyDir = join(path, "keys");
  return {
    path,
    dataDir,
    keyDir,
    environment: {
      DRS_DATA_DIR: dataDir,
      DRS_KEY_DIR: keyDir,
      // The default is a folder of the checkout.
      DRS_ERASURE_JOURNAL: join(path, "erasures"),
      DRS_PORT: "0",
      DRS_ADMIN_PORT: "0",
      DRS_REASON_MIN_LENGTH: "1",
    },
    postgres: () => postgresOn(dataDir),
    async remove() {
      for (const pid of await postgresOn(dataDir)) process.kill(pid, "SIGQUIT");
      await remove();
    },
  };
}

async function postgresOn(dataDir: string): Promise<number[]> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const matching = await Promise.all(
    processes.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return command.includes(`\0-D\0${dataDir}/postgres\0`) && /\/postgres\0/.test(command) ? [Number(pid)] : [];
    }),
  );
  const pids = matching.flat();
  // A child still has the name of its parent for a moment after the fork.
  const children = new Set((await Promise.all(pids.map(childrenOf))).flat());
  return pids.filter((pid) => !children.has(pid));
}

/**
 * Waits until a condition is true. Between two looks it sleeps three times as long as a look takes, because many looks
 * run a command, and other tests run at the same time.
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const looked = Date.now();
    if (await condition()) return;
    if (Date.now() > deadline) throw new Error("the condition did not become true in time");
    const sleepMs = Math.min(500, Math.max(20, 3 * (Date.now() - looked)));
    await new Promise((resolve) => setTimeout(resolve, sleepMs));
  }
}

/** Process ids of the children of `parent`. */
export async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const childIds = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      return stat.split(") ")[1]?.split(" ")[1] === String(parent) ? [Number(pid)] : [];
    }),
  );
  return childIds.flat();
}
