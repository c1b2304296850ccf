/**
 * What the server does about each setting that a database or a login may give to a session (the contexts `user` and
 * `superuser` of `pg_settings`, PostgreSQL 15 to 18). `session-settings.test.ts` compares the names with PostgreSQL.
 */
import { OperatorError } from "../../base/errors/operator-error.ts";
import type { Executor } from "./executor.ts";
import type { Role } from "./roles.ts";
import { query, sql } from "./statement.ts";

/** Tables and functions are in a schema of their own, apart from other tables of a shared database. */
export const SCHEMA = "drs";

/** Settings on which it depends what the database says or keeps. Each session asks for these values. */
export const PINNED = {
  search_path: SCHEMA,
  DateStyle: "ISO, MDY",
  IntervalStyle: "iso_8601",
  TimeZone: "UTC",
  array_nulls: "on",
  bytea_output: "hex",
  client_encoding: "UTF8",
  // guard(drop): a statement sees what was committed before it began
  default_transaction_isolation: "read committed",
  default_table_access_method: "heap",
  exit_on_error: "off",
  extra_float_digits: "1",
  gin_fuzzy_search_limit: "0",
  idle_session_timeout: "0",
  lock_timeout: "0",
  "plpgsql.extra_errors": "none",
  quote_all_identifiers: "off",
  row_security: "on",
  standard_conforming_strings: "on",
  synchronous_commit: "on",
  timezone_abbreviations: "Default",
  transform_null_equals: "off",
} as const;

/** Settings that a session also asks for, and without which it works: a pooler may drop them. */
export const PREFERRED = {
  // Connections with a deadline replace these two.
  statement_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  // PostgreSQL notices within half a minute that it lost the host of its client, also in the middle of a COPY.
  tcp_keepalives_idle: "15",
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "0",
  // No table has a check constraint by which the planner could exclude it. To read the constraints of each partition
  // would take an eighth of the time of a list.
  constraint_exclusion: "off",
} as const;

/**
 * The values without which a start is refused: the login may not set these settings, an older PostgreSQL does not have
 * them, or the operator has set them on purpose.
 */
export const REQUIRED = {
  // Providers make a database read-only so when its disk is nearly full.
  default_transaction_read_only: "off",
  ignore_checksum_failure: "off",
  "plpgsql.variable_conflict": "error",
  // Views of the schema, or none, can be read.
  restrict_nonsystem_relation_kind: "",
  // Without triggers, an event could be changed.
  session_replication_role: "origin",
  transaction_timeout: "0",
  // Pages of events that can't be read would be emptied.
  zero_damaged_pages: "off",
} as const;

export interface WantedSession {
  /** The session has the privileges of this role, even if its login has more. Default: the login's own role. */
  readonly role?: Role;
  /** Whether its transactions are read-only. */
  readonly isReadOnly?: boolean;
}

/** Start-up options of a session. They override settings of the database and of the login. */
export const sessionOptions = ({ role, isReadOnly = false }: WantedSession = {}): string =>
  Object.entries({
    ...(role && { role }),
    ...PINNED,
    ...PREFERRED,
    ...(isReadOnly && { default_transaction_read_only: "on" }),
  })
    .map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`)
    .join(" ");

const READ_SETTINGS = sql(
  "select name, current_setting(name, true) as value from unnest($1::text[]) as asked (name)",
  ["text[]"],
  { name: "text", value: "text?" },
);

/**
 * Checks that a session has the settings that it asks for, which a pooler may drop, and the settings that the server
 * needs.
 * @throws pooler-unsupported, database-unsupported
 */
export async function requireSettings(
  executor: Executor,
  { role, isReadOnly = false }: WantedSession = {},
): Promise<void> {
  const asked = { ...(role && { role }), ...PINNED };
  const { rows } = await query(executor, READ_SETTINGS, [Object.keys({ ...asked, ...REQUIRED })]);
  // The setting of another PostgreSQL, or of an extension that is not loaded, has no value.
  const actual = new Map(rows.filter(({ value }) => value !== null).map(({ name, value }) => [name, value]));
  const differing = (wanted: Readonly<Record<string, string>>): [string, string][] =>
    Object.entries(wanted).filter(([name, value]) => actual.has(name) && actual.get(name) !== value);
  const dropped = differing(asked);
  if (dropped.length > 0) {
    const values = dropped.map(([name, value]) => `${name} = '${value}'`).join(", ");
    throw new OperatorError(
      "pooler-unsupported",
      `a pooler drops settings of the server's connections (${values}): set them for the login, as Poolers in ` +
        "docs/operator/databases.md says",
    );
  }
  const refused = differing(REQUIRED).find(([name]) => !(isReadOnly && name === "default_transaction_read_only"));
  if (!refused) return;
  const [name, value] = refused;
  throw new OperatorError(
    "database-unsupported",
    `the cluster, the database or the login sets ${name} to '${actual.get(name)}', and the server needs '${value}': ` +
      "reset it (pg_db_role_setting and postgresql.conf say where it is set)",
  );
}
