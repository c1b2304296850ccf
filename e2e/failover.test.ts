/**
 * Tests of a database that loses its last seconds while a server runs. The server then looks up again the account keys
 * and partitions that it has in memory.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { System } from "../packages/server/src/runtime/system.ts";
import { authorized, send, transport } from "./support/client.ts";
import { runWithBreakGlass } from "./support/command.ts";
import { connectAsOwner, type OwnerClient, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { type Credentials, type ServerProcess, startServer } from "./support/server.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let system: System;
let owner: OwnerClient;
let server: ServerProcess;
let who: Credentials;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = { ...(await database.environment()), DRS_THROTTLE_RATE: "0" };
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  server = await startServer(environment);
  who = await makeCredentials(system, "one");
});

afterAll(async () => {
  await server?.stop();
  await owner?.end();
  await system?.close();
  await database?.close();
});

/** Sends an event until the answer is 201. @returns the event as it was sent, and as it is read back */
async function storedAndRead(): Promise<{ readonly sent: string; readonly read: string }> {
  const body = transport(who);
  let eventId: unknown;
  await until(async () => {
    const answer = await send({ url: server.url, headers: authorized(who), body: JSON.stringify(body) });
    eventId = answer.json["event_id"];
    return answer.status === 201;
  });
  const { stdout } = await runWithBreakGlass(environment, "event", "get", String(eventId), "--raw", "--reason", "r");
  return { sent: JSON.stringify(body.observations), read: stdout };
}

/**
 * Simulates the promotion of a standby that lacks some rows: the statements delete the rows, and all connections end.
 */
async function lose(...statements: readonly string[]): Promise<void> {
  await owner.query(["begin", "alter table event disable trigger all", ...statements, "commit"].join(";"));
  await owner.query("alter table event enable trigger all");
  await owner.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
  );
}

test("after a failover, an event is sealed again if the new primary lacks its account key", async () => {
  await storedAndRead();
  await lose("delete from event", "delete from idempotency_key", "delete from account_key");
  const { sent, read } = await storedAndRead();
  expect(read).toBe(sent);
});

test("after a failover, an event is sealed again if the new primary lacked its partition and another server created it", async () => {
  await storedAndRead();
  const { rows } = await owner.query<{ table_name: string; partition_id: string }>(
    "select table_name, partition_id from event_partition where lower_bound <= now() and now() < upper_bound",
  );
  const [partition] = rows;
  await lose(
    `drop table ${partition?.table_name}`,
    `delete from event_partition where partition_id = '${partition?.partition_id}'`,
    "delete from idempotency_key",
    "select ensure_event_partition(1, now())",
  );
  const { sent, read } = await storedAndRead();
  expect(read).toBe(sent);
});
