import { afterAll, beforeAll, expect, it } from "vitest";
import type pg from "pg";
import { sharedDatabase, type TestDatabase } from "../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../e2e/support/parties.ts";
import type { System } from "../app/system.ts";
import { commitBatch } from "./commit-batch.ts";
import { newEvent, TEST_KEY } from "./new-event.fixture.ts";

let database: TestDatabase;
let system: System;

beforeAll(async () => {
  database = await sharedDatabase();
  system = await openTestSystem(await database.environment());
  await system.pool.query("select ensure_account_key('customer-1', 1, $1)", [TEST_KEY]);
  await system.partitions.ensure(1, Date.now());
});

afterAll(async () => {
  await system?.close();
  await database?.close();
});

/** A client whose command tags count the rows that were selected, as those of a distributed table do. */
function countingSelected(client: pg.PoolClient, selected: number): pg.Client {
  const query = async (...args: Parameters<pg.Client["query"]>): Promise<unknown> => ({
    ...((await (client.query as (...args: unknown[]) => Promise<object>)(...args)) as object),
    rowCount: selected,
  });
  return { query } as unknown as pg.Client;
}

it("takes keys by the rows that came back, not by the command tag", async () => {
  const first = newEvent();
  const [again, other] = [newEvent({ idempotencyKey: first.idempotencyKey }), newEvent()];
  const client = await system.pool.connect();
  const outcomes = [
    await commitBatch(countingSelected(client, 1), [first], system.names),
    await commitBatch(countingSelected(client, 2), [again, other], system.names),
  ];
  client.release();
  expect(outcomes).toEqual([["stored"], ["taken", "stored"]]);
});
