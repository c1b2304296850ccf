/** Vitest's global setup: one PostgreSQL for the run, with a migrated database that each test database is a clone of. */
import { join } from "node:path";
import { copyCluster, makeClusterTemplate } from "./cluster-template.ts";
import { SHARED_SOCKET, temporaryFolder } from "./database.ts";
import { startPostgres } from "./start-postgres.ts";

let stop: (() => Promise<void>) | undefined;

/** Runs once for each project of the run, which share what the first one made. */
export async function setup(): Promise<void> {
  if (process.env[SHARED_SOCKET] !== undefined) return;
  const folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  await makeClusterTemplate(join(folder.path, "template"));
  await copyCluster(dataDir);
  const embedded = await startPostgres(dataDir);
  process.env[SHARED_SOCKET] = embedded.owner.host;
  stop = async () => {
    await embedded.close();
    await folder.remove();
  };
}

export const teardown = (): Promise<void> | undefined => stop?.();
