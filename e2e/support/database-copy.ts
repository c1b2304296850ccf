/** Databases that replace each other, as a promoted standby replaces its primary. */
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { sharedDatabase, type TestDatabase } from "./database.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { until } from "./embedded.ts";

/** A PostgreSQL cluster. A test may read the members of this object only after the hooks of its file have run. */
export interface AdministeredCluster {
  readonly database: TestDatabase;
  /** A superuser's connection, which may rename databases and forbid connections to them. */
  readonly admin: pg.Client;
  /** A folder that is deleted at the end of the file. */
  readonly folder: string;
}

/** Connects to the PostgreSQL of the test run as a superuser. */
export function useAdministeredCluster(): AdministeredCluster {
  let database: TestDatabase;
  let admin: pg.Client;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    database = await sharedDatabase();
    folder = await temporaryFolder();
    admin = new pg.Client({ connectionString: database.url("postgres") });
    await admin.connect();
  });
  afterAll(async () => {
    await admin?.end();
    await folder?.remove();
    await database?.close();
  });
  return {
    get database() {
      return database;
    },
    get admin() {
      return admin;
    },
    get folder() {
      return folder.path;
    },
  };
}

export const databaseName = (url = ""): string => new URL(url).pathname.slice(1);

/** Ends all connections, and prevents new ones. */
export async function disconnect(admin: pg.Client, database: string): Promise<void> {
  await admin.query(`alter database ${database} allow_connections false`);
  await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [database]);
  await until(async () => {
    const { rowCount } = await admin.query("select from pg_stat_activity where datname = $1", [database]);
    return rowCount === 0;
  });
}

/** The name of the copy that `copyOf` makes. After a swap, the database that the copy replaced has this name. */
export const copyName = (database: string): string => `${database}_copy`;

/** Copies a database. @returns a function that swaps the database and its copy */
export async function copyOf(admin: pg.Client, database: string): Promise<() => Promise<void>> {
  const [copy, aside] = [copyName(database), `${database}_aside`];
  await disconnect(admin, database);
  await admin.query(`create database ${copy} template ${database}`);
  await admin.query(`alter database ${database} allow_connections true`);
  return async () => {
    await disconnect(admin, database);
    await disconnect(admin, copy);
    await admin.query(`alter database ${database} rename to ${aside}`);
    await admin.query(`alter database ${copy} rename to ${database}`);
    await admin.query(`alter database ${aside} rename to ${copy}`);
    await admin.query(`alter database ${database} allow_connections true`);
    await admin.query(`alter database ${copy} allow_connections true`);
  };
}
