/**
 * Vitest's global setup. It starts one PostgreSQL for the run, with a migrated database from which each test database
 * is cloned, and bundles `drs`.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { TestProject } from "vitest/node";
import { suiteOf } from "../../tools/suites/suites.ts";
import { bundleDrs } from "./bundle-drs.ts";
import { copyCluster, makeClusterTemplate } from "./cluster-template.ts";
import { SHARED_SOCKET } from "./database.ts";
import { startPostgres } from "./start-postgres.ts";
import { beginTestRun, endTestRun, temporaryFolder } from "./temporary-folder.ts";

let stop: (() => Promise<void>) | undefined;

const ROOT = join(import.meta.dirname, "../..");

/** Whether a file of the run may use a PostgreSQL. Vitest's types hide the files that the command line names. */
async function mayUsePostgres(project: TestProject): Promise<boolean> {
  const { filenamePattern: names } = project.vitest as { readonly filenamePattern?: string[] };
  if (names === undefined) return true;
  const { testFiles } = await project.globTestFiles(names.map((name) => name.replace(/:\d+$/, "")));
  return testFiles.some((file) => suiteOf(relative(ROOT, file), readFileSync(file, "utf8")) !== "unit");
}

/** Vitest calls this once for each project with this setup. The projects share the PostgreSQL of the first call. */
export async function setup(project: TestProject): Promise<void> {
  if (process.env[SHARED_SOCKET] !== undefined || !(await mayUsePostgres(project))) return;
  beginTestRun();
  const folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  const [removeBundle] = await Promise.all([bundleDrs(), makeClusterTemplate(join(folder.path, "template"))]);
  await copyCluster(dataDir);
  const embedded = await startPostgres(dataDir);
  process.env[SHARED_SOCKET] = embedded.owner.host;
  stop = async () => {
    await endAtOnce(dataDir);
    await embedded.close();
    await Promise.all([folder.remove(), removeBundle()]);
    endTestRun();
  };
}

/**
 * Ends PostgreSQL without its last checkpoint, which would write and sync the files of every test's database and take
 * about a minute.
 */
async function endAtOnce(dataDir: string): Promise<void> {
  const file = await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8");
  process.kill(Number.parseInt(file, 10), "SIGQUIT");
}

export const teardown = (): Promise<void> | undefined => stop?.();
