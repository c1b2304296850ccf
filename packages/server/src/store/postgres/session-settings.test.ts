import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type pg from "pg";
import { authorized, freshKey, send, transport } from "../../../../../e2e/support/client.ts";
import { objects, type Printed, runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { connectAsOwner, startDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { issueCredentials, startServer } from "../../../../../e2e/support/server.ts";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { HARMLESS, PINNED, PREFERRED, REQUIRED } from "./session-settings.ts";

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
