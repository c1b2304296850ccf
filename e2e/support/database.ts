/** A PostgreSQL of the embedded binaries, handed to servers as an external database. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { EmbeddedPostgres } from "../../packages/server/src/embedded-postgres/embedded-postgres.ts";

export interface TestDatabase {
  /** Environment of a server that uses a fresh database in this PostgreSQL, with keys of its own. */
  environment(): Promise<Record<string, string>>;
  url(database: string): string;
  close(): Promise<void>;
}

export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "drs-test-"));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A connection as the tables' owner, who may do anything. */
export async function connectAsOwner(environment: Readonly<Record<string, string>>): Promise<pg.Client> {
  const connectionString = environment["DRS_DATABASE_URL"];
  const client = new pg.Client({ connectionString, options: "-c search_path=drs -c timezone=UTC" });
  await client.connect();
  return client;
}

export async function startDatabase(): Promise<TestDatabase> {
  const folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  const embedded = await EmbeddedPostgres.open({ dataDir, asServer: false, onFault: () => {} });
  const socket = encodeURIComponent(embedded.owner.host ?? "");
  const url = (database: string): string => `postgresql://postgres@localhost/${database}?host=${socket}`;
  let made = 0;
  return {
    url,
    async environment() {
      const database = `test_${process.pid}_${made++}`;
      const client = new pg.Client({ connectionString: url("postgres") });
      await client.connect();
      await client.query(`create database ${database}`);
      await client.end();
      return {
        DRS_DATABASE_URL: url(database),
        DRS_KEY_DIR: join(folder.path, `keys-${database}`),
        DRS_KEY_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
      };
    },
    async close() {
      await embedded.close();
      await folder.remove();
    },
  };
}
