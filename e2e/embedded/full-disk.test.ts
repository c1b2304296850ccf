/** Tests of a start on a full disk. */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { drsOfRun } from "../support/bundle-drs.ts";
import { type Home, makeHome } from "../support/embedded.ts";

/**
 * Mounts a small file system in a mount namespace, prepares it by `script`, and starts the server in the namespace. A
 * user other than root gets the right to mount by a user namespace, which the server does not see.
 */
async function serveOnSmallDisk(
  environment: Readonly<Record<string, string>>,
  disk: string,
  script: string,
): Promise<{ code: unknown; stderr: string }> {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  const isRoot = uid === 0;
  const command = [process.execPath, drsOfRun(), "serve"];
  const started = isRoot ? command : ["unshare", "--user", `--map-user=${uid}`, `--map-group=${gid}`, "--", ...command];
  const steps = `set -e; mount -t tmpfs -o size=160m,mode=0700 none "${disk}"; ${script}; exec "$@"`;
  const namespaces = ["--mount", ...(isRoot ? [] : ["--user", "--map-root-user"])];
  return new Promise((resolve) => {
    execFile(
      "unshare",
      [...namespaces, "--", "sh", "-c", steps, "sh", ...started],
      { env: { PATH: process.env["PATH"], ...environment }, timeout: 50_000, killSignal: "SIGKILL" },
      (error, _, stderr) => resolve({ code: error?.code, stderr }),
    );
  });
}

/** Writes zeros until no space is left. */
const fill = (disk: string, home: Home): string => `cat /dev/zero > "${disk}/fill" 2> "${home.path}/filled" || true`;

test.each([
  ["the first start on a full disk", (data: string) => `mkdir "${data}"`, 0],
  ["a later start on a full disk", (data: string, cluster: string) => `cp -a "${cluster}" "${data}"`, 0],
  ["a start on a nearly full disk", (data: string, cluster: string) => `cp -a "${cluster}" "${data}"`, 200],
])("%s says at once that no space is left, and where", async (_, prepare, freeKilobytes) => {
  const home = await makeHome();
  try {
    const disk = join(home.path, "disk");
    await mkdir(disk);
    const data = join(disk, "data");
    const filled = `${fill(disk, home)}; truncate -s -${freeKilobytes}K "${disk}/fill"`;
    const environment = { ...home.environment, DRS_DATA_DIR: data };
    const before = performance.now();
    const { code, stderr } = await serveOnSmallDisk(environment, disk, `${prepare(data, home.dataDir)}; ${filled}`);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("no space left on device") });
    expect(stderr).toContain(data);
    expect(performance.now() - before).toBeLessThan(20_000);
  } finally {
    await home.remove();
  }
});

test("a start whose key folder is on a full disk names the folder", async () => {
  const home = await makeHome();
  try {
    const disk = join(home.path, "disk");
    await mkdir(disk);
    const keys = join(disk, "keys");
    const { code, stderr } = await serveOnSmallDisk({ ...home.environment, DRS_KEY_DIR: keys }, disk, fill(disk, home));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `the key store is not writable: ${keys} (no space left on device)\n`,
    });
  } finally {
    await home.remove();
  }
});
