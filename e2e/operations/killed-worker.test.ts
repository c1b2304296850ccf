/** Test of an order whose worker is killed while another worker runs. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAdminClient } from "@device-risk-signals/admin-api";
import { objects, remoteEnvironment } from "../support/command.ts";
import { AWAITED_LOCKS, connectAsOwner } from "../support/database.ts";
import { until } from "../support/embedded.ts";
import { Past } from "../support/past-event.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { SystemScene } from "../support/system-scene.ts";

const NAMES = ["first", "second"] as const;

const scene = new SystemScene((folder) => ({ DRS_ERASURE_JOURNAL: join(folder, "journal") }));
const servers = new Map<string, ServerProcess>();
let past: Past;

beforeAll(async () => {
  await scene.applyPeriod("P30D");
  past = new Past(scene.system);
  for (const name of NAMES) {
    await scene.owner.query(`create role killed_worker_${name} login superuser`);
    const url = scene.environment["DRS_DATABASE_URL"]?.replace(/\/\/[^@]*@/, `//killed_worker_${name}@`) ?? "";
    servers.set(
      name,
      await startServer({ ...scene.environment, DRS_DATABASE_URL: url, DRS_RETENTION_INTERVAL: "24h" }),
    );
  }
});
afterAll(async () => {
  await past?.close();
  for (const server of servers.values()) await server.stop();
});

test("if a worker is killed after it wrote an erasure to the journal, the other worker finishes the erasure", async () => {
  await past.store(0, { account: "erased" });
  const remote = await remoteEnvironment(scene.environment, servers.get("first")?.adminUrl ?? "", ["privacy"]);
  const client = createAdminClient({ url: remote["DRS_ADMIN_URL"] ?? "", token: remote["DRS_ADMIN_TOKEN"] ?? "" });
  const holder = await connectAsOwner(scene.environment);
  // The transaction of an erasure deletes tokens after it has written the entry of the journal.
  await holder.query("begin; lock table drs.session_token in exclusive mode");
  const called = client.call("runErasure", { account: "erased", reason: "request 17" }).catch(() => undefined);
  const waiting = `${AWAITED_LOCKS} and locktype <> 'advisory'`;
  const names = async (): Promise<string[]> =>
    (
      await scene.owner.query<{ login: string }>(
        `select (select usename::text from pg_stat_activity a where a.pid = pg_locks.pid) as login ${waiting}`,
      )
    ).rows.map(({ login }) => login.replace("killed_worker_", ""));
  await until(async () => (await names()).length > 0);
  const [killed = ""] = await names();
  expect(NAMES).toContain(killed);
  await servers.get(killed)?.kill();
  servers.delete(killed);
  await scene.owner.query(`select pg_terminate_backend(pid) ${waiting}`);
  await holder.query("rollback");
  await holder.end();
  await called;
  const orders = async (): Promise<readonly Record<string, string>[]> =>
    objects((await scene.drs("order", "list", "--json")).stdout);
  await until(async () => (await orders()).some((row) => row["ended_at"] !== null));
  expect(await orders()).toMatchObject([{ operation: "erase.run", state: "done" }]);
  const erasures = objects((await scene.drs("erase", "list", "--account", "erased", "--json")).stdout);
  expect(erasures).toMatchObject([{ events: 1, finished_at: expect.any(String) }]);
  expect((await scene.owner.query("select from drs.event where account = 'erased'")).rowCount).toBe(0);
});
