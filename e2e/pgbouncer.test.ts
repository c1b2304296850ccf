/**
 * Tests of PgBouncer between server and database. The server does not start in a pooling mode that loses the settings
 * of sessions, and works in a mode that keeps them.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { authorized, freshKey, type Reply, send, transport } from "./support/client.ts";
import { runWithBreakGlass } from "./support/command.ts";
import { connectAsOwner, sharedDatabase, SHARED_SOCKET, type TestDatabase } from "./support/database.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";
import { until } from "./support/embedded.ts";
import { freePort } from "./support/free-port.ts";
import { openTestSystem } from "./support/parties.ts";
import { issueCredentials, startServer } from "./support/server.ts";
import { startTcpProxy, type TcpProxy } from "./support/tcp-proxy.ts";

const PGBOUNCER = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((path) => {
  try {
    execFileSync(path, ["--version"]);
    return true;
  } catch {
    return false;
  }
});
const NOBODY = 65_534;
const LOGIN = "pooled";
const SETTINGS = [
  "role = drs_service",
  "search_path = drs",
  "timezone = 'UTC'",
  "synchronous_commit = on",
  "intervalstyle = iso_8601",
  "default_transaction_isolation = 'read committed'",
];

let database: TestDatabase;
let environment: Record<string, string>;
let postgres: TcpProxy;
let pooler: ChildProcess | undefined;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  // PgBouncer does not run as root, and no other user may enter the folder of the socket, so it connects through this
  // proxy.
  postgres = await startTcpProxy(join(process.env[SHARED_SOCKET] ?? "", ".s.PGSQL.5432"));
});

afterEach(async () => {
  if (pooler?.exitCode !== null) return;
  pooler.kill("SIGINT");
  await once(pooler, "exit");
});

afterAll(async () => {
  await postgres?.close();
  await database?.close();
});

/** @returns the environment of a server behind PgBouncer in this mode. */
async function startPooler(mode: string, ...more: readonly string[]): Promise<Record<string, string>> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const path = join(folder.path, "pgbouncer.ini");
  const users = join(folder.path, "users.txt");
  await writeFile(users, `"${LOGIN}" ""\n`);
  await writeFile(
    path,
    [
      "[databases]",
      `* = host=127.0.0.1 port=${postgres.port}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${users}`,
      `pool_mode = ${mode}`,
      ...more,
    ].join("\n"),
  );
  await chmod(folder.path, 0o755);
  for (const one of [path, users]) await chown(one, process.getuid?.() === 0 ? NOBODY : -1, -1).catch(() => {});
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  pooler = spawn(PGBOUNCER ?? "", [path], { ...identity, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  pooler.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  await until(() => /process up/.test(log));
  const { pathname } = new URL(environment["DRS_DATABASE_URL"] ?? "");
  return {
    ...environment,
    DRS_DATABASE_URL: `postgresql://${LOGIN}@127.0.0.1:${port}${pathname}?sslmode=disable`,
    DRS_MIGRATION_DATABASE_URL: environment["DRS_DATABASE_URL"] ?? "",
    DRS_DEPENDENCY_TIMEOUT: "2s",
  };
}

describe.skipIf(PGBOUNCER === undefined)("PgBouncer (skipped where it is not installed)", () => {
  const ignored = "ignore_startup_parameters = options, statement_timeout, idle_in_transaction_session_timeout";

  beforeAll(async () => {
    const system = await openTestSystem(environment);
    await system.close();
    const owner = await connectAsOwner(environment);
    await owner.query(`create role ${LOGIN} login; grant drs_service to ${LOGIN}`);
    await owner.end();
  });

  afterAll(async () => {
    const owner = await connectAsOwner(environment);
    await owner.query(`drop role ${LOGIN}`);
    await owner.end();
  });

  const refuses =
    "the database is behind a pooler that refuses start-up parameters or transactions of this server (SQLSTATE 08P01): " +
    "set pool_mode = session, and name options, statement_timeout and idle_in_transaction_session_timeout in " +
    "ignore_startup_parameters (Poolers in docs/operator/databases.md)";
  const breaks =
    "the database is behind a pooler in transaction or statement mode, which breaks locks and prepared statements: " +
    "name the database itself, or set pool_mode = session (Poolers in docs/operator/databases.md)";

  test.each([
    ["transaction", "ignored", breaks, [ignored]],
    ["statement", "ignored", refuses, [ignored]],
    ["session", "refused", refuses, []],
  ])(
    "in %s mode, with %s start-up parameters, is rejected with its place and setting",
    async (mode, _, sentence, more) => {
      const pooled = await startPooler(mode, ...more);
      const { host, pathname } = new URL(pooled["DRS_DATABASE_URL"] ?? "");
      const where = ` (${LOGIN}@${host}${pathname}; DRS_DATABASE_URL, option database.url)`;
      const { code, stderr } = await runWithBreakGlass(pooled, "doctor");
      expect([code, stderr]).toEqual([1, expect.stringContaining(sentence + where)]);
    },
  );

  test("in session mode is rejected if it drops the settings that the server sends", async () => {
    const pooled = await startPooler("session", ignored);
    const { code, stderr } = await runWithBreakGlass(pooled, "doctor");
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/a pooler drops settings .*\(role = .drs_service., search_path = /),
    ]);
  });

  test("in session mode works if the login has the settings that PgBouncer drops", async () => {
    const owner = await connectAsOwner(environment);
    for (const setting of SETTINGS) await owner.query(`alter role ${LOGIN} set ${setting}`);
    await owner.end();
    const who = await issueCredentials(environment, "pooled");
    const server = await startServer(await startPooler("session", ignored));
    try {
      const key = freshKey();
      const body = JSON.stringify(transport(who));
      const post = (): Promise<Reply> => send({ url: server.url, headers: authorized(who, key), body });
      const statuses = (await Promise.all(Array.from({ length: 20 }, post))).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
      expect(await send({ url: server.adminUrl, method: "GET", path: "/readyz" })).toMatchObject({ text: "ok\n" });
    } finally {
      await server.stop();
    }
  });
});
