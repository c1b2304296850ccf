/** Databases in a PostgreSQL that the tests start. Servers use them as external databases. */
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { CLUSTER_TEMPLATE, copyCluster, TEMPLATE } from "./cluster-template.ts";
import type { OwnerConnection } from "../../packages/server/src/store/postgres/executor.ts";
import { startPostgres } from "./start-postgres.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { makeClock } from "./test-clock.ts";

export interface TestDatabase {
  /** The environment of a server with a new database in this PostgreSQL and a new key directory. */
  environment(): Promise<Record<string, string>>;
  url(database: string): string;
  close(): Promise<void>;
}

export type OwnerClient = pg.Client & OwnerConnection;

/** A connection as the owner of the tables, who may do anything. */
export async function connectAsOwner(environment: Readonly<Record<string, string>>): Promise<OwnerClient> {
  const connectionString = environment["DRS_DATABASE_URL"];
  const client = new pg.Client({ connectionString, options: "-c search_path=drs -c timezone=UTC" });
  await client.connect();
  return client as OwnerClient;
}

/**
 * A FROM clause with the locks for which sessions of the current database wait. Locks in other databases belong to
 * other test files.
 */
export const AWAITED_LOCKS = `from pg_locks
  where not granted and pid in (select pid from pg_stat_activity where datname = current_database())`;

/**
 * The environment variable with the socket folder of the PostgreSQL that all files of a test run share
 * (shared-postgres.ts).
 */
export const SHARED_SOCKET = "TEST_POSTGRES_SOCKET";

/**
 * Replaces a database by a copy of another one, as a restore does. The replaced database is renamed and not dropped:
 * before a drop, PostgreSQL would write and sync the databases of all other tests, for up to a minute.
 */
export async function replaceDatabase(admin: pg.Client, name: string, copyOf: string): Promise<void> {
  await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
  await admin.query(`alter database ${name} rename to replaced_${randomUUID().replaceAll("-", "")}`);
  await admin.query(`create database ${name} template ${copyOf} strategy file_copy`);
}

/**
 * Makes databases in the PostgreSQL of the test run. A test file that changes the cluster itself uses `startDatabase`.
 */
export async function sharedDatabase(): Promise<TestDatabase> {
  const socket = process.env[SHARED_SOCKET];
  if (socket === undefined) throw new Error("only vitest starts the shared PostgreSQL");
  const folder = await temporaryFolder();
  return { ...databasesAt(socket, folder.path, TEMPLATE), close: () => folder.remove() };
}

/**
 * Starts a separate PostgreSQL for the caller, as a copy of the run's template. Without a template, new databases are
 * empty.
 */
export async function startDatabase(): Promise<TestDatabase> {
  const isCopy = process.env[CLUSTER_TEMPLATE] !== undefined;
  return startOwn(copyCluster, isCopy ? TEMPLATE : undefined);
}

/** Starts a separate PostgreSQL for the caller, in which new databases are empty. */
export function startEmptyDatabase(): Promise<TestDatabase> {
  return startOwn(async () => {});
}

async function startOwn(prepare: (dataDir: string) => Promise<void>, template?: string): Promise<TestDatabase> {
  const folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  await prepare(dataDir);
  const embedded = await startPostgres(dataDir);
  return {
    ...databasesAt(embedded.owner.host ?? "", folder.path, template),
    async close() {
      await embedded.close();
      await folder.remove();
    },
  };
}

function databasesAt(socket: string, keys: string, template?: string): Omit<TestDatabase, "close"> {
  const url = (database: string): string =>
    `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(socket)}`;
  return {
    url,
    async environment() {
      const database = `test_${randomUUID().replaceAll("-", "")}`;
      await run(
        url("postgres"),
        `create database ${database}${template === undefined ? "" : ` template ${template} strategy file_copy`}`,
      );
      if (template !== undefined) await run(url(database), "update drs.installation set installation_id = default");
      return {
        DRS_DATABASE_URL: url(database),
        DRS_KEY_DIR: join(keys, `keys-${database}`),
        DRS_KEY_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
        ...(template !== undefined && (await makeClock(keys, database))),
        // Tests that are not about reasons use short ones.
        DRS_REASON_MIN_LENGTH: "1",
      };
    },
  };
}

async function run(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
