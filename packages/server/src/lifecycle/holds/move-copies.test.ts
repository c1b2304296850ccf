/** The end of a hold whose copies another hold still covers. */
import type pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import { applyErasure } from "../erasure/apply-erasure.ts";
import { type ErasureEntry, NO_ENTRY } from "../journal/journal.ts";
import { erasurePorts } from "../../runtime/lifecycle-ports.ts";
import { expire } from "../retention/expire.ts";
import { findLostSecrets } from "../recovery/lost-secrets.ts";
import { holdSecretName } from "../../store/crypto/sealer.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import { memoryJournal } from "../journal/memory-journal.fixture.ts";
import { inTransactionOn } from "../../store/postgres/database.ts";
import type { Connection, Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { copyHeldEvents, type HeldEvent } from "./copy-held-events.ts";
import { liftHold, placeHold } from "./hold-table.ts";
import { destroyHoldSecrets } from "./destroy-hold-secrets.ts";
import { moveCopies } from "./move-copies.ts";

const ACCOUNT = "one";
const VALUES = Buffer.from("[true]");

const opened = useTestSystem("test");
let past: Past;

beforeEach(() => {
  past = new Past(opened.system);
});

afterEach(() => past.close());

async function hold(of: "account" | "action_id", value: string): Promise<string> {
  const why = { reason: "dispute", approver: "J. Doe", reviewOn: "2999-01-31", actor: "test", includeRestricted: true };
  const placed = await inTransactionOn(opened.owner, (transaction) =>
    placeHold(transaction, { subject: { of, value }, ...why }),
  );
  const id = placed?.hold_id ?? "";
  await opened.system.secrets.findOrCreate(holdSecretName(id));
  return id;
}

const lift = (holdId: string): Promise<unknown> =>
  inTransactionOn(opened.owner, (transaction) => liftHold(transaction, holdId, "test", "settled"));

async function copyUnder(holdId: string, events: readonly PastEvent[]): Promise<void> {
  async function* held(): AsyncGenerator<HeldEvent> {
    for (const { account, purpose, receivedAt, eventId } of events) {
      yield { account, purpose, received_at: new Date(receivedAt).toISOString(), event_id: eventId, hold_id: holdId };
    }
  }
  await inTransactionOn(opened.owner, (transaction) => copyHeldEvents(transaction, opened.system, held));
}

/** Replays the entry that says that the hold has ended and its secret is destroyed. */
async function replayEnd(holdId: string, executor: Executor = opened.owner): Promise<void> {
  const entry: ErasureEntry = {
    version: 1,
    kind: "hold",
    sequence: 1,
    installation: opened.system.codec.installation,
    at: new Date().toISOString(),
    previous: NO_ENTRY,
    erasure_id: crypto.randomUUID(),
    subject: null,
    keys: [],
    accounts: [],
    events: [],
    holds: [holdId],
    refused: [],
  };
  const transaction = executor as OwnerTransaction;
  await moveCopies(transaction, opened.system, holdId);
  await applyErasure(transaction, opened.system.pseudonymizer, entry, NO_ENTRY, {
    actor: "test",
    reason: "replay",
    unreadable: 0,
  });
  await opened.system.secrets.discard(holdSecretName(holdId));
}

const copies = async (): Promise<unknown[]> =>
  (await opened.owner.query("select event_id, hold_id from held_event order by event_id")).rows;

test("a copy that can't be opened is kept while another hold covers it, and deleted after that hold ends", async () => {
  const event = await past.store(1, { account: ACCOUNT });
  const ended = await hold("action_id", event.actionId);
  const lasting = await hold("account", ACCOUNT);
  await copyUnder(ended, [event]);
  await opened.owner.query("set session_replication_role = replica");
  await opened.owner.query("update held_event set payload = set_byte(payload, 20, get_byte(payload, 20) # 255)");
  await opened.owner.query("reset session_replication_role");

  await lift(ended);
  await replayEnd(ended);
  expect(await copies()).toEqual([{ event_id: event.eventId, hold_id: ended }]);
  expect(await findLostSecrets(opened.system.pool, opened.system.secrets), "its secret is destroyed, not lost").toEqual(
    [],
  );

  await lift(lasting);
  await opened.owner.query("update purpose set raw_retention = '1 minute'");
  const client = await opened.system.pool.connect();
  await expire(client as Executor as Connection, erasurePorts(opened.system)).finally(() => client.release());
  expect(await copies()).toEqual([]);
});

test("copies move to the hold that still covers them, a bounded number at a time, and stay readable", async () => {
  const actionId = "an-action";
  const events: PastEvent[] = [];
  for (let count = 0; count < 60; count++) events.push(await past.store(1, { account: ACCOUNT, actionId }));
  // UUIDs of the same millisecond have no defined order.
  events.sort((one, other) => (one.eventId < other.eventId ? -1 : 1));
  const ended = await hold("action_id", actionId);
  const lasting = await hold("account", ACCOUNT);
  await copyUnder(ended, events);
  const lastEvent = events.at(-1);
  if (!lastEvent) throw new Error("no event");
  const { featureSealer } = opened.system;
  const values = await featureSealer.sealCopy({ ...lastEvent, layer: 1 }, ended, VALUES);
  await opened.owner.query(
    `insert into held_feature select account, purpose, received_at, event_id, 1, now(), gen_random_uuid(), $1
      from held_event where event_id = $2`,
    [values, lastEvent.eventId],
  );
  await lift(ended);
  let largestResult = 0;
  await replayEnd(ended, {
    async query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]) {
      const result = await opened.owner.query<Row>(text, [...(values ?? [])]);
      largestResult = Math.max(largestResult, result.rows.length);
      return result;
    },
  });
  expect(largestResult).toBeLessThanOrEqual(50);
  expect(await copies()).toEqual(events.map(({ eventId }) => ({ event_id: eventId, hold_id: lasting })));
  const [{ payload } = { payload: Buffer.alloc(0) }] = (
    await opened.owner.query<{ payload: Buffer }>("select payload from held_event order by event_id desc limit 1")
  ).rows;
  const identity = { ...lastEvent, collectedAt: new Date(lastEvent.receivedAt).toISOString().replace("Z", "000Z") };
  expect((await opened.system.sealer.open(identity, { holdId: lasting }, payload)).toString()).toBe(lastEvent.exact);
  const moved = await opened.owner.query<{ payload: Buffer }>("select payload from held_feature");
  const [{ payload: feature } = { payload: Buffer.alloc(0) }] = moved.rows;
  expect(await featureSealer.openCopy({ ...lastEvent, layer: 1 }, lasting, feature)).toEqual(VALUES);
});

test("the end of a hold that a replay of the journal has recorded during a pass gets no second journal entry", async () => {
  const { system, owner } = opened;
  await past.store(0, { account: ACCOUNT });
  const ended = await hold("account", ACCOUNT);
  await lift(ended);
  const { journal, entries } = memoryJournal();
  // The replay runs after the pass has listed the hold, and before the pass appends its journal entry.
  const destroy = async (): Promise<void> => {
    await replayEnd(ended);
    return system.secrets.destroy(holdSecretName(ended));
  };
  const secrets = { findMissing: async () => [], destroy } as unknown as Secrets;
  await destroyHoldSecrets(owner as Executor as Connection, { ...system, secrets, journal });
  expect(entries.size).toBe(0);
});
