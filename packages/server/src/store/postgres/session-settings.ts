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

/** Settings that change no answer and lose nothing, by the reason why. */
export const HARMLESS: Readonly<Record<string, readonly string[]>> = {
  "the planner chooses another plan, with the same rows": [
    "cpu_index_tuple_cost",
    "cpu_operator_cost",
    "cpu_tuple_cost",
    "cursor_tuple_fraction",
    "debug_parallel_query",
    "default_statistics_target",
    "effective_cache_size",
    "enable_async_append",
    "enable_bitmapscan",
    "enable_distinct_reordering",
    "enable_gathermerge",
    "enable_group_by_reordering",
    "enable_hashagg",
    "enable_hashjoin",
    "enable_incremental_sort",
    "enable_indexonlyscan",
    "enable_indexscan",
    "enable_material",
    "enable_memoize",
    "enable_mergejoin",
    "enable_nestloop",
    "enable_parallel_append",
    "enable_parallel_hash",
    "enable_partition_pruning",
    "enable_partitionwise_aggregate",
    "enable_partitionwise_join",
    "enable_presorted_aggregate",
    "enable_self_join_elimination",
    "enable_seqscan",
    "enable_sort",
    "enable_tidscan",
    "force_parallel_mode",
    "from_collapse_limit",
    "geqo",
    "geqo_effort",
    "geqo_generations",
    "geqo_pool_size",
    "geqo_seed",
    "geqo_selection_bias",
    "geqo_threshold",
    "jit",
    "jit_above_cost",
    "jit_expressions",
    "jit_inline_above_cost",
    "jit_optimize_above_cost",
    "jit_tuple_deforming",
    "join_collapse_limit",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "min_parallel_index_scan_size",
    "min_parallel_table_scan_size",
    "parallel_leader_participation",
    "parallel_setup_cost",
    "parallel_tuple_cost",
    "plan_cache_mode",
    "random_page_cost",
    "recursive_worktable_factor",
    "seq_page_cost",
    // No query relies on an order that it does not ask for.
    "synchronize_seqscans",
  ],
  "memory, writes and waits": [
    "backend_flush_after",
    "client_connection_check_interval",
    "commit_delay",
    "commit_siblings",
    "deadlock_timeout",
    "debug_discard_caches",
    "effective_io_concurrency",
    "file_copy_method",
    "gin_pending_list_limit",
    "hash_mem_multiplier",
    "io_combine_limit",
    "logical_decoding_work_mem",
    "maintenance_io_concurrency",
    "maintenance_work_mem",
    "max_parallel_maintenance_workers",
    "stats_fetch_consistency",
    "temp_buffers",
    "vacuum_buffer_usage_limit",
    "vacuum_cost_delay",
    "vacuum_cost_limit",
    "vacuum_cost_page_dirty",
    "vacuum_cost_page_hit",
    "vacuum_cost_page_miss",
    "vacuum_failsafe_age",
    "vacuum_freeze_min_age",
    "vacuum_freeze_table_age",
    "vacuum_max_eager_freeze_failure_rate",
    "vacuum_multixact_failsafe_age",
    "vacuum_multixact_freeze_min_age",
    "vacuum_multixact_freeze_table_age",
    "vacuum_truncate",
    "wal_compression",
    "wal_consistency_checking",
    "wal_init_zero",
    "wal_recycle",
    "wal_sender_timeout",
    "wal_skip_threshold",
    "work_mem",
  ],
  "a limit that ends a statement with an error": ["max_stack_depth", "temp_file_limit"],
  "the log and statistics of PostgreSQL": [
    "backtrace_functions",
    "compute_query_id",
    "debug_logical_replication_streaming",
    "debug_pretty_print",
    "debug_print_parse",
    "debug_print_plan",
    "debug_print_rewritten",
    "jit_dump_bitcode",
    "log_duration",
    "log_error_verbosity",
    "log_executor_stats",
    "log_lock_failures",
    "log_lock_waits",
    "log_min_duration_sample",
    "log_min_duration_statement",
    "log_min_error_statement",
    "log_min_messages",
    "log_parameter_max_length",
    "log_parameter_max_length_on_error",
    "log_parser_stats",
    "log_planner_stats",
    "log_replication_commands",
    "log_statement",
    "log_statement_sample_rate",
    "log_statement_stats",
    "log_temp_files",
    "log_transaction_sample_rate",
    "plpgsql.extra_warnings",
    "trace_notify",
    "trace_sort",
    "track_activities",
    "track_cost_delay_timing",
    "track_counts",
    "track_functions",
    "track_io_timing",
    "track_wal_io_timing",
    "update_process_title",
  ],
  "texts for people: the code distinguishes errors by SQLSTATE, and no statement formats by locale": [
    "client_min_messages",
    "lc_messages",
    "lc_monetary",
    "lc_numeric",
    "lc_time",
    "md5_password_warnings",
    "plpgsql.print_strict_params",
  ],
  "the schema and its statements use none of it": [
    "allow_in_place_tablespaces",
    "allow_system_table_mods",
    "backslash_quote",
    "check_function_bodies",
    "createrole_self_grant",
    "default_text_search_config",
    "escape_string_warning",
    "event_triggers",
    "icu_validation_level",
    "lo_compat_privileges",
    "password_encryption",
    "plpgsql.check_asserts",
    "scram_iterations",
    "xmlbinary",
    "xmloption",
  ],
  "where files and libraries are: an operator's decision": [
    "default_tablespace",
    "default_toast_compression",
    "dynamic_library_path",
    "extension_control_path",
    "extension_destdir",
    "local_preload_libraries",
    "session_preload_libraries",
    "temp_tablespaces",
  ],
  "only serializable transactions can be deferred, and the server has none": ["default_transaction_deferrable"],
  "each transaction takes it from its default": [
    "transaction_deferrable",
    "transaction_isolation",
    "transaction_read_only",
  ],
  "the driver sends it": ["application_name"],
};

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
