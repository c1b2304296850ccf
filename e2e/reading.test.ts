/** Tests that reading writes nothing: on an outdated schema, on a standby, and on a database that was restored. */
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Route, ROUTE_IDS, routeOf } from "@device-risk-signals/admin-api";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { argumentsOf, runWithBreakGlass, commandsOfInstallation, objects, type Printed } from "./support/command.ts";
import { connectAsOwner, replaceDatabase, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";
import { databaseName } from "./support/database-copy.ts";
import { until } from "./support/embedded.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { Past, type PastEvent } from "./support/past-event.ts";

type Environment = Record<string, string>;

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  database = await sharedDatabase();
  folder = await temporaryFolder();
});

afterAll(async () => {
  await folder?.remove();
  await database?.close();
});

/** An environment with a separate journal. */
const withJournal = (environment: Environment): Environment => ({
  ...environment,
  DRS_ERASURE_JOURNAL: `${environment["DRS_KEY_DIR"]}.journal`,
});

/** Stores one event for each account. */
async function store(environment: Environment, ...accounts: readonly string[]): Promise<readonly PastEvent[]> {
  const system = await openTestSystem(environment);
  const past = new Past(system);
  const stored: PastEvent[] = [];
  for (const account of accounts) {
    await makeCredentials(system, account);
    stored.push(await past.store(1, { account }));
  }
  await past.close();
  await system.close();
  return stored;
}

const WHY = ["--reason", "request 17"];
const RESTRICTION = [...WHY, "--approver", "J. Doe", "--article", "18"];
const HOLD = [...WHY, "--approver", "J. Doe", "--review", "2999-01-31"];

/** The content of every table. */
async function dump(environment: Environment): Promise<Record<string, string>> {
  const owner = await connectAsOwner(environment);
  const { rows } = await owner.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname ~ '^(drs|public)'",
  );
  const tables: Record<string, string> = {};
  for (const { name } of rows) {
    const text = `select coalesce(string_agg(t::text, chr(10) order by t::text), '') as content from ${name} t`;
    tables[name] = (await owner.query<{ content: string }>(text)).rows[0]?.content ?? "";
  }
  await owner.end();
  return tables;
}

/** The content of every file of a folder, in hexadecimal digits, by path. */
async function filesOf(path = ""): Promise<Record<string, string>> {
  const names = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file, await readFile(file, "hex")])));
}

/** @returns the id of the approval. */
async function askForApproval(environment: Environment): Promise<string> {
  const system = await openTestSystem(environment);
  const erasure = { operation: "erase.run", parameters: {}, plan: {}, events: 1, needed: ["operator"] } as const;
  const id = await system.approvals.request(system.pool, system.clock, {
    ...erasure,
    person: "asker",
    reason: "request 17",
  });
  await system.close();
  return id;
}

describe("on an outdated schema", () => {
  /** Commands that work on an outdated schema. */
  const WITHOUT_SCHEMA = new Set(["migrate", "serve", "config", "receipt verify", "login", "logout"]);
  const commands = commandsOfInstallation().filter((name) => !WITHOUT_SCHEMA.has(name));
  const lines = [...commands.map((name) => [...name.split(" "), ...argumentsOf(name)]), ["serve", "--no-migrate"]];

  /** What commands print that also need no schema. */
  const OUTPUTS: Readonly<Record<string, RegExp>> = {
    doctor: /^FAIL {2}migrations: /m,
    status: /^Found by .+\nVersion/m,
  };

  async function expectNothingDone(environment: Environment): Promise<void> {
    const keys = environment["DRS_KEY_DIR"];
    const before = [await dump(environment), await filesOf(keys)];
    for (const args of lines) {
      const { code, stdout, stderr } = await runWithBreakGlass(environment, ...args);
      const output = expect.stringMatching(OUTPUTS[args[0] ?? ""] ?? /^$/);
      expect({ code, stdout }, `${args.join(" ")}: ${stderr}`).toEqual({ code: 4, stdout: output });
      expect(stderr).toBe("the schema of the database is missing or outdated: run drs migrate\n");
    }
    expect([await dump(environment), await filesOf(keys)]).toEqual(before);
  }

  test("every command exits with code 4 and changes nothing", async () => {
    const environment = withJournal(await database.environment());
    await store(environment, "a");
    const owner = await connectAsOwner(environment);
    await owner.query("update schema_definition set digest = 'of an older release' where name = 'views.sql'");
    await owner.end();
    await expectNothingDone(environment);
    expect((await runWithBreakGlass(environment, "migrate")).stdout).toBe("Applied: views.sql.\n");
    expect((await runWithBreakGlass(environment, "token", "list")).code).toBe(0);
  });

  test("every command exits with code 4 on an empty database, and leaves it empty", async () => {
    const environment = withJournal(await database.environment());
    const owner = await connectAsOwner(environment);
    await owner.query("drop schema drs cascade");
    await owner.end();
    await expectNothingDone(environment);
    expect(await filesOf(environment["DRS_KEY_DIR"])).toEqual({});
  });

  test("before an installation has secrets, a command that reads creates none", async () => {
    const environment = await database.environment();
    for (const args of [["doctor"], ["key", "list"], ["receipt", "key"], ["event", "list"]]) {
      const { code, stderr } = await runWithBreakGlass(environment, ...args);
      expect([code, stderr]).toEqual([4, expect.stringContaining("has no secrets yet: run drs migrate")]);
    }
    expect(await filesOf(environment["DRS_KEY_DIR"])).toEqual({});
    expect((await runWithBreakGlass(environment, "migrate")).code).toBe(0);
    expect((await runWithBreakGlass(environment, "doctor")).code).toBe(0);
  });
});

test("a listing uses neither the owner's login nor the key store", async () => {
  const environment = withJournal(await database.environment());
  await store(environment, "a");
  const away = {
    ...environment,
    DRS_MIGRATION_DATABASE_URL: "postgresql://owner@127.0.0.1:1/away",
    DRS_KEY_DIR: join(folder.path, "absent"),
  };
  for (const group of ["token", "action", "audit", "outcome", "rejection", "purpose", "hold", "restriction", "erase"]) {
    expect(await runWithBreakGlass(away, group, "list"), group).toEqual(
      await runWithBreakGlass(environment, group, "list"),
    );
  }
  const { DRS_KEY_DIR = "" } = environment;
  // drift list needs the key store, because it checks the MACs of decisions. The MAC key is derived from a secret.
  expect((await runWithBreakGlass(away, "drift", "list")).stderr).toContain("key store");
  expect(await runWithBreakGlass({ ...away, DRS_KEY_DIR }, "drift", "list")).toEqual(
    await runWithBreakGlass(environment, "drift", "list"),
  );
  expect((await runWithBreakGlass({ ...away, DRS_KEY_DIR }, "token", "issue", "--account", "a")).code).toBe(0);
  expect((await runWithBreakGlass(away, "key", "list")).code).toBe(1);
  expect(await readdir(folder.path)).toEqual([]);
});

describe("a database that was restored from a backup", () => {
  let environment: Environment;
  let former: PastEvent | undefined;

  beforeAll(async () => {
    environment = withJournal(await database.environment());
    [former] = await store(environment, "former", "stays");
    const name = databaseName(environment["DRS_DATABASE_URL"]);
    const admin = new pg.Client({ connectionString: database.url("postgres") });
    await admin.connect();
    await admin.query(`create database ${name}_backup template ${name}`);
    expect((await runWithBreakGlass(environment, "erase", "run", "--account", "former", ...WHY, "--yes")).code).toBe(0);
    await replaceDatabase(admin, name, `${name}_backup`);
    await admin.end();
  });

  const LACKING = "the database lacks 1 entry of the erasure journal: run drs erase replay\n";
  const exportFolder = (): string => join(folder.path, "export");

  const expectRejected = async (...args: readonly string[]): Promise<void> => {
    const { code, stdout, stderr } = await runWithBreakGlass(environment, ...args);
    expect({ code, stdout, stderr }, args.join(" ")).toEqual({ code: 4, stdout: "", stderr: LACKING });
  };

  test("accepts no order and shows no event before the replay; a listing replays nothing", async () => {
    const before = await dump(environment);
    await expectRejected("event", "list");
    await expectRejected("event", "get", former?.eventId ?? "");
    await expectRejected("event", "timeline", "--account", "former", "--idempotency-key", "k");
    await expectRejected("event", "get", former?.eventId ?? "", "--raw", ...WHY);
    await expectRejected("account", "export", "--account", "former", "--out", exportFolder(), ...WHY);
    await expectRejected("erase", "run", "--account", "stays", ...WHY, "--yes");
    await expectRejected("hold", "add", "--account", "stays", ...HOLD);
    await expectRejected("restriction", "add", "--account", "stays", ...RESTRICTION);
    await expectRejected("purpose", "apply", "docs/privacy/purposes.yaml");
    await expectRejected("key", "rotate");
    for (const group of ["erase", "hold", "purpose", "audit", "token"]) {
      expect((await runWithBreakGlass(environment, group, "list")).code).toBe(0);
    }
    const { code, stdout } = await runWithBreakGlass(environment, "doctor");
    expect([code, stdout]).toEqual([1, expect.stringContaining(`FAIL  erasures: ${LACKING}`)]);
    expect(await dump(environment)).toEqual(before);
  });

  test("has, after drs erase replay, the state that it had before the restore", async () => {
    const replay = (): Promise<Printed> => runWithBreakGlass(environment, "erase", "replay", "--json");
    expect(objects((await replay()).stdout)).toEqual([
      { erasures: 1, hold_orders: 0, restriction_orders: 0, key_store: 0 },
    ]);
    expect(objects((await replay()).stdout)).toEqual([
      { erasures: 0, hold_orders: 0, restriction_orders: 0, key_store: 0 },
    ]);
    const listed = objects<{ account: string }>(
      (await runWithBreakGlass(environment, "event", "list", "--json")).stdout,
    );
    expect(listed.map(({ account }) => account)).toEqual(["stays"]);
    const { stdout } = await runWithBreakGlass(environment, "doctor");
    expect(stdout.match(/^FAIL .*/gm)).toEqual([expect.stringMatching(/^FAIL {2}audit log: .* drs audit epoch/)]);
    expect((await runWithBreakGlass(environment, "audit", "epoch", "--reason", "a restore")).code).toBe(0);
    expect((await runWithBreakGlass(environment, "doctor")).code).toBe(0);
  });
});

/** The folder of Debian's PostgreSQL, which has the programs that make a standby. */
async function debianPostgres(): Promise<string | undefined> {
  const versions = await readdir("/usr/lib/postgresql").catch((): string[] => []);
  const newest = versions.toSorted().at(-1);
  return newest === undefined ? undefined : join("/usr/lib/postgresql", newest, "bin");
}

const programs = await debianPostgres();

describe.skipIf(programs === undefined)("on a read-only standby (skipped without PostgreSQL's own programs)", () => {
  const run = promisify(execFile);
  const asPostgres = (program: string, ...args: readonly string[]): Promise<unknown> => {
    const path = join(programs ?? "", program);
    const identity = ["--reuid=postgres", "--regid=postgres", "--clear-groups"];
    return process.getuid?.() === 0 ? run("setpriv", [...identity, path, ...args]) : run(path, [...args]);
  };
  const urlAt = (socket: string, name: string): string =>
    `postgresql://postgres@localhost/${name}?host=${encodeURIComponent(socket)}`;

  let home: Awaited<ReturnType<typeof temporaryFolder>>;
  let primary: Environment;
  let standby: Environment;
  let event: PastEvent | undefined;
  let receipt = "";
  let approval = "";

  const start = (name: string): Promise<unknown> => {
    const settings = `-c listen_addresses= -c fsync=on -c unix_socket_directories=${join(home.path, `${name}.socket`)}`;
    const log = join(home.path, `${name}.log`);
    return asPostgres("pg_ctl", "-D", join(home.path, name), "-w", "-l", log, "-o", settings, "start");
  };

  const query = async <Row extends pg.QueryResultRow>(
    socket: string,
    text: string,
    name = "postgres",
  ): Promise<Row | undefined> => {
    const client = new pg.Client({ connectionString: urlAt(socket, name) });
    await client.connect();
    const { rows } = await client.query<Row>(text);
    await client.end();
    return rows[0];
  };

  beforeAll(async () => {
    home = await temporaryFolder();
    await chmod(home.path, 0o777);
    const sockets = ["primary.socket", "standby.socket"].map((name) => join(home.path, name));
    for (const socket of sockets) {
      await mkdir(socket);
      await chmod(socket, 0o777);
    }
    const [one = "", two = ""] = sockets;
    await asPostgres("initdb", "-D", join(home.path, "primary"), "-U", "postgres", "-A", "trust", "--no-sync");
    await start("primary");
    await query(one, "create database events encoding 'UTF8' template template0");
    const { DRS_DATABASE_URL: _, ...rest } = await database.environment();
    primary = withJournal({ ...rest, DRS_DATABASE_URL: urlAt(one, "events") });
    standby = { ...primary, DRS_DATABASE_URL: urlAt(two, "events") };
    expect((await runWithBreakGlass(primary, "migrate")).code).toBe(0);
    [event] = await store(primary, "stays", "held", "former");
    await runWithBreakGlass(primary, "purpose", "apply", "docs/privacy/purposes.yaml");
    await runWithBreakGlass(primary, "hold", "add", "--account", "held", ...HOLD);
    await runWithBreakGlass(primary, "restriction", "add", "--account", "stays", ...RESTRICTION);
    await runWithBreakGlass(primary, "request", "add", "--account", "stays", "--kind", "access");
    const erased = await runWithBreakGlass(primary, "erase", "run", "--account", "former", ...WHY, "--yes", "--json");
    receipt = String(objects(erased.stdout)[0]?.["erasure_id"]);
    approval = await askForApproval(primary);
    const backup = ["-h", one, "-U", "postgres", "-D", join(home.path, "standby"), "-R", "-c", "fast", "--no-sync"];
    await asPostgres("pg_basebackup", ...backup);
    await start("standby");
    const position = await query<{ lsn: string }>(one, "select pg_current_wal_lsn() as lsn");
    await until(async () => {
      const reached = `select pg_last_wal_replay_lsn() >= '${position?.lsn}' as reached`;
      return (await query<{ reached: boolean }>(two, reached))?.reached === true;
    });
  });

  afterAll(async () => {
    for (const name of ["standby", "primary"]) {
      await asPostgres("pg_ctl", "-D", join(home.path, name), "-m", "immediate", "stop").catch(() => {});
    }
    await home?.remove();
  });

  /** The route of a command whose name is that of the audited operation. The lists below add the other commands. */
  const routes = new Map<string, Route>(
    ROUTE_IDS.map((id) => [routeOf(id).operation.replaceAll(".", " "), routeOf(id)]),
  );
  const commandsWith = (access: Route["access"]): readonly string[] =>
    commandsOfInstallation().filter((name) => routes.get(name)?.access === access && !ON_A_STANDBY.has(name));

  /** The arguments of one or more calls of commands that only read, if they differ from correct usage. */
  const callsOf = (name: string): readonly (readonly string[])[] =>
    ({
      "token list": [[], ["--account", "stays"]],
      "approval show": [[approval]],
      "audit list": [["--limit", "0"]],
      "drift list": [[], ["--all"]],
      "drift show": [["fonts.novel"]],
      "outcome list": [["--limit", "0"]],
      "restriction list": [[], ["--account", "stays"]],
      "erase plan": [
        ["--account", "stays"],
        ["--account", "former"],
      ],
      "erase list": [[], ["--account", "former"]],
      "receipt get": [[receipt]],
    })[name] ?? [argumentsOf(name)];
  const DRY_RUNS: readonly (readonly string[])[] = [
    ["erase", "run", "--account", "stays", ...WHY, "--dry-run"],
    ["retention", "run", "--dry-run"],
    ["purpose", "apply", "docs/privacy/purposes.yaml", "--dry-run"],
    ["key", "rotate", "--dry-run"],
  ];
  /** Other commands that a read-only standby does not reject. */
  const ON_A_STANDBY = new Set([
    "migrate",
    "serve",
    "config",
    "receipt verify",
    "doctor",
    "status",
    "audit verify",
    "audit verified",
    "audit export",
    "audit proof",
    "audit key",
    "export verify",
    "export recall",
    "login",
    "logout",
  ]);

  const READING = [...commandsWith("read"), "feature attestation list", "feature backfill status"];
  const AUDITED = [
    ...commandsWith("audited-read"),
    "audit review",
    "event get",
    "event show",
    "event open",
    "feature get",
    "feature attestation verify",
  ];
  /** Dry runs that only read, or that read a file first. */
  const READING_DRY_RUNS = /^(?:key|feature|erase) /;
  const DRY_RUNS_OF_CHANGES = commandsOfInstallation().filter(
    (name) => "dry_run" in (routes.get(name)?.body?.properties ?? {}) && !READING_DRY_RUNS.test(name),
  );

  test("every command that only reads prints what it prints on the primary", async () => {
    const calls = READING.flatMap((name) => callsOf(name).map((args) => [...name.split(" "), ...args]));
    for (const args of [...calls, ...DRY_RUNS].map((call) => [...call, "--json"])) {
      const expected = await runWithBreakGlass(primary, ...args);
      expect(expected, args.join(" ")).toMatchObject({ code: 0, stderr: "" });
      expect(await runWithBreakGlass(standby, ...args), args.join(" ")).toEqual(expected);
    }
  });

  test("doctor reports that the database is a standby, and its checks have the same results as on the primary", async () => {
    const whats = ({ stdout }: Printed): unknown[] => objects(stdout).map(({ what, ok }) => [what, ok]);
    const found = await runWithBreakGlass(standby, "doctor", "--json");
    expect(whats(found)).toEqual(whats(await runWithBreakGlass(primary, "doctor", "--json")));
    expect(found.stdout).toContain("a read-only standby");
    expect((await runWithBreakGlass(standby, "doctor")).code).toBe(0);
  });

  test("audited reads and changes exit with code 1 and name the primary", async () => {
    const others = commandsOfInstallation().filter((name) => !READING.includes(name) && !ON_A_STANDBY.has(name));
    expect(others).toEqual(expect.arrayContaining(AUDITED));
    for (const name of others) {
      const args = name === "event get" ? [event?.eventId ?? ""] : argumentsOf(name);
      const { code, stdout, stderr } = await runWithBreakGlass(standby, ...name.split(" "), ...args);
      expect({ code, stdout }, `${name}: ${stderr}`).toEqual({ code: 1, stdout: "" });
      const why = AUDITED.includes(name) ? "Reads are audited, and the audit is on the primary" : "Only the primary";
      expect(stderr, name).toContain(`This database is a read-only standby. ${why}`);
    }
  });

  test("a dry run of an accepted loss of secrets says on the standby what it says on the primary", async () => {
    const args = ["key", "accept-loss", ...WHY, "--dry-run"];
    expect(await runWithBreakGlass(standby, ...args)).toEqual(await runWithBreakGlass(primary, ...args));
  });

  test("a dry run that makes the change and rolls it back names the primary", async () => {
    for (const name of DRY_RUNS_OF_CHANGES) {
      const { code, stdout, stderr } = await runWithBreakGlass(
        standby,
        ...name.split(" "),
        ...argumentsOf(name),
        "--dry-run",
      );
      expect({ code, stdout }, `${name}: ${stderr}`).toEqual({ code: 1, stdout: "" });
      expect(stderr, name).toContain("This database is a read-only standby. Only the primary can be changed");
    }
  });
});
