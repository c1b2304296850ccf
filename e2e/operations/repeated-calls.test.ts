/** Tests of calls whose worker is killed during its work. The client repeats the call, and the next process completes it. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAdminClient } from "@device-risk-signals/admin-api";
import { objects, remoteEnvironment } from "../support/command.ts";
import { AWAITED_LOCKS, connectAsOwner } from "../support/database.ts";
import { until } from "../support/embedded.ts";
import { Past } from "../support/past-event.ts";
import { freePort } from "../support/free-port.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { SystemScene } from "../support/system-scene.ts";

const scene = new SystemScene((folder) => ({ DRS_ERASURE_JOURNAL: join(folder, "journal"), DRS_REPLAY_WINDOW: "1h" }));
let server: ServerProcess;
let past: Past;
let remote: Record<string, string>;

let adminPort: number;

const start = async (): Promise<void> => {
  server = await startServer({
    ...scene.environment,
    DRS_RETENTION_INTERVAL: "24h",
    DRS_ADMIN_PORT: String(adminPort),
  });
};
beforeAll(async () => {
  await scene.applyPeriod("P30D");
  past = new Past(scene.system);
  adminPort = await freePort();
  await start();
  remote = await remoteEnvironment(scene.environment, server.adminUrl, ["operator", "privacy"]);
});
afterAll(async () => {
  await past?.close();
  await server?.stop();
});

/**
 * Calls a route, and kills the server when it waits for a lock that the statement `lock` takes. Then runs `meanwhile`
 * and starts the next server. @returns the answer of the call.
 */
async function callAndKill(
  id: "runRetention" | "runErasure",
  input: object,
  lock: string,
  meanwhile = async (): Promise<void> => {},
): Promise<unknown> {
  const seen: string[] = [];
  const onProgress = (line: string): void => void seen.push(line);
  const client = createAdminClient({ url: server.adminUrl, token: remote["DRS_ADMIN_TOKEN"] ?? "", onProgress });
  const holder = await connectAsOwner(scene.environment);
  await holder.query(`begin; ${lock}`);
  const called = client.call(id, input as never);
  const waiting = `${AWAITED_LOCKS} and locktype <> 'advisory'`;
  await until(async () => (await scene.owner.query(`select ${waiting}`)).rowCount !== 0);
  await server.kill();
  await until(() => seen.some((line) => line.startsWith("Trying again: ")));
  // A waiting statement would continue after its client was killed, so its backend is ended.
  await scene.owner.query(`select pg_terminate_backend(pid) ${waiting}`);
  await holder.query("rollback");
  await holder.end();
  await meanwhile();
  await start();
  return called;
}

const audited = async (operation: string): Promise<readonly string[]> =>
  objects<{ operation: string; outcome: string; actor: string }>(
    (await scene.drs("audit", "list", "--limit", "0", "--json")).stdout,
  )
    .filter((entry) => entry.operation === operation && entry.actor.startsWith("p ("))
    .map(({ outcome }) => outcome)
    .toReversed();

test("a retention run whose server is killed during the run is repeated at the next server, once", async () => {
  // The first pass of the server is over: it would delete the event before the call.
  await until(async () => (await scene.drs("retention", "run")).code === 0);
  await past.store(1, { account: "one" });
  await scene.applyPeriod("PT1S");
  await callAndKill("runRetention", {}, "lock table drs.event in access exclusive mode");
  expect(await audited("retention.run")).toEqual(["done"]);
  await scene.applyPeriod("P30D");
});

test("an erasure whose server is killed after the erasure began is finished by the next server, and erases nothing that came later", async () => {
  await past.store(0, { account: "erased" });
  const input = { account: "erased", reason: "request 17" };
  const answer = await callAndKill("runErasure", input, "lock table drs.tombstone in exclusive mode", async () => {
    await past.store(0, { account: "erased" });
  });
  expect(await audited("erase.run"), "the next server finishes it and answers the repeated call").toEqual([
    "begun",
    "done",
    "done",
  ]);
  const erasures = objects((await scene.drs("erase", "list", "--account", "erased", "--json")).stdout);
  expect(erasures).toMatchObject([{ events: 1, finished_at: expect.any(String) }]);
  expect(answer).toMatchObject({ erasure: { erasure_id: erasures[0]?.["erasure_id"] } });
  expect(
    (await scene.owner.query("select from drs.event where account = 'erased'")).rowCount,
    "the event that came later",
  ).toBe(1);
});
