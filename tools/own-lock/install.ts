/**
 * `node tools/own-lock/install.ts FOLDER`: installs a folder that has a separate lock file, unless it is installed
 * already.
 */
import { ProgramRunner } from "../suite/run.ts";
import { installOnce } from "./install-once.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("Usage: node tools/own-lock/install.ts FOLDER\n");
  process.exitCode = 2;
} else {
  await installOnce(folder, new ProgramRunner(folder));
}
