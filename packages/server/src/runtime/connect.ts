/**
 * Connects to the events' database, embedded or external, and makes sure that its schema is the one of this release.
 */
import type pg from "pg";
import { type Config, type Environment, valueAt } from "../base/config/config.ts";
import { readDatabaseUrl } from "../base/config/database-url.ts";
import { settingOf } from "../base/config/settings.ts";
import type { DatabasePath } from "../base/config/warnings.ts";
import { Dependencies, type DependencyName } from "../base/dependencies/dependencies.ts";
import { EmbeddedPostgres } from "./embedded-postgres/embedded-postgres.ts";
import type { Clock, OnError } from "../base/ports.ts";
import {
  administrationOptions,
  withDeadlineOf,
  type DatabaseOptions,
  openPool,
  type OwnerDatabase,
  servingOptions,
  withOwner,
  withoutStatementTimeout,
  withStatementTimeout,
} from "../store/postgres/database.ts";
import { requireFilledDemo } from "../store/postgres/demo.ts";
import { findPending, isUpToDate, type LoginRole, migrate, type Schema } from "../store/postgres/migrate.ts";
import type { Role } from "../store/postgres/roles.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { hasCode, OperatorError } from "../base/errors/operator-error.ts";
import { readInstallationId } from "../lifecycle/recovery/installation.ts";
import { query, queryRow, sql } from "../store/postgres/statement.ts";
import { requireSessions } from "../store/postgres/pooler.ts";
import { requireSettings } from "../store/postgres/session-settings.ts";
import type { CloseStack } from "./close-stack.ts";

/**
 * The access that a caller needs: `read` writes nothing and works on a standby; `audited-read` writes only the audit
 * entry of a read; `change` also creates missing secrets.
 */
export type Access = "read" | "audited-read" | "change";

export interface ConnectOptions {
  readonly access: Access;
  readonly clock: Clock;
  /** Whether the caller is a server and not a command. An embedded database has at most one server at a time. */
  readonly asServer: boolean;
  /** Whether this is a process of a server whose supervisor runs the embedded database. */
  readonly isSupervised?: boolean;
  /** Whether an outdated schema is migrated; if not, it is an error. */
  readonly migrates: boolean;
  /** The role of serving connections. Default: the role of all surfaces. */
  readonly role?: Role;
  /** The variables of this process, which are passed to the command that prints keys. */
  readonly environment: Environment;
  readonly onError: OnError;
}

export interface OpenConnection {
  readonly config: Config;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly access: Access;
  readonly dependencies: Dependencies;
  /** Options of a serving connection. */
  readonly database: DatabaseOptions;
  readonly pool: pg.Pool;
  /** Options of connections as the owner, for changes that the serving role may not make. */
  readonly administration: OwnerDatabase;
  /** The directory of the embedded cluster, for the check of free disk space. */
  readonly clusterDirectory: string | undefined;
  /** Closes everything that was opened. The caller adds the parts that it opens later. */
  readonly opened: CloseStack;
}

/**
 * @throws schema-outdated for an outdated schema that is not migrated; demo-interrupted
 * @throws OperatorError, Unavailable
 */
export async function connect(config: Config, options: ConnectOptions, opened: CloseStack): Promise<OpenConnection> {
  const { access, clock, asServer, migrates, role = "drs_service", environment, onError } = options;
  const { serving, owner, dependencies, clusterDirectory } = await findLogins(config, options, opened);
  const isReadOnly = access === "read";
  if (!config.embedded) await requireSessions(serving);
  const database = servingOptions(asServer ? withStatementTimeout(serving) : withoutStatementTimeout(serving), {
    role,
    isReadOnly,
  });
  const pool = openPool(database, { max: config.database.pool, onError });
  opened.add("database", () => pool.end());
  // The schema is checked with the serving login first, because an up-to-date schema needs no connection of the owner.
  if (!isUpToDate(await findPending(pool))) {
    // guard(false): a command does not migrate
    if (!migrates) throw await whyOutdated(pool, role);
    await migrate(owner, loginsOf(config, serving));
  }
  await requireSettings(pool, { role, isReadOnly });
  // guard(drop): no other process uses a database whose clock is behind
  await requireFilledDemo(pool);
  if (!isReadOnly) await requirePrimary(pool, access);
  const administration = administrationOptions(owner);
  return {
    config,
    environment,
    clock,
    access,
    dependencies,
    database,
    pool,
    administration,
    clusterDirectory,
    opened,
  };
}

/** Returns the error for a schema that looks outdated. The real cause may be a pooler that drops settings. */
async function whyOutdated(serving: Executor, role: Role): Promise<Error> {
  const settingsError = await requireSettings(serving, { role }).catch((error: unknown) => error);
  if (hasCode(settingsError, "pooler-unsupported")) return settingsError;
  const lacking = role === "drs_service" ? "" : `, or its login lacks the role ${role}`;
  const detail = `the schema of the database is missing or outdated${lacking}: run drs migrate`;
  return new OperatorError("schema-outdated", detail);
}

export interface Logins {
  readonly serving: DatabaseOptions;
  readonly owner: DatabaseOptions;
  readonly dependencies: Dependencies;
  readonly clusterDirectory: string | undefined;
}

/** Whether the owner's login is another one than the serving login. */
export const hasOwnerLogin = ({ embedded, database }: Config): boolean =>
  !embedded && database.migrationUrl !== undefined;

/**
 * Finds the serving and the owner's login of the events' database. Starts the embedded PostgreSQL, or uses one that
 * runs already.
 */
async function findLogins(
  config: Config,
  {
    asServer: isServer,
    isSupervised = false,
    migrates,
    onError,
  }: Omit<ConnectOptions, "access" | "clock" | "environment">,
  opened: CloseStack,
): Promise<Logins> {
  const dependencies = new Dependencies(config.dependencyTimeoutMs);
  const asServer = isServer && !isSupervised;
  const embedded = config.embedded
    ? await EmbeddedPostgres.open({ dataDir: config.database.directory, asServer, creates: migrates, onError })
    : undefined;
  if (embedded) opened.add("embedded PostgreSQL", () => embedded.close());
  const bound = (login: DatabaseOptions, name: DependencyName): DatabaseOptions =>
    withDeadlineOf(dependencies.get(name), login);
  return {
    serving: bound(embedded?.serving ?? databaseAt(config, "database.url"), "database"),
    owner: hasOwnerLogin(config)
      ? bound(databaseAt(config, "database.migrationUrl"), "owner_database")
      : bound(embedded?.owner ?? databaseAt(config, "database.url"), "database"),
    dependencies,
    clusterDirectory: embedded?.directory,
  };
}

export interface SchemaState {
  readonly pending: Schema;
  /** The logins of the surfaces, and the roles that a migration grants to them. */
  readonly logins: readonly LoginRole[];
}

/**
 * Finds what a migration would apply, without changing anything. @throws schema-outdated if there is no embedded
 * database yet.
 */
export async function inspectSchema(config: Config, onError: OnError, opened: CloseStack): Promise<SchemaState> {
  const { serving } = await findLogins(config, { asServer: false, migrates: false, onError }, opened);
  const pool = openPool(servingOptions(serving, { role: "drs_service", isReadOnly: true }), { max: 1, onError });
  opened.add("database", () => pool.end());
  return { pending: await findPending(pool), logins: loginsOf(config, serving) };
}

const FIND_INSTALLATION = sql("select to_regclass('drs.installation') is not null as has_table", [], {
  has_table: "bool",
});

/** @returns `undefined` before the first migration. */
const findInstallationId = (owner: OwnerDatabase): Promise<string | undefined> =>
  withOwner(owner, async (connection) =>
    (await queryRow(connection, FIND_INSTALLATION)).has_table ? readInstallationId(connection) : undefined,
  );

/**
 * Applies what the schema lacks.
 * @param onOpen gets the id of the installation, before anything is applied.
 * @param logins further logins that get roles, in addition to the logins in the settings.
 * @returns what was applied.
 */
export async function migrateSchema(
  config: Config,
  logins: readonly LoginRole[],
  onOpen: (installation: string | undefined) => void,
  onError: OnError,
  opened: CloseStack,
): Promise<Schema> {
  const { serving, owner } = await findLogins(config, { asServer: false, migrates: true, onError }, opened);
  if (!config.embedded) await requireSessions(owner);
  onOpen(await findInstallationId(administrationOptions(owner)));
  return migrate(owner, [...loginsOf(config, serving), ...logins]);
}

/** The logins that the settings name, and their roles. */
function loginsOf({ service }: Config, serving: DatabaseOptions): readonly LoginRole[] {
  const { url } = service.admin.database;
  const named: readonly (readonly [string | undefined, Role])[] = [
    [loginOf(serving), "drs_service"],
    [url === undefined ? undefined : loginOf({ connectionString: url }), "drs_admin"],
  ];
  return named.flatMap(([login, role]) => (login === undefined ? [] : [{ login, role }]));
}

function loginOf({ user, connectionString }: DatabaseOptions): string | undefined {
  const read = connectionString === undefined ? undefined : readDatabaseUrl(connectionString);
  return read && "value" in read ? read.value.user : user;
}

const STANDBY = "This database is a read-only standby.";
const IS_STANDBY = sql("select current_setting('transaction_read_only') = 'on' as standby", [], { standby: "bool" });

/** @throws primary-needed */
async function requirePrimary(pool: pg.Pool, access: Access): Promise<void> {
  const { rows } = await query(pool, IS_STANDBY);
  if (!rows[0]?.standby) return;
  throw new OperatorError(
    "primary-needed",
    access === "audited-read"
      ? `${STANDBY} Reads are audited, and the audit is on the primary: name it in DRS_DATABASE_URL.`
      : `${STANDBY} Only the primary can be changed: name it in DRS_DATABASE_URL.`,
  );
}

const IS_OWNER = sql(
  `select pg_has_role(session_user, tableowner, 'member') as owns from pg_tables
    where schemaname = 'drs' and tablename = 'event'`,
  [],
  { owns: "bool" },
);

/** Logs in for changes. @returns whether the login is a member of the tables' owner. */
export async function isOwner(administration: OwnerDatabase): Promise<boolean> {
  const { rows } = await withOwner(administration, (owner) => query(owner, IS_OWNER));
  return rows[0]?.owns ?? false;
}

/** @throws access-denied if the login for changes is not a member of the tables' owner. */
export async function requireOwner(administration: OwnerDatabase): Promise<void> {
  if (await isOwner(administration)) return;
  throw new OperatorError(
    "access-denied",
    "--break-glass needs the owner's login: name it in DRS_MIGRATION_DATABASE_URL.",
  );
}

/** Options of a connection to the database of a setting, with the setting's names for messages. */
export function databaseAt(config: Config, path: DatabasePath): DatabaseOptions {
  const option = path.startsWith("service.") ? "" : `, option ${path}`;
  const connectionString = valueAt(config, path);
  return { ...(connectionString !== undefined && { connectionString }), setting: settingOf(path).variable + option };
}

/** Options of connections to the key store and to the journal, where they are databases. */
export const storeDatabases = (connection: Pick<OpenConnection, "config" | "dependencies">) => ({
  keyDatabase: databaseOptionsAt(connection, "keys.databaseUrl", "key_store"),
  journalDatabase: databaseOptionsAt(connection, "journal.databaseUrl", "erasure_journal"),
});

function databaseOptionsAt(
  { config, dependencies }: Pick<OpenConnection, "config" | "dependencies">,
  path: DatabasePath,
  name: DependencyName,
): DatabaseOptions | undefined {
  return valueAt(config, path) === undefined
    ? undefined
    : withStatementTimeout(withDeadlineOf(dependencies.get(name), databaseAt(config, path)));
}
