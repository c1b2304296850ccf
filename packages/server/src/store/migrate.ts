import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { BoundedClient } from "./bounded-client.ts";
import { type DatabaseOptions, isPassing, patient, SCHEMA, SERVING_ROLE, sqlState } from "./database.ts";

const FOLDER = join(import.meta.dirname, "migrations");
const LOCK = 7_236_514;
const OLDEST_MAJOR = 15;

/** A database that this server can't use, with a message that says what to do. */
export class DatabaseUnfit extends Error {
  override readonly name = "DatabaseUnfit";
}

export interface Migration {
  readonly id: number;
  readonly name: string;
  readonly sql: string;
}

export async function readMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name) => ({
      id: Number(name.slice(0, 4)),
      name,
      sql: await readFile(join(FOLDER, name), "utf8"),
    })),
  );
}

/**
 * Whether the schema is just what this server knows, as far as the serving login can tell.
 * @throws where the database gives no answer at all.
 */
export async function isMigrated(serving: DatabaseOptions): Promise<boolean> {
  const client = new BoundedClient(serving);
  try {
    await client.connect();
    const { rows } = await client.query<{ id: number }>("select id from schema_migration order by id");
    const known = await readMigrations();
    return rows.length === known.length && rows.every(({ id }, index) => id === known[index]?.id);
  } catch (fault) {
    if (sqlState(fault) === undefined && isPassing(fault)) throw fault;
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Brings the schema up to date. Instances that start together take turns by an advisory lock; each migration is one
 * transaction that inserts its id first.
 *
 * @param owner the login that owns, or will own, the tables.
 * @param servingLogin the login that the server uses; it is granted the serving role.
 * @throws DatabaseUnfit for a PostgreSQL that is too old or a schema that is newer than this server.
 */
export async function migrate(owner: DatabaseOptions, servingLogin: string | undefined): Promise<void> {
  const client = new BoundedClient({ ...patient(owner), application_name: "drs migrate" });
  await client.connect();
  try {
    await requireFit(client);
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    await client.query(`create schema if not exists ${SCHEMA}`);
    await client.query(`set search_path = ${SCHEMA}`);
    await client.query(
      `create table if not exists schema_migration (id integer primary key, name text not null, applied_at timestamptz not null default now())`,
    );
    const migrations = await readMigrations();
    const { rows } = await client.query<{ id: number }>("select id from schema_migration");
    const applied = new Set(rows.map((row) => row.id));
    refuseNewer(applied, migrations);
    for (const migration of migrations) if (!applied.has(migration.id)) await apply(client, migration);
    if (servingLogin !== undefined) await grantServingRole(client, servingLogin);
  } catch (fault) {
    throw sqlState(fault) === "42501"
      ? new DatabaseUnfit(
          "the login may not create the schema or the role drs_service: name one that may in DRS_MIGRATION_DATABASE_URL, " +
            "or create them by hand (docs/operator.md)",
          { cause: fault },
        )
      : fault;
  } finally {
    await client.end().catch(() => {});
  }
}

async function requireFit(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    `select current_setting('server_version_num') as version, pg_encoding_to_char(encoding) as encoding
      from pg_database where datname = current_database()`,
  );
  const major = Math.floor(Number(rows[0]?.version) / 10_000);
  if (major < OLDEST_MAJOR) {
    throw new DatabaseUnfit(`the database is PostgreSQL ${major}; version ${OLDEST_MAJOR} or later is needed`);
  }
  if (rows[0]?.encoding !== "UTF8") {
    throw new DatabaseUnfit(`the database's encoding is ${rows[0]?.encoding}; make one with encoding 'UTF8'`);
  }
}

function refuseNewer(applied: ReadonlySet<number>, known: readonly Migration[]): void {
  const newest = Math.max(0, ...known.map((migration) => migration.id));
  const beyond = [...applied].filter((id) => id > newest);
  if (beyond.length > 0) {
    throw new DatabaseUnfit(
      `the database was migrated by a newer server (migration ${Math.max(...beyond)}; this one knows ${newest}): start that version`,
    );
  }
}

async function apply(client: pg.Client, { id, name, sql }: Migration): Promise<void> {
  await client.query("begin");
  try {
    await client.query("insert into schema_migration (id, name) values ($1, $2)", [id, name]);
    await client.query(sql);
    await client.query("commit");
  } catch (fault) {
    await client.query("rollback");
    throw fault;
  }
}

async function grantServingRole(client: pg.Client, login: string): Promise<void> {
  // Since PostgreSQL 16 whoever creates a role is its member without being able to become it.
  const member = `select case when current_setting('server_version_num')::int < 160000
      then pg_has_role($1, $2, 'MEMBER') else pg_has_role($1, $2, 'SET') end as member`;
  const { rows } = await client.query<{ member: boolean }>(member, [login, SERVING_ROLE]);
  if (!rows[0]?.member) await client.query(`grant ${SERVING_ROLE} to ${client.escapeIdentifier(login)}`);
}
