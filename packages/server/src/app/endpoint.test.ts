import type pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../e2e/support/parties.ts";
import { createEndpoint } from "./endpoint.ts";

let database: TestDatabase;
let owner: pg.Client;
let environment: Record<string, string>;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  owner = await connectAsOwner(environment);
});

afterAll(async () => {
  await owner?.end();
  await database?.close();
});

async function connections(): Promise<number> {
  const text = "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
  return (await owner.query(text)).rowCount ?? 0;
}

test("an endpoint that fails at its last step leaves no timer and no connection", async () => {
  const system = await openTestSystem(environment);
  const before = await connections();
  const started = vi.spyOn(globalThis, "setInterval");
  const cleared = vi.spyOn(globalThis, "clearInterval");
  const prepare = (): Promise<never> => Promise.reject(new Error("late"));
  const partitions = Object.assign(Object.create(system.partitions), { prepare });
  await expect(createEndpoint({ ...system, partitions }, { onFault: () => {} })).rejects.toThrow("late");
  const ended = new Set(cleared.mock.calls.map(([timer]) => timer));
  expect(started.mock.results.filter(({ value }) => !ended.has(value))).toEqual([]);
  expect(started).toHaveBeenCalled();
  vi.restoreAllMocks();
  // The pool's own connections may be more.
  await expect.poll(connections).toBeLessThanOrEqual(before + 2);
  await system.close();
});

test("the metrics name the dependencies that are configured, and no others", async () => {
  const system = await openTestSystem(environment);
  const endpoint = await createEndpoint(system, { onFault: () => {} });
  const text = await endpoint.metrics.registry.metrics();
  expect(text.match(/(?<=drs_dependency_up\{dependency=")\w+/g)).toEqual(["database", "key_store"]);
  await endpoint.close();
  await system.close();
});
