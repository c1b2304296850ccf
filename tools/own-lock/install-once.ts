import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramRunner } from "../suite/run.ts";

/** The file is inside `node_modules`, so that it is deleted together with the installation that it describes. */
const DIGEST_FILE = "node_modules/.installed-from";

/**
 * Runs `npm ci` in the folder if nothing is installed there, or if the manifest, the lock file or `.npmrc` has changed
 * since the last installation. Two installations must not run at the same time, because npm does not lock a folder.
 */
export async function installOnce(folder: string, runner: Pick<ProgramRunner, "install">): Promise<void> {
  const wanted = digestOf(["package.json", "package-lock.json", ".npmrc"].map((name) => join(folder, name)));
  if (installedFrom(folder) === wanted) return;
  await runner.install();
  writeFileSync(join(folder, DIGEST_FILE), wanted);
}

function digestOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex");
}

function installedFrom(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, DIGEST_FILE), "utf8");
  } catch {
    return undefined;
  }
}
