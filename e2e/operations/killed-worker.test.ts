/** Test of a call whose worker is killed while another worker runs. */
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

test("if a worker is killed after it wrote an erasure to the journal, the repeated call finishes it at the other worker", async () => {
  await past.store(0, { account: "erased" });
  let current = servers.get("first")?.adminUrl ?? "";
  const remote = await remoteEnvironment(scene.environment, current, ["privacy"]);
  const client = createAdminClient({
    url: "http://admin.internal",
    token: remote["DRS_ADMIN_TOKEN"] ?? "",
    // A load balancer sends requests to a worker that runs.
    fetch: (target, init) => fetch(new URL((target as URL).pathname, current), init),
  });
  const holder = await connectAsOwner(scene.environment);
  // The transaction of an erasure deletes tokens after it has written the entry of the journal.
  await holder.query("begin; lock table drs.session_token in exclusive mode");
  const called = client.call("runErasure", { account: "erased", reason: "request 17" });
  const waiting = `${AWAITED_LOCKS} and locktype <> 'advisory'`;
  await until(async () => (await scene.owner.query(`select ${waiting}`)).rowCount !== 0);
  current = servers.get("second")?.adminUrl ?? "";
  await servers.get("first")?.kill();
  servers.delete("first");
  await scene.owner.query(`select pg_terminate_backend(pid) ${waiting}`);
  await holder.query("rollback");
  await holder.end();
  const { erasure } = await called;
  const erasures = objects((await scene.drs("erase", "list", "--account", "erased", "--json")).stdout);
  expect(erasures).toMatchObject([
    { erasure_id: erasure?.erasure_id, events: 1, finished_at: expect.any(String) as string },
  ]);
  expect((await scene.owner.query("select from drs.event where account = 'erased'")).rowCount).toBe(0);
});
