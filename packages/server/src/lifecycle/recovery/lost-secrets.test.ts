import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import { Past } from "../../../../../e2e/support/past-event.ts";
import type { System } from "../../app/system.ts";
import { holdSecretName } from "../../crypto/sealer.ts";
import { inOneTransaction } from "../../postgres/database.ts";
import { copyHeldEvents, type HeldEvent } from "../holds/copy-held-events.ts";
import { placeHold } from "../holds/holds.ts";
import { lostInUse, lostSince } from "./lost-secrets.ts";

let database: TestDatabase;
let system: System;
let owner: OwnerClient;
let past: Past;

beforeAll(async () => {
  database = await sharedDatabase();
  const environment = await database.environment();
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  past = new Past(system);
});

afterAll(async () => {
  await past?.close();
  await owner?.end();
  await system?.close();
  await database?.close();
});

/** @returns the id of a hold on a new account, which has a copy of its event. */
async function holdWithCopy(): Promise<string> {
  const account = randomUUID();
  const { eventId } = await past.store(0, { account });
  const subject = { of: "account", value: account } as const;
  const order = { subject, reason: "r", approver: "a", reviewOn: "2999-01-31", actor: "o" };
  const id = (await inOneTransaction(owner, (transaction) => placeHold(transaction, order)))?.hold_id ?? "";
  await inOneTransaction(owner, async (transaction) => {
    const text = "select account, purpose, received_at, event_id, $2::uuid as hold_id from event where event_id = $1";
    const { rows } = await owner.query<HeldEvent>(text, [eventId, id]);
    expect(
      await copyHeldEvents(transaction, system.sealer, () =>
        (async function* () {
          yield* rows;
        })(),
      ),
    ).toBe(1);
  });
  return id;
}

const lost = (): Promise<readonly (readonly string[])[]> =>
  Promise.all([lostInUse(system.pool, system.secrets), lostSince(system.pool, system.secrets, false)]);

test("the secret of the oldest of many holds is looked for, and of a hold whose copies have no payload none is", async () => {
  const oldest = await holdWithCopy();
  for (let later = 0; later < 5; later++) await holdWithCopy();
  const name = holdSecretName(oldest);
  await system.secrets.destroy(name);
  expect(await lost()).toEqual([[name], [name]]);
  await owner.query("alter table held_event disable trigger all");
  await owner.query("update held_event set payload = '' where hold_id = $1", [oldest]);
  expect(await lost()).toEqual([[], []]);
});
