/**
 * `node tools/own-lock/install.ts FOLDER`: installs a folder that has a separate lock file, unless its `node_modules`
 * already comes from this lock file. Two installations must not run at the same time, because npm does not lock a
 * folder.
 */
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ProgramRunner } from "../suite/run.ts";

export async function installOnce(folder: string, runner: Pick<ProgramRunner, "install">): Promise<void> {
  const lock = join(folder, "package-lock.json");
  // Inside `node_modules`, so that it is deleted together with the installation.
  const installed = join(folder, "node_modules/.installed-from");
  if (existsSync(installed) && readFileSync(installed).equals(readFileSync(lock))) return;
  await runner.install();
  cpSync(lock, installed);
}

const [folder = ""] = process.argv.slice(2);
if (import.meta.main) await installOnce(folder, new ProgramRunner(folder));
