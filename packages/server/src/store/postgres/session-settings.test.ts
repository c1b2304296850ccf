import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type pg from "pg";
import { authorized, freshKey, send, transport } from "../../../../../e2e/support/client.ts";
import { objects, type Printed, runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { connectAsOwner, startDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { issueCredentials, startServer } from "../../../../../e2e/support/server.ts";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { PINNED, PREFERRED, REQUIRED } from "./session-settings.ts";

interface Setting {
  readonly name: string;
  readonly vartype: string;
  readonly default_value: string | null;
  readonly min_val: string | null;
  readonly max_val: string | null;
  readonly enumvals: readonly string[] | null;
}

/** Settings that only a transaction has. */
const OF_TRANSACTIONS = new Set(["transaction_deferrable", "transaction_isolation", "transaction_read_only"]);

/** Values for settings whose values PostgreSQL does not list, and for limits whose least value ends every statement. */
const VALUES: Readonly<Record<string, string | undefined>> = {
  DateStyle: "SQL, DMY",
  TimeZone: "Asia/Kolkata",
  application_name: "another",
  backtrace_functions: "exec_simple_query",
  client_encoding: "LATIN1",
  createrole_self_grant: "set",
  default_table_access_method: "nonexistent",
  default_tablespace: "pg_default",
  default_text_search_config: "pg_catalog.german",
  dynamic_library_path: "$libdir:/nonexistent",
  extension_control_path: "$system:/nonexistent",
  extension_destdir: "/nonexistent",
  lc_messages: "POSIX",
  lc_monetary: "POSIX",
  lc_numeric: "POSIX",
  lc_time: "POSIX",
  // A library would have to be in the folder `plugins` of PostgreSQL.
  local_preload_libraries: undefined,
  max_stack_depth: "1024",
  "plpgsql.extra_errors": "all",
  "plpgsql.extra_warnings": "all",
  restrict_nonsystem_relation_kind: "view",
  search_path: "pg_temp, nonexistent",
  session_preload_libraries: "$libdir/plpgsql",
  synchronous_commit: "off",
  temp_file_limit: "1024",
  transaction_timeout: "10min",
  temp_tablespaces: "pg_default",
  timezone_abbreviations: "India",
  wal_consistency_checking: "heap",
};

const LIST_SETTINGS = `select name, vartype, boot_val as default_value, min_val, max_val, enumvals
  from pg_settings where context in ('user', 'superuser') order by name`;

/** @returns a value other than the default; `undefined` if there is none. */
function otherValue({ name, vartype, default_value, min_val, max_val, enumvals }: Setting): string | undefined {
  if (name in VALUES) return VALUES[name];
  if (vartype === "bool") return default_value === "on" ? "off" : "on";
  if (vartype === "enum") return enumvals?.find((value) => value !== default_value);
  if (vartype === "string") throw new Error(`VALUES has no value for ${name}`);
  if (min_val === max_val) return undefined;
  return default_value === min_val ? String(Number(min_val) + 1) : (min_val ?? undefined);
}

let database: TestDatabase;
let folder: { path: string; remove: () => Promise<void> };
let settings: readonly Setting[];

beforeAll(async () => {
  database = await startDatabase();
  folder = await temporaryFolder();
  const owner = await connectAsOwner({ DRS_DATABASE_URL: database.url("postgres") });
  // The settings of PL/pgSQL exist after its first use.
  await owner.query("load 'plpgsql'");
  settings = ((await owner.query(LIST_SETTINGS)) as pg.QueryResult<Setting>).rows;
  await owner.end();
});

afterAll(async () => {
  await folder?.remove();
  await database?.close();
});

let count = 0;

/** @returns the environment of an installation whose database has these settings. */
async function withSettings(changed: readonly Setting[]): Promise<Record<string, string>> {
  const place = `${folder.path}/${++count}`;
  const environment = {
    ...(await database.environment()),
    DRS_ERASURE_JOURNAL: `${place}-journal`,
    DRS_AUDIT_CHECKPOINTS: `${place}-checkpoints`,
  };
  const owner = await connectAsOwner(environment);
  const { rows } = await owner.query("select current_database() as name");
  const [{ name }] = rows as [{ name: string }];
  for (const setting of changed) {
    const value = otherValue(setting);
    if (value === undefined) continue;
    const text = setting.name === "search_path" ? value : owner.escapeLiteral(value);
    await owner.query(`alter database ${name} set ${setting.name} = ${text}`);
  }
  await owner.end();
  return environment;
}

/** Stores, reads and erases an event, writes a checkpoint and verifies the log. @returns the first error. */
async function problemOf(changed: readonly Setting[]): Promise<string | undefined> {
  const environment = await withSettings(changed);
  const drs = async (...args: readonly string[]): Promise<Printed> => {
    const printed = await runWithBreakGlass(environment, ...args);
    if (printed.code !== 0) throw new Error(`drs ${args.join(" ")}: ${printed.code} ${printed.stderr}`);
    return printed;
  };
  try {
    const who = await issueCredentials(environment, "one");
    const body = JSON.stringify(transport(who));
    const server = await startServer(environment);
    let eventId: string;
    try {
      const post = { url: server.url, headers: authorized(who, freshKey()), body };
      const stored = await send(post);
      if (stored.status !== 201) throw new Error(`${stored.status} ${stored.text}`);
      const again = await send(post);
      if (again.status !== 200 || again.text !== stored.text.replace("true", "false")) {
        throw new Error(`${again.status} ${again.text}`);
      }
      eventId = (JSON.parse(stored.text) as { event_id: string }).event_id;
      const ready = await send({ url: server.adminUrl, method: "GET", path: "/readyz" });
      if (ready.text !== "ok\n") throw new Error(ready.text);
    } finally {
      await server.stop();
    }
    const { stdout } = await drs("event", "get", eventId, "--raw", "--reason", "a test");
    if (!body.includes(stdout.trim())) throw new Error(`the event changed: ${stdout}`);
    const [row] = objects<{ received_at: string }>((await drs("event", "list", "--account", "one", "--json")).stdout);
    if (!/^\d{4}-\d\d-\d\dT.+Z$/.test(row?.received_at ?? "")) throw new Error(`received_at is ${row?.received_at}`);
    await drs("erase", "run", "--account", "one", "--yes", "--reason", "a request");
    await drs("audit", "checkpoint");
    await drs("audit", "verify");
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** Halves a group that fails until single settings are left. @returns settings that fail, and how. */
async function failuresOf(changed: readonly Setting[]): Promise<readonly string[]> {
  const problem = await problemOf(changed);
  if (problem === undefined) return [];
  if (changed.length === 1) return [`${changed[0]?.name}: ${problem}`];
  const middle = Math.ceil(changed.length / 2);
  const halves = [await failuresOf(changed.slice(0, middle)), await failuresOf(changed.slice(middle))].flat();
  return halves.length > 0 ? halves : [`${changed.map(({ name }) => name).join(" with ")}: ${problem}`];
}

/** Settings that change no answer and lose nothing, by the reason why. */
const HARMLESS: Readonly<Record<string, readonly string[]>> = {
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

const harmless = Object.values(HARMLESS).flat();

describe("each setting that a database or a login can give to a session", () => {
  test("has one class", () => {
    const classified = [...Object.keys({ ...PINNED, ...PREFERRED, ...REQUIRED }), ...harmless];
    expect(settings.map(({ name }) => name).filter((name) => !classified.includes(name))).toEqual([]);
    expect(new Set(classified).size).toBe(classified.length);
  });

  test("changes nothing of what is stored, said and verified, unless a start is refused", async () => {
    const changed = settings.filter(({ name }) => !(name in REQUIRED) && !OF_TRANSACTIONS.has(name));
    expect(await failuresOf(changed)).toEqual([]);
  });

  test("stops the start by its name, if the server needs another value", async () => {
    for (const setting of settings.filter(({ name }) => name in REQUIRED)) {
      const { code, stderr } = await runWithBreakGlass(await withSettings([setting]), "retention", "run");
      expect([code, stderr], setting.name).toEqual([1, expect.stringContaining(`sets ${setting.name} to '`)]);
    }
  });
});
