import { chown, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Uid and gid of `nobody`: PostgreSQL looks its own name up, so it must be one that every system knows. */
const NOBODY = 65_534;

/** How a child is started so that PostgreSQL, which refuses to run as root, agrees. */
export interface Launcher {
  readonly wrap: (command: string, args: readonly string[]) => [string, string[]];
  readonly options: { readonly uid?: number; readonly gid?: number };
  /** Hands a folder over to whom the child runs as. */
  readonly own: (folder: string) => Promise<void>;
}

const PLAIN: Launcher = { wrap: (command, args) => [command, [...args]], options: {}, own: async () => {} };

const AS_NOBODY: Launcher = {
  ...PLAIN,
  options: { uid: NOBODY, gid: NOBODY },
  own: (folder) => chown(folder, NOBODY, NOBODY),
};

/** Root's files, seen from a user namespace in which root is called nobody: for folders that only root may enter. */
const IN_USER_NAMESPACE: Launcher = {
  ...PLAIN,
  wrap: (command, args) => [
    "unshare",
    ["--user", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, "--", command, ...args],
  ],
};

/**
 * @param cluster the cluster's folder, which may not exist yet.
 * @param others further paths that the child must reach.
 */
export async function chooseLauncher(cluster: string, others: readonly string[]): Promise<Launcher> {
  if (process.getuid?.() !== 0) return PLAIN;
  const owner = await stat(cluster).then(
    ({ uid }) => uid,
    () => undefined,
  );
  if (owner === 0) return IN_USER_NAMESPACE;
  const reachable = await Promise.all([dirname(dirname(cluster)), ...others].map(reachableByAll));
  return reachable.every(Boolean) ? AS_NOBODY : IN_USER_NAMESPACE;
}

/** Whether every folder on the way to the path may be entered by everybody. */
async function reachableByAll(path: string): Promise<boolean> {
  const parent = dirname(path);
  const { mode } = await stat(path);
  return (mode & 0o001) !== 0 && (parent === path || (await reachableByAll(parent)));
}
