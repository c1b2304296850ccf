/**
 * Tests of a database or a key database that an older copy replaces while a server runs, and of a standby that does not
 * answer.
 */
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { authorized, type Reply, send, transport } from "./support/client.ts";
import { runWithBreakGlass, objects } from "./support/command.ts";
import { SHARED_SOCKET, startDatabase } from "./support/database.ts";
import { copyOf, databaseName, disconnect, useAdministeredCluster } from "./support/database-copy.ts";
import { until } from "./support/embedded.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./support/server.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";

const shared = useAdministeredCluster();

const post = (server: ServerProcess, who: Credentials): Promise<Reply> =>
  send({ url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)) });

const readiness = (server: ServerProcess): Promise<Reply> =>
  send({ url: server.adminUrl, method: "GET", path: "/readyz" });

const SETTINGS = { DRS_THROTTLE_RATE: "0", DRS_DEPENDENCY_TIMEOUT: "2s", DRS_RETENTION_INTERVAL: "1s" };

const ERASE_ACCOUNT_FORMER = ["erase", "run", "--account", "former", "--reason", "asked for it", "--yes"] as const;

test("while the key database lacks its last seconds, the server acknowledges no event, and doctor lists the lost secrets", async () => {
  const { DRS_KEY_DIR: _, ...events } = await shared.database.environment();
  const keyUrl = (await shared.database.environment())["DRS_DATABASE_URL"] ?? "";
  const environment = { ...events, ...SETTINGS, DRS_KEY_DATABASE_URL: keyUrl };
  const system = await openTestSystem(environment);
  const [before, since, later] = await Promise.all(
    ["before", "since", "later"].map((account) => makeCredentials(system, account)),
  );
  if (!before || !since || !later) throw new Error("no credentials");
  await system.close();
  const server = await startServer(environment);
  try {
    expect((await post(server, before)).status).toBe(201);
    const swap = await copyOf(shared.admin, databaseName(keyUrl));
    await until(async () => (await post(server, since)).status === 201);

    await swap();
    const lost = Date.now();
    await until(async () => (await readiness(server)).text.includes("key store: lacks 1 secret"));
    expect(Date.now() - lost).toBeLessThan(2_000);
    for (const who of [since, later, before]) expect((await post(server, who)).status).toBe(503);
    const findings = objects<{ what: string; ok: boolean; detail: string }>(
      (await runWithBreakGlass(environment, "doctor", "--json")).stdout,
    );
    expect(findings.find(({ what }) => what === "keys")).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/lost: 1 secret; .* account\/[\da-f-]{36}: 1 event from 2/),
    });

    await swap();
    await until(async () => (await post(server, since)).status === 201);
    await until(async () => (await readiness(server)).text === "ok\n");
    const { stdout } = await runWithBreakGlass(environment, "event", "list", "--json");
    expect(objects(stdout).length).toBeGreaterThan(1);
    for (const { event_id } of objects(stdout)) {
      const { code } = await runWithBreakGlass(
        environment,
        "event",
        "get",
        String(event_id),
        "--raw",
        "--reason",
        "a test of reading",
      );
      expect(code).toBe(0);
    }
  } finally {
    await server.stop();
  }
});

test("a restored database without the owner's login is not ready, names the command to run, and is ready after that command", async () => {
  const owner = {
    ...(await shared.database.environment()),
    ...SETTINGS,
    DRS_ERASURE_JOURNAL: join(shared.folder, "journal"),
  } as Record<string, string>;
  const url = owner["DRS_DATABASE_URL"] ?? "";
  await shared.admin.query("create role behind_login login");
  await shared.admin.query("grant drs_service to behind_login");
  const [former, stays] = [await issueCredentials(owner, "former"), await issueCredentials(owner, "stays")];
  const server = await startServer({ ...owner, DRS_DATABASE_URL: url.replace("postgres@", "behind_login@") });
  try {
    expect((await post(server, former)).status).toBe(201);
    const swap = await copyOf(shared.admin, databaseName(url));
    const erased = await runWithBreakGlass(owner, ...ERASE_ACCOUNT_FORMER);
    expect(erased.code, erased.stderr).toBe(0);
    await until(async () => (await post(server, stays)).status === 201);

    await swap();
    await until(async () =>
      (await readiness(server)).text.includes("run drs erase replay with DRS_MIGRATION_DATABASE_URL"),
    );
    expect((await readiness(server)).status).toBe(503);
    expect((await post(server, stays)).status).toBe(503);
    expect((await runWithBreakGlass(owner, "erase", "replay")).code).toBe(0);
    await until(async () => (await post(server, stays)).status === 201);
    await until(async () => (await readiness(server)).text === "ok\n");
  } finally {
    await server.stop();
    await shared.admin.query("drop owned by behind_login");
    await shared.admin.query("drop role behind_login");
  }
});

test("while the journal does not answer, a restored database stores nothing, and a database that only lost its connections stores events", async () => {
  const { DRS_DATABASE_URL: url = "", ...rest } = await shared.database.environment();
  const { DRS_DATABASE_URL: journal = "" } = await shared.database.environment();
  const direct = { ...rest, ...SETTINGS, DRS_DATABASE_URL: url, DRS_ERASURE_JOURNAL_DATABASE_URL: journal };
  const proxy = await startTcpProxy(join(process.env[SHARED_SOCKET] ?? "", ".s.PGSQL.5432"));
  const proxied = `postgresql://postgres@127.0.0.1:${proxy.port}/${databaseName(journal)}?sslmode=disable`;
  const [former, stays] = [await issueCredentials(direct, "former"), await issueCredentials(direct, "stays")];
  const server = await startServer({
    ...direct,
    DRS_ERASURE_JOURNAL_DATABASE_URL: proxied,
    DRS_DEPENDENCY_TIMEOUT: "400ms",
  });
  try {
    expect((await post(server, former)).status).toBe(201);
    const swap = await copyOf(shared.admin, databaseName(url));
    const erased = await runWithBreakGlass(direct, ...ERASE_ACCOUNT_FORMER);
    expect(erased.code, erased.stderr).toBe(0);
    await until(async () => (await post(server, stays)).status === 201);

    proxy.fail("silent");
    await until(async () => (await readiness(server)).text.includes("erasure journal: "));
    await disconnect(shared.admin, databaseName(url));
    await until(async () => (await readiness(server)).status === 503);
    await shared.admin.query(`alter database ${databaseName(url)} allow_connections true`);
    await until(async () => (await post(server, stays)).status === 201);

    await swap();
    await until(async () => (await readiness(server)).text.includes("database: may be an older copy"));
    for (const who of [stays, former, stays]) expect((await post(server, who)).status).toBe(503);
    proxy.heal();
    await until(async () => (await post(server, stays)).status === 201);
    await until(async () => (await readiness(server)).text === "ok\n");
    expect(objects((await runWithBreakGlass(direct, "erase", "list", "--json")).stdout)).toHaveLength(1);
  } finally {
    await server.stop();
    await proxy.close();
  }
});

test("while a synchronous standby does not answer, the server sends no 201 and opens few backends; it recovers by itself", async () => {
  const ownPostgres = await startDatabase();
  const environment = { ...(await ownPostgres.environment()), ...SETTINGS, DRS_DEPENDENCY_TIMEOUT: "500ms" };
  const who = await issueCredentials(environment, "who");
  const server = await startServer(environment);
  const cluster = new pg.Client({ connectionString: ownPostgres.url("postgres") });
  await cluster.connect();
  const backends = async (): Promise<number> =>
    (await cluster.query("select from pg_stat_activity where application_name like 'drs%'")).rowCount ?? 0;
  try {
    await until(async () => (await post(server, who)).status === 201);
    const before = await backends();
    await cluster.query("alter system set synchronous_standby_names = 'absent'");
    await cluster.query("select pg_reload_conf()");
    // Backends apply the new setting a moment after the reload.
    await until(async () => (await post(server, who)).status === 503);
    // Six deadlines of 500 ms pass. If abandoned backends did not end, each deadline would leave two more.
    const endsAt = Date.now() + 3_000;
    let most = 0;
    while (Date.now() < endsAt) {
      const replies = await Promise.all([post(server, who), post(server, who), send({ url: server.url })]);
      expect(replies.slice(0, 2).map(({ status }) => status)).toEqual([503, 503]);
      most = Math.max(most, await backends());
    }
    expect(most - before).toBeLessThanOrEqual(6);
    expect((await readiness(server)).text).toMatch(
      /database: commits wait without end \(\d connections\): is a synchronous standby away/,
    );
    expect((await readiness(server)).status).toBe(503);
    await cluster.query("alter system reset synchronous_standby_names");
    await cluster.query("select pg_reload_conf()");
    await until(async () => (await post(server, who)).status === 201);
    await until(async () => (await readiness(server)).text === "ok\n");
  } finally {
    await server.stop();
    await cluster.end();
    await ownPostgres.close();
  }
});
