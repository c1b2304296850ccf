import { spawnSync } from "node:child_process";
import { chown, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { OperatorError } from "../../base/errors/operator-error.ts";

/**
 * Uid and gid of `nobody`. PostgreSQL looks up the name of its user, so this must be a user that every system knows.
 */
const NOBODY = 65_534;

/** Starts a child process as a user other than root, because PostgreSQL refuses to run as root. */
export interface Launcher {
  readonly wrap: (command: string, args: readonly string[]) => [string, string[]];
  readonly options: { readonly uid?: number; readonly gid?: number };
  /** The user id of the owner of the cluster's folders; `undefined` if the platform has no user ids. */
  readonly owner: number | undefined;
  /** Makes `owner` the owner of a folder. */
  readonly own: (folder: string) => Promise<void>;
}

const AS_THIS_USER: Launcher = {
  wrap: (command, args) => [command, [...args]],
  options: {},
  owner: process.getuid?.(),
  own: async () => {},
};

const AS_NOBODY: Launcher = {
  ...AS_THIS_USER,
  options: { uid: NOBODY, gid: NOBODY },
  owner: NOBODY,
  own: (folder) => chown(folder, NOBODY, NOBODY),
};

/**
 * Runs programs in a user namespace that maps root to `nobody`: they may read root's files, in folders that only root
 * may enter.
 */
const IN_USER_NAMESPACE: Launcher = {
  ...AS_THIS_USER,
  wrap: (command, args) => [
    "unshare",
    ["--user", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, "--", command, ...args],
  ],
};

/**
 * Runs programs as `nobody` with one capability: to enter folders that only root may enter. It is for a root that can't
 * create a user namespace, as in a chroot. The capability also lets PostgreSQL read other files, so this launcher is
 * tried last.
 */
const AS_NOBODY_PASSING: Launcher = {
  wrap: (command, args) => [
    "setpriv",
    [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"].concat(
      [
        "--inh-caps=+dac_read_search",
        "--ambient-caps=+dac_read_search",
        "--securebits=+no_setuid_fixup",
        "--",
        command,
      ],
      args,
    ),
  ],
  options: {},
  owner: NOBODY,
  own: AS_NOBODY.own,
};

/**
 * @param cluster the cluster's folder, which may not exist yet. Its owner is not changed.
 * @param others further paths that the child must reach.
 * @throws OperatorError `embedded-postgres-failed` where this user has no name, or root can't start an unprivileged child that reaches them.
 */
export async function chooseLauncher(cluster: string, others: readonly string[]): Promise<Launcher> {
  if (process.getuid?.() !== 0) {
    requireUserName();
    return AS_THIS_USER;
  }
  const owner = await stat(cluster).then(
    ({ uid }) => uid,
    () => undefined,
  );
  const reachable = await Promise.all([dirname(dirname(cluster)), ...others].map(reachableByAll));
  if (owner !== 0 && reachable.every(Boolean)) return AS_NOBODY;
  if (owner !== NOBODY && canLaunch(IN_USER_NAMESPACE)) return IN_USER_NAMESPACE;
  if (owner !== 0 && canLaunch(AS_NOBODY_PASSING)) return AS_NOBODY_PASSING;
  const folder = dirname(cluster);
  throw new OperatorError(
    "embedded-postgres-failed",
    "PostgreSQL refuses to run as root, and no other user can get to it or to its data: start the server as another " +
      `user, or open the folders on the way to ${[folder, ...others].join(" and ")} (chmod o+x)`,
  );
}

/** PostgreSQL looks up the name of its user, which a container may lack. @throws OperatorError */
function requireUserName(): void {
  try {
    userInfo();
  } catch (cause) {
    throw new OperatorError(
      "embedded-postgres-failed",
      `the user ${process.getuid?.()} has no line in /etc/passwd, which PostgreSQL needs: add one, start the server as ` +
        "another user, or name an external database in DRS_DATABASE_URL (option database.url)",
      { cause },
    );
  }
}

function canLaunch({ wrap }: Launcher): boolean {
  const [command, args] = wrap("true", []);
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

/** Whether every user may enter every folder on the way to the path. */
async function reachableByAll(path: string): Promise<boolean> {
  const parent = dirname(path);
  const { mode } = await stat(path);
  return (mode & 0o001) !== 0 && (parent === path || (await reachableByAll(parent)));
}
