/**
 * Tests of orders of the admin API whose worker is killed during its work. The next process completes the orders, once.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAdminClient } from "@device-risk-signals/admin-api";
import { objects, remoteEnvironment } from "../support/command.ts";
import { AWAITED_LOCKS, connectAsOwner } from "../support/database.ts";
import { until } from "../support/embedded.ts";
import { Past } from "../support/past-event.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { SystemScene } from "../support/system-scene.ts";

const scene = new SystemScene((folder) => ({ DRS_ERASURE_JOURNAL: join(folder, "journal"), DRS_REPLAY_WINDOW: "1h" }));
let server: ServerProcess;
let past: Past;
let remote: Record<string, string>;

const start = async (): Promise<void> => {
  server = await startServer({ ...scene.environment, DRS_RETENTION_INTERVAL: "24h" });
};
beforeAll(async () => {
  await scene.applyPeriod("P30D");
  past = new Past(scene.system);
  await start();
  remote = await remoteEnvironment(scene.environment, server.adminUrl, ["operator", "privacy"]);
});
afterAll(async () => {
  await past?.close();
  await server?.stop();
});

/**
 * Calls a route, and kills the server when it waits for a lock that the statement `lock` takes. Then runs `meanwhile`
 * and starts the next server.
 */
async function callAndKill(
  id: "runRetention" | "runErasure",
  input: object,
  lock: string,
  meanwhile = async (): Promise<void> => {},
): Promise<void> {
  const client = createAdminClient({ url: server.adminUrl, token: remote["DRS_ADMIN_TOKEN"] ?? "" });
  const holder = await connectAsOwner(scene.environment);
  await holder.query(`begin; ${lock}`);
  const called = client.call(id, input as never).catch((error: unknown) => error);
  const waiting = `${AWAITED_LOCKS} and locktype <> 'advisory'`;
  await until(async () => (await scene.owner.query(`select ${waiting}`)).rowCount !== 0);
  await server.kill();
  expect(await called).toBeInstanceOf(Error);
  // A waiting statement would continue after its client was killed, so its backend is ended.
  await scene.owner.query(`select pg_terminate_backend(pid) ${waiting}`);
  await holder.query("rollback");
  await holder.end();
  await meanwhile();
  await start();
}

interface Audited {
  readonly operation: string;
  readonly actor: string;
}

/** The state of the only order for this operation, once it has ended, and the audit entries that name the order. */
async function endOf(operation: string): Promise<{ readonly state: string; readonly entries: readonly Audited[] }> {
  const rows = async () => objects<Record<string, string>>((await scene.drs("order", "list", "--json")).stdout);
  const isEnded = async () => (await rows()).some((row) => row["operation"] === operation && row["ended_at"] !== null);
  await until(isEnded);
  const orders = (await rows()).filter((row) => row["operation"] === operation);
  expect(orders).toHaveLength(1);
  const [order] = orders;
  const audit = objects<Audited & { detail: { order_id?: string } | null }>(
    (await scene.drs("audit", "list", "--limit", "0", "--json")).stdout,
  );
  const entries = audit.filter(({ detail }) => detail?.order_id === order?.["order_id"]);
  return { state: String(order?.["state"]), entries };
}

const shown = (entries: readonly Audited[]): readonly string[] =>
  entries.map(({ operation }) => operation).toReversed();

test("a retention run whose server is killed during the run is repeated by the next server, once", async () => {
  await past.store(1, { account: "one" });
  await scene.applyPeriod("PT1S");
  await callAndKill("runRetention", {}, "lock table drs.event in access exclusive mode");
  const { state, entries } = await endOf("retention.run");
  expect(state).toBe("done");
  expect(shown(entries)).toEqual(["order.place", "retention.run"]);
  expect(entries.map(({ actor }) => actor)).toEqual(entries.map(() => expect.stringMatching(/^p \(admin token /)));
  await scene.applyPeriod("P30D");
});

test("an erasure whose server is killed after the erasure began is finished by the next server, and erases nothing that came later", async () => {
  await past.store(0, { account: "erased" });
  const input = { account: "erased", reason: "request 17" };
  await callAndKill("runErasure", input, "lock table drs.tombstone in exclusive mode", async () => {
    await past.store(0, { account: "erased" });
  });
  const { state, entries } = await endOf("erase.run");
  expect(state).toBe("done");
  expect(shown(entries), "the second entry of the erasure is written with the answer").toEqual([
    "order.place",
    "erase.run",
    "approval.exempt",
    "erase.run",
  ]);
  const erasures = objects((await scene.drs("erase", "list", "--account", "erased", "--json")).stdout);
  expect(erasures).toMatchObject([{ events: 1, finished_at: expect.any(String) }]);
  expect(
    (await scene.owner.query("select from drs.event where account = 'erased'")).rowCount,
    "the event that came later",
  ).toBe(1);
});
