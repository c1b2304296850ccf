/** Vitest's global setup: one PostgreSQL for the run, with a migrated database that each test database is a clone of. */
import { join } from "node:path";
import pg from "pg";
import { migrate } from "../../packages/server/src/postgres/migrate.ts";
import { SHARED_SOCKET, TEMPLATE, temporaryFolder } from "./database.ts";
import { startPostgres } from "./start-postgres.ts";

let stop: (() => Promise<void>) | undefined;

export async function setup(): Promise<void> {
  const folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  const embedded = await startPostgres(dataDir);
  const superuser = { ...embedded.owner, database: "postgres" };
  await createDatabase(superuser, TEMPLATE);
  await migrate({ ...superuser, database: TEMPLATE }, undefined);
  process.env[SHARED_SOCKET] = embedded.owner.host;
  stop = async () => {
    await embedded.close();
    await folder.remove();
  };
}

export const teardown = (): Promise<void> | undefined => stop?.();

async function createDatabase(superuser: pg.ClientConfig, name: string): Promise<void> {
  const client = new pg.Client(superuser);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
}
