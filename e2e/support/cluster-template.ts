/**
 * The PostgreSQL cluster that tests copy, because initdb and the migrations take a second of processor and disk time.
 */
import { execFile } from "node:child_process";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { migrate } from "../../packages/server/src/store/postgres/migrate.ts";
import { startPostgres } from "./start-postgres.ts";
import { SQL_CLOCK } from "./test-clock.ts";

/** The environment variable with the data directory of the template. Without it, initdb makes each cluster. */
export const CLUSTER_TEMPLATE = "TEST_POSTGRES_CLUSTER";

/**
 * The name of a migrated database with the clock of the tests. Each copy of the cluster contains this database. Nothing
 * connects to it, because PostgreSQL clones only a database without connections.
 */
export const TEMPLATE = "drs_template";

/**
 * Tests kill processes but never the machine, so PostgreSQL needs no protection against partly written pages. With
 * hundreds of test databases, autovacuum would start a worker every 0.1 seconds.
 */
const SETTINGS = ["full_page_writes = off", "autovacuum = off", "jit = off"].join("\n");

export async function makeClusterTemplate(dataDir: string): Promise<void> {
  const embedded = await startPostgres(dataDir);
  const superuser = { ...embedded.owner, database: "postgres" };
  await run(superuser, `create database ${TEMPLATE}`);
  await migrate({ ...superuser, database: TEMPLATE });
  await run({ ...superuser, database: TEMPLATE }, SQL_CLOCK);
  await embedded.close();
  await appendFile(join(dataDir, "postgres/postgresql.conf"), `${SETTINGS}\n`);
  process.env[CLUSTER_TEMPLATE] = dataDir;
}

/** Copies the template into a new data directory. Does nothing without a template. */
export async function copyCluster(dataDir: string): Promise<void> {
  const template = process.env[CLUSTER_TEMPLATE];
  if (template === undefined) return;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await promisify(execFile)("cp", ["-a", join(template, "postgres"), dataDir]);
}

async function run(superuser: pg.ClientConfig, text: string): Promise<void> {
  const client = new pg.Client(superuser);
  await client.connect();
  await client.query(text);
  await client.end();
}
