/** What a monitor ends, and what it leaves: in a cluster of its own, whose synchronous standby does not exist. */
import { isDeepStrictEqual } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { Dependencies } from "../../base/dependencies/dependencies.ts";
import { AbandonedBackends, BoundedClient } from "./bounded-client.ts";
import { withDeadlineOf, type DatabaseOptions, withoutStatementTimeout } from "./database.ts";
import { PostgresProbe } from "./postgres-probe.ts";

const TIMEOUT_MS = 200;

let cluster: TestDatabase;
let admin: pg.Client;

beforeAll(async () => {
  cluster = await startDatabase();
  admin = new pg.Client({ connectionString: cluster.url("postgres") });
  await admin.connect();
  await admin.query("create table public.work (done int)");
  await admin.query("create table first_commit (done int)");
});

afterAll(async () => {
  await admin?.end();
  await cluster?.close();
});

interface Watched {
  readonly dependency: ReturnType<Dependencies["get"]>;
  readonly database: DatabaseOptions;
  readonly probe: PostgresProbe;
}

function watch(timeoutMs = TIMEOUT_MS): Watched {
  const dependency = new Dependencies(timeoutMs).get("database");
  const login = { connectionString: cluster.url("postgres"), application_name: "drs" };
  const database = withDeadlineOf(dependency, login);
  return { dependency, database, probe: new PostgresProbe({ dependency, database }) };
}

const activity = async (pid = 0): Promise<{ state: string; wait_event: string | null } | undefined> =>
  (await admin.query("select state, wait_event from pg_stat_activity where pid = $1", [pid])).rows[0];

async function open(database: DatabaseOptions): Promise<BoundedClient & { readonly pid: number }> {
  const client = new BoundedClient(database);
  await client.connect();
  return client as BoundedClient & { readonly pid: number };
}

async function setStandby(name: string): Promise<void> {
  await admin.query(`alter system set synchronous_standby_names = '${name}'`);
  await admin.query("select pg_reload_conf()");
  await until(
    async () => (await admin.query("show synchronous_standby_names")).rows[0].synchronous_standby_names === name,
  );
}

/**
 * Sets an absent synchronous standby. Commits do not wait for the standby at once, so the promise resolves only after a
 * commit has waited.
 */
async function setAbsentStandby(): Promise<void> {
  await setStandby("absent");
  const client = new pg.Client({ connectionString: cluster.url("postgres"), application_name: "first commit" });
  await client.connect();
  client.on("error", () => {});
  const committing = (async () => {
    for (;;) await client.query("insert into first_commit values (1)");
  })().catch(() => {});
  const pidOf = "select pid from pg_stat_activity where application_name = 'first commit' and wait_event = 'SyncRep'";
  await until(async () => (await admin.query(pidOf)).rowCount === 1);
  await admin.query(`select pg_terminate_backend(pid) from (${pidOf}) as waiting`);
  await committing;
}

test("a commit of a retention pass that waits for a standby is not ended, and counts as stalled", async () => {
  const { database, dependency, probe } = watch(5_000);
  await setAbsentStandby();
  const client = await open(withoutStatementTimeout(database));
  const writing = client.query("insert into public.work values (1)");
  writing.catch(() => {});
  await until(async () => (await activity(client.pid))?.wait_event === "SyncRep");
  dependency.report("stalled", "until the monitor looks");
  database.bound?.abandoned.add({ pid: client.pid, connectedAt: String(Date.now() / 1000), mayEnd: true });
  await probe.ping();
  await probe.ping();
  expect(await activity(client.pid)).toMatchObject({ wait_event: "SyncRep" });
  expect(dependency.health.problems).toEqual([expect.stringContaining("(1 connections)")]);
  expect((await admin.query("select from public.work")).rowCount).toBe(0);
  await setStandby("");
  await writing;
  await client.end();
  await probe.ping();
  expect(dependency.isUp).toBe(true);
  await probe.close();
});

test("a retention pass that waits for a lock is ended, one that works is not, and keeps no event from being stored", async () => {
  const { database, dependency, probe } = watch(5_000);
  const blocker = await open(withoutStatementTimeout(database));
  await blocker.query("begin");
  await blocker.query("lock table public.work in access exclusive mode");
  const clients = await Promise.all([open(withoutStatementTimeout(database)), open(withoutStatementTimeout(database))]);
  const [blocked, working] = clients;
  const ended = blocked.query("select from public.work").catch(() => "ended");
  const worked = working.query("select pg_sleep(0.4)");
  await until(async () => (await activity(blocked.pid))?.wait_event === "relation");
  for (const { pid } of clients) {
    database.bound?.abandoned.add({ pid, connectedAt: String(Date.now() / 1000), mayEnd: true });
  }
  await probe.ping();
  expect(await ended).toBe("ended");
  await worked;
  expect(dependency.isUp).toBe(true);
  await probe.ping();
  await until(async () => (await activity(working.pid)) === undefined);
  await blocker.end();
  await probe.close();
});

test("a backend that waits for the rows of a COPY from a client that is lost is ended", async () => {
  const { database, dependency, probe } = watch(5_000);
  const client = await open(database);
  const { connection } = client as unknown as { readonly connection: pg.Connection };
  connection.query("copy public.work from stdin (format binary)");
  const waiting = { state: "active", wait_event: "ClientRead" };
  await until(async () => isDeepStrictEqual(await activity(client.pid), waiting));
  database.bound?.abandoned.add({ pid: client.pid, connectedAt: String(Date.now() / 1000), mayEnd: false });
  await probe.ping();
  await until(async () => (await activity(client.pid)) === undefined);
  await probe.ping();
  expect(dependency.isUp).toBe(true);
  await probe.close();
});

test("a backend that has the process id of an abandoned one is not ended", async () => {
  const { database, probe } = watch(5_000);
  const before = (await admin.query("select extract(epoch from now() - interval '1 s')::text as before")).rows[0]
    .before;
  const client = await open(database);
  database.bound?.abandoned.add({ pid: client.pid, connectedAt: before, mayEnd: true });
  await probe.ping();
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  expect(database.bound?.abandoned.all).toEqual([]);
  await client.end();
  await probe.close();
});

test("a backend that is abandoned during a check is checked the next time", async () => {
  const { database, dependency, probe } = watch(5_000);
  const otherConnection = await open(database);
  const abandoned = new AbandonedBackends();
  Object.assign(database.bound ?? {}, { abandoned });
  const backend = { pid: otherConnection.pid, connectedAt: String(Date.now() / 1000), mayEnd: false };
  dependency.report("stalled", "so that the monitor looks");
  vi.spyOn(abandoned, "all", "get").mockImplementationOnce(() => {
    queueMicrotask(() => abandoned.add(backend));
    return [];
  });
  await probe.ping();
  expect(abandoned.all).toEqual([backend]);
  await probe.ping();
  await until(async () => (await activity(otherConnection.pid)) === undefined);
  await otherConnection.end().catch(() => {});
  await probe.close();
});

test("work continues past its deadline while commits wait for a standby", async () => {
  const { database, dependency } = watch();
  const client = await open(withoutStatementTimeout(database));
  const working = client.query("select pg_sleep(0.5)");
  dependency.report("stalled", "commits wait without end");
  expect((await working).rowCount).toBe(1);
  dependency.resolve("stalled");
  await client.end();
});
