import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type pg from "pg";
import { escapeIdentifier, escapeLiteral } from "../../base/driver.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { type DatabaseOptions, inTransactionOn, withClient, withoutStatementTimeout } from "./database.ts";
import { sqlState } from "./errors.ts";
import { lockSession } from "./advisory-locks.ts";
import type { Connection, Executor, Transaction } from "./executor.ts";
import { requireSettings, SCHEMA, sessionOptions } from "./session-settings.ts";
import { query, sql } from "./statement.ts";
import { grantsScript } from "./grants.ts";
import { LOCKS } from "./locks.ts";
import { type Role, ROLE_NAMES } from "./roles.ts";
import { SQL_STATES } from "./sql-states.ts";

const FOLDER = import.meta.dirname;
const OLDEST_MAJOR = 15;

/** Runs before migrations: creates the schema, and the tables that say what was applied to the database. */
const PREPARATION = [
  `create schema if not exists ${SCHEMA}`,
  `set search_path = ${SCHEMA}`,
  `create table if not exists schema_migration (
    id integer primary key, name text not null, digest text not null, applied_at timestamptz not null default now())`,
  `create table if not exists schema_definition (
    name text primary key, digest text not null, applied_at timestamptz not null default now())`,
];

/** Installations that are older than the column `digest` have none, which differs from each digest. */
const LIST_MIGRATIONS = sql(
  "select id, to_jsonb(applied) ->> 'digest' as digest from schema_migration applied order by id",
  [],
  { id: "int4", digest: "text" },
);
const LIST_DEFINITIONS = sql("select name, digest from schema_definition", [], { name: "text", digest: "text" });
const READ_VERSION = sql(
  `select current_setting('server_version_num') as version, pg_encoding_to_char(encoding) as encoding
    from pg_database where datname = current_database()`,
  [],
  { version: "text", encoding: "name" },
);
/** Since PostgreSQL 16 the role that creates another one is its member without being able to become it. */
const IS_MEMBER = sql(
  `select case when current_setting('server_version_num')::int < 160000
    then pg_has_role($1, $2, 'MEMBER') else pg_has_role($1, $2, 'SET') end as member`,
  ["name", "name"],
  { member: "bool" },
);

/** A change of tables: applied once, in the order of the numbers, and never edited once it was applied. */
export interface Migration {
  readonly id: number;
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, without the files that it includes, in hexadecimal. */
  readonly digest: string;
}

/** A function, the views or the grants: applied after each migration, and again whenever its text changes. */
export interface Definition {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly digest: string;
}

export interface Schema {
  readonly migrations: readonly Migration[];
  readonly definitions: readonly Definition[];
}

let known: Promise<Schema> | undefined;

/** Reads the files once in each process, because every installation that a process opens is compared with them. */
export function readSchema(): Promise<Schema> {
  known ??= readFiles().catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
}

async function readFiles(): Promise<Schema> {
  return {
    migrations: await Promise.all((await sqlFiles("migrations")).map(readMigration)),
    definitions: [
      ...(await Promise.all([...(await sqlFiles("functions")), "views.sql"].map(readDefinition))),
      definitionOf("grants", grantsScript()),
    ],
  };
}

async function sqlFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(join(FOLDER, folder));
  return names
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .map((name) => join(folder, name));
}

async function readMigration(path: string): Promise<Migration> {
  const name = basename(path);
  const text = await readFile(join(FOLDER, path), "utf8");
  const script = await readIncluded(text, dirname(join(FOLDER, path)));
  return { id: Number(name.slice(0, 4)), name, sql: script, digest: digestOf(text) };
}

async function readDefinition(name: string): Promise<Definition> {
  return definitionOf(name, await readFile(join(FOLDER, name), "utf8"));
}

const definitionOf = (name: string, text: string): Definition => ({
  name,
  sql: text,
  digest: digestOf(text),
});

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Reads what a script includes, as psql does: a line `\ir FILE` is the text of the file, relative to the folder. */
async function readIncluded(script: string, folder: string): Promise<string> {
  const parts = script.split(/^\\ir (.+)$/m);
  const read = async (part: string, index: number): Promise<string> =>
    index % 2 === 0 ? part : readFile(join(folder, part), "utf8");
  return (await Promise.all(parts.map(read))).join("");
}

/**
 * SQLSTATEs by which PostgreSQL reports that a schema, a role or a privilege on them does not exist yet. It reports an
 * unknown role in the start-up parameters as an invalid parameter.
 */
const NO_SCHEMA = new Set<string | undefined>([
  SQL_STATES.undefinedTable,
  SQL_STATES.invalidSchemaName,
  SQL_STATES.invalidParameterValue,
  SQL_STATES.undefinedObject,
  SQL_STATES.insufficientPrivilege,
]);

/**
 * Finds the migrations and definitions that the database lacks, as far as the login can tell: all of them if there is
 * no schema.
 * @param pool of serving connections, which can't be opened if there is no role.
 * @throws schema-newer for a schema that is newer than this server; schema-changed for one that another version
 * of a migration created.
 */
export async function findPending(pool: pg.Pool): Promise<Schema> {
  const known = await readSchema();
  return pendingChanges(pool, known).catch((error: unknown) => {
    if (NO_SCHEMA.has(sqlState(error))) return known;
    throw error;
  });
}

export const isUpToDate = ({ migrations, definitions }: Schema): boolean =>
  migrations.length + definitions.length === 0;

/** Names of files, migrations first. */
export const namesOf = ({ migrations, definitions }: Schema): readonly string[] =>
  [...migrations, ...definitions].map(({ name }) => name);

/** A login, and the role that it is granted. */
export interface LoginRole {
  readonly login: string;
  readonly role: Role;
}

/**
 * The SQL that `migrate` runs to apply pending changes, for a person who applies them.
 * @param logins as for `migrate`.
 */
export function migrationScriptOf(pending: Schema, logins: readonly LoginRole[]): string {
  const grants = logins.map(grantOf);
  const statements = [...PREPARATION, "begin", ...changesOf(pending), "commit", ...grants];
  return statements.map((text) => `${text.trim().replace(/;$/, "")};\n`).join("\n");
}

/**
 * Brings the schema up to date, in one transaction. Instances that start together take turns by an advisory lock.
 *
 * @param owner the login that owns, or will own, the tables.
 * @param logins the logins of the surfaces, which are granted their roles.
 * @returns what was applied.
 * @throws database-unsupported, pooler-unsupported, schema-newer, schema-changed, owner-login-needed
 */
export async function migrate(owner: DatabaseOptions, logins: readonly LoginRole[] = []): Promise<Schema> {
  const known = await readSchema();
  const options = `${sessionOptions()} ${owner.options ?? ""}`;
  const login = { ...withoutStatementTimeout(owner), application_name: "drs migrate", options };
  return withClient(login, async (client) => {
    await requireFit(client);
    await requireSettings(client);
    await lockSession(client, LOCKS.migration);
    for (const text of PREPARATION) await client.query(text);
    const applied = await inTransactionOn(client, (transaction) => apply(transaction, known));
    for (const one of logins) await grantRole(client, one);
    return applied;
  }).catch((error: unknown) => {
    throw sqlState(error) === SQL_STATES.insufficientPrivilege
      ? new OperatorError(
          "owner-login-needed",
          `the login may not create the schema or grant the roles ${ROLE_NAMES.join(", ")}: name one that may in ` +
            "DRS_MIGRATION_DATABASE_URL, or create them by hand (docs/operator/databases.md)",
          { cause: error },
        )
      : error;
  });
}

/**
 * Selects the migrations and definitions that the database lacks. If it selects a migration, it selects all
 * definitions, because the migration may require that they are applied again.
 */
export async function pendingChanges(executor: Executor, known: Schema): Promise<Schema> {
  const { rows } = await query(executor, LIST_MIGRATIONS);
  const applied = new Map(rows.map(({ id, digest }) => [id, digest]));
  refuseNewer(applied, known.migrations);
  refuseChanged(applied, known.migrations);
  const migrations = known.migrations.filter(({ id }) => !applied.has(id));
  if (migrations.length > 0) return { migrations, definitions: known.definitions };
  const defined = await query(executor, LIST_DEFINITIONS);
  const digests = new Map(defined.rows.map(({ name, digest }) => [name, digest]));
  return { migrations, definitions: known.definitions.filter(({ name, digest }) => digests.get(name) !== digest) };
}

async function apply(transaction: Transaction, known: Schema): Promise<Schema> {
  const pending = await pendingChanges(transaction, known);
  for (const text of changesOf(pending).flatMap(statementsOf)) await transaction.query(text);
  return pending;
}

const STATEMENT = /(?:--[^\n]*|'[^']*'|"[^"]*"|(\$\w*\$)[^]*?\1|[^;'"$-]+|[^;])+/g;

/** The statements of a script. Citus runs one change of the schema at a time. */
export const statementsOf = (script: string): readonly string[] =>
  (script.match(STATEMENT) ?? []).filter((text) => text.replaceAll(/--[^\n]*/g, "").trim() !== "");

/** The scripts that apply changes, for one transaction. */
function changesOf({ migrations, definitions }: Schema): readonly string[] {
  return [
    ...migrations.flatMap(({ id, name, sql: text, digest }) => [
      `insert into schema_migration (id, name, digest)
        values (${id}, ${escapeLiteral(name)}, ${escapeLiteral(digest)})`,
      text,
    ]),
    // A function may name a view that is created after it.
    "set local check_function_bodies = off",
    ...definitions.flatMap(({ name, sql: text, digest }) => [
      text,
      `insert into schema_definition (name, digest) values (${escapeLiteral(name)}, ${escapeLiteral(digest)})
        on conflict (name) do update set digest = excluded.digest, applied_at = excluded.applied_at`,
    ]),
  ];
}

async function requireFit(client: Connection): Promise<void> {
  const { rows } = await query(client, READ_VERSION);
  const major = Math.floor(Number(rows[0]?.version) / 10_000);
  if (major < OLDEST_MAJOR) {
    throw new OperatorError(
      "database-unsupported",
      `the database is PostgreSQL ${major}; version ${OLDEST_MAJOR} or later is needed`,
    );
  }
  if (rows[0]?.encoding !== "UTF8") {
    throw new OperatorError(
      "database-unsupported",
      `the database's encoding is ${rows[0]?.encoding}; make one with encoding 'UTF8'`,
    );
  }
}

type Applied = ReadonlyMap<number, string | null>;

function refuseNewer(applied: Applied, known: readonly Migration[]): void {
  const newest = Math.max(0, ...known.map((migration) => migration.id));
  const beyond = [...applied.keys()].filter((id) => id > newest);
  if (beyond.length > 0) {
    throw new OperatorError(
      "schema-newer",
      `the database was migrated by a newer server (migration ${Math.max(...beyond)}; this one knows ${newest}): start that version`,
    );
  }
}

function refuseChanged(applied: Applied, known: readonly Migration[]): void {
  const changed = known.find(({ id, digest }) => applied.has(id) && applied.get(id) !== digest);
  if (changed === undefined) return;
  throw new OperatorError(
    "schema-changed",
    `this database was created by another version of ${changed.name}, and no migration converts it. To keep the data, ` +
      "start the server that created it. To delete the data and start afresh, run npm start -- --fresh " +
      "(embedded database), or drop schema drs cascade in the database and run drs migrate",
  );
}

async function grantRole(client: Connection, one: LoginRole): Promise<void> {
  const { rows } = await query(client, IS_MEMBER, [one.login, one.role]);
  if (rows[0]?.member) return;
  await client.query(grantOf(one)).catch((error: unknown) => {
    // Another installation of the cluster granted the role at this moment, which PostgreSQL 15 reports as an error.
    if (sqlState(error) !== SQL_STATES.uniqueViolation) throw error;
  });
}

const grantOf = ({ login, role }: LoginRole): string => `grant ${role} to ${escapeIdentifier(login)}`;
