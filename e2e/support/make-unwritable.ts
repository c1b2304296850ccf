import { execFileSync } from "node:child_process";
import { chmod } from "node:fs/promises";

/**
 * Makes a folder readable and not writable. Permissions do not bind root, so root mounts the folder read-only over
 * itself, which needs the capability to mount.
 * @returns a function that makes the folder writable again; only its first call has an effect.
 */
export async function makeUnwritable(folder: string): Promise<{ restore: () => Promise<void> }> {
  const isRoot = process.getuid?.() === 0;
  let isUnwritable = true;
  if (isRoot) {
    execFileSync("mount", ["--bind", folder, folder]);
    execFileSync("mount", ["-o", "remount,bind,ro", folder]);
  } else await chmod(folder, 0o500);
  return {
    async restore() {
      if (!isUnwritable) return;
      isUnwritable = false;
      if (isRoot) execFileSync("umount", ["--lazy", folder]);
      else await chmod(folder, 0o700);
    },
  };
}
