import { afterAll, beforeAll, expect, it } from "vitest";
import pg from "pg";
import {
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import type { System } from "../../runtime/system.ts";
import { PostgresAccountKeys } from "../accounts/account-keys.ts";
import { commitBatch } from "./commit-batch.ts";
import { newEvent, TEST_KEY } from "./new-event.fixture.ts";

let database: TestDatabase;
let system: System;
let owner: OwnerClient;

beforeAll(async () => {
  database = await sharedDatabase();
  const environment = await database.environment();
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  await system.pool.query(
    "select ensure_account_keys(array['customer-1'], array[null]::bytea[], array[1], array[$1]::uuid[], 0)",
    [TEST_KEY],
  );
  await system.partitions.ensure(1, Date.now());
});

afterAll(async () => {
  await owner?.end();
  await system?.close();
  await database?.close();
});

/** Opens a connection in pipeline mode, as the event store does. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ ...system.database, pipeline: true });
  await client.connect();
  return client;
}

/** A client whose command tags count selected rows, as for a distributed table. */
function countingSelected(client: pg.Client, selected: number): pg.Client {
  const query = async (...args: Parameters<pg.Client["query"]>): Promise<unknown> => ({
    ...((await (client.query as (...args: unknown[]) => Promise<object>)(...args)) as object),
    rowCount: selected,
  });
  return { query } as unknown as pg.Client;
}

it("a commit batch counts claimed keys by the returned rows, not by the command tag", async () => {
  const first = newEvent();
  const [again, other] = [newEvent({ idempotencyKey: first.idempotencyKey }), newEvent()];
  const client = await connect();
  const outcomes = [
    await commitBatch(countingSelected(client, 1), [first], system.pseudonymizer, system.audit.lane()),
    await commitBatch(countingSelected(client, 2), [again, other], system.pseudonymizer, system.audit.lane()),
  ];
  await client.end();
  expect(outcomes).toEqual([["stored"], ["taken", "stored"]]);
});

it("a commit batch commits nothing that was sealed in another key epoch, even if the numbers of both key epochs have the same sum", async () => {
  const client = await connect();
  // Foreign keys are disabled, because `journal_entry` has no row that the erasure could name.
  await owner.query("set session_replication_role = replica");
  try {
    await owner.query(
      "insert into erasure (sequence, erasure_id, kind, began_at, actor, reason, keys) values (1, gen_random_uuid(), 'hold', now(), '', '', '{}')",
    );
    const keys = new PostgresAccountKeys(system.pool, system.secrets, system.pseudonymizer);
    await keys.refresh();
    const before = newEvent();
    const event = { ...before, sealed: { ...before.sealed, keyEpoch: keys.keyEpoch } };
    // A restored database lacks the erasure, and then a loss is accepted.
    await owner.query("delete from erasure");
    await owner.query(
      "insert into secret_loss (loss_id, accepted_by, reason, events, accounts, partitions, copies) values (1, '', '', 0, 0, 0, 0)",
    );
    expect(await commitBatch(client, [event], system.pseudonymizer, system.audit.lane())).toEqual(["stale"]);
    await keys.refreshAll();
    const again = { ...event, sealed: { ...event.sealed, keyEpoch: keys.keyEpoch } };
    expect(await commitBatch(client, [again], system.pseudonymizer, system.audit.lane())).toEqual(["stored"]);
  } finally {
    await owner.query("delete from erasure; delete from secret_loss");
    await client.end();
  }
});
