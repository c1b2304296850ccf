import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectAsOwner } from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { type NewEvent, Unavailable } from "../../base/ports.ts";
import { accountSecretName } from "../../store/crypto/sealer.ts";
import { partitionSecretName } from "../../store/crypto/partition-secrets.ts";
import { inTransactionOn } from "../../store/postgres/database.ts";
import { PostgresEventStore } from "../../store/events/event-store.ts";
import { newEvent } from "../../store/events/new-event.fixture.ts";
import { acceptSecretLoss } from "./accept-secret-loss.ts";
import { lostInUse } from "./lost-secrets.ts";

const opened = useTestSystem();
let store: PostgresEventStore;

beforeAll(() => {
  const { database, pool, partitions, pseudonymizer, accountKeys } = opened.system;
  store = new PostgresEventStore({
    database,
    executor: pool,
    partitions,
    pseudonymizer,
    newLane: () => opened.system.audit.lane(),
    canStore: () => true,
    onStale: () => accountKeys.refresh(),
    onConnectionLost: () => accountKeys.clear(),
    generation: () => accountKeys.generation,
    onError: () => {},
    onBatch: () => {},
  });
});

afterAll(() => store?.close());

const EXACT = Buffer.from('{"exact": 1.0}');

async function sealed(account: string): Promise<NewEvent> {
  const event = newEvent({ account, idempotencyKey: randomUUID() });
  return { ...event, sealed: await opened.system.sealer.seal(event, EXACT) };
}

const partitionSecret = async (): Promise<string> => (await opened.system.partitions.find(1, Date.now())).secret;

function accept(): ReturnType<typeof acceptSecretLoss> {
  return inTransactionOn(opened.owner, (transaction) =>
    acceptSecretLoss(transaction, opened.system, { actor: "operator", via: "direct", reason: "no copy has it" }),
  );
}

/** Requires that a server which still has the lost secrets in memory does not seal under them after the acceptance. */
async function expectNewNames(account: string, lostNames: readonly string[]): Promise<void> {
  const late = await sealed(account);
  for (const name of lostNames) await opened.system.secrets.discard(name);
  expect(await accept()).toMatchObject({ accounts: 1 });

  expect(await store.append(late), "sealed before the loss was accepted").toBe("stale");
  const again = await sealed(account);
  expect(await store.append(again)).toBe("stored");
  expect(await opened.system.sealer.open(again, again.sealed, again.sealed.payload)).toEqual(EXACT);
  expect(await opened.system.secrets.findMissing(lostNames), "no secret is made under a lost name").toEqual(lostNames);
  expect(await accept(), "nothing else is lost").toBeUndefined();
}

test("after the acceptance, a server with a lost account key in memory seals under a new one", async () => {
  const first = await sealed("one");
  expect(await store.append(first)).toBe("stored");
  await expectNewNames("one", [accountSecretName(first.sealed.keyId)]);
});

test("after the acceptance, a server with a lost partition secret in memory seals under a new one", async () => {
  const first = await sealed("two");
  expect(await store.append(first)).toBe("stored");
  const lost = await partitionSecret();
  await opened.owner.query(
    "set session_replication_role = replica; delete from event where account <> 'two'; reset session_replication_role",
  );
  await expectNewNames("two", [partitionSecretName(lost)]);
  expect(await partitionSecret()).not.toBe(lost);
});

test("a secret that was lost twice leaves the events of both times unreadable, and the later ones readable", async () => {
  const events: NewEvent[] = [];
  for (let time = 0; time < 2; time++) {
    const event = await sealed("three");
    expect(await store.append(event)).toBe("stored");
    events.push(event);
    await opened.system.secrets.discard(partitionSecretName(await partitionSecret()));
    expect(await accept()).toBeDefined();
    await opened.system.accountKeys.refresh();
  }
  const last = await sealed("three");
  expect(await store.append(last)).toBe("stored");
  const open = ({ sealed: { keyId, payload }, ...event }: NewEvent): Promise<Buffer> =>
    opened.system.sealer.open(event, { keyId }, payload);
  for (const event of events) await expect(open(event)).rejects.toMatchObject({ code: "keys-destroyed" });
  expect(await open(last)).toEqual(EXACT);
});

test("a secret that was lost before an event was stored under it is not created again, and its loss can be accepted", async () => {
  const environment = await opened.database.environment();
  const otherSystem = await openTestSystem(environment);
  const login = await connectAsOwner(environment);
  try {
    const seal = (account: string): Promise<unknown> => otherSystem.sealer.seal(newEvent({ account }), EXACT);
    const accepted = (): Promise<unknown> =>
      inTransactionOn(login, (owner) =>
        acceptSecretLoss(owner, otherSystem, { actor: "operator", via: "direct", reason: "no copy has it" }),
      );
    await otherSystem.partitions.ensure(1, Date.now());
    expect(await accepted(), "the secret is not created yet").toBeUndefined();
    await seal("one");
    const name = partitionSecretName((await otherSystem.partitions.find(1, Date.now())).secret);
    await otherSystem.secrets.discard(name);
    await expect(seal("two")).rejects.toThrow(Unavailable);
    expect(await lostInUse(otherSystem.pool, otherSystem.secrets)).toEqual([name]);
    expect(await accepted()).toMatchObject({ events: 0, partitions: 0 });
    await seal("two");
    await otherSystem.accountKeys.refresh();
    expect(await lostInUse(otherSystem.pool, otherSystem.secrets)).toEqual([]);
    expect(await otherSystem.secrets.findMissing([name])).toEqual([name]);
  } finally {
    await login.end();
    await otherSystem.close();
  }
});
