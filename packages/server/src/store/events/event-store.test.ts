import type { KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import type { System } from "../../runtime/system.ts";
import { Dependencies } from "../../base/dependencies/dependencies.ts";
import { Monitor } from "../../base/dependencies/monitor.ts";
import { type LedgerEntry, type NewEvent, Unavailable } from "../../base/ports.ts";
import { decodeRecord } from "../audit-record/record.ts";
import { macOf } from "../crypto/mac.ts";
import { uuidBytes } from "../crypto/pseudonymizer.ts";
import { uuidArray } from "../postgres/binary-array.ts";
import { withDeadlineOf } from "../postgres/database.ts";
import type { Executor } from "../postgres/executor.ts";
import { PostgresProbe } from "../postgres/postgres-probe.ts";
import { commitBatch } from "./commit-batch.ts";
import { openEventStore } from "./event-store.fixture.ts";
import type { EventStoreOptions, PostgresEventStore } from "./event-store.ts";
import { newEvent } from "./new-event.fixture.ts";
import { Partitions } from "./partitions.ts";

const DAY_MS = 86_400_000;

let database: TestDatabase;
let environment: Record<string, string>;
let system: System;
let owner: OwnerClient;
let store: PostgresEventStore;
let errors: unknown[];
let batches: number[];

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
});

afterAll(async () => {
  await owner?.end();
  await system?.close();
  await database?.close();
});

const openStore = (options: Partial<EventStoreOptions> = {}): Promise<PostgresEventStore> =>
  openEventStore(system, {
    partitions: new Partitions(system.pool),
    onError: (error) => errors.push(error),
    onBatch: (events) => batches.push(events),
    ...options,
  });

beforeEach(async () => {
  errors = [];
  batches = [];
  store = await openStore();
});

afterEach(() => store.close());

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

/** Returns the ids of those given events that are stored, one id for each stored row. */
async function storedIds(events: readonly NewEvent[]): Promise<string[]> {
  const ids = uuidArray(events.map(({ eventId }) => eventId));
  const { rows } = await owner.query<{ event_id: string }>(
    "select event_id from event where event_id = any ($1::uuid[])",
    [ids],
  );
  return rows.map((row) => row.event_id).toSorted();
}

const idsOf = (events: readonly NewEvent[]): string[] => events.map(({ eventId }) => eventId).toSorted();

const ledgerOf = (event: NewEvent): LedgerEntry => ({
  eventId: event.eventId,
  requestMac: event.requestMac,
  location: { purpose: event.purpose, receivedAt: event.receivedAt },
});

describe("an event in the store", () => {
  it("is read as it was stored", async () => {
    const event = newEvent({
      account: "é \u{1F600} '\"\\",
      idempotencyKey: "~".repeat(128),
      actionId: "\u{1F600}".repeat(128),
      actionType: "x".repeat(64),
      sessionId: "\u{10FFFF}".repeat(128),
      sdkVersion: "1".repeat(32),
      platform: "ios",
      appVersion: "NULL",
      collectedAt: { epochMs: Date.parse("2026-02-28T23:59:59.123Z"), micros: 456 },
      sealed: { ...newEvent().sealed, payload: Buffer.alloc(300_000, 7) },
    });
    expect(await store.append(event)).toBe("stored");
    const { collectedAt: _, requestMac: __, policyVersion: ___, sealed, ...same } = event;
    expect(await store.findStored(event.account, event.idempotencyKey)).toEqual({
      ...same,
      payload: sealed.payload,
      sealedUnder: { keyId: sealed.keyId },
      collectedAt: "2026-02-28T23:59:59.123456Z",
    });
    expect(await store.findKey(event.account, event.idempotencyKey)).toEqual(ledgerOf(event));
  });

  it("is found only by its account and its idempotency key", async () => {
    const event = newEvent();
    await store.append(event);
    expect(await store.findKey("another", event.idempotencyKey)).toBeUndefined();
    expect(await store.findKey(event.account, `${event.idempotencyKey} `)).toBeUndefined();
    expect(await store.findStored("another", event.idempotencyKey)).toBeUndefined();
  });

  it("is found with others by one statement, of which each gets its own ledger row or tombstone", async () => {
    const events = range(20).map((index) => newEvent({ account: `looked up ${index % 3}` }));
    await Promise.all(events.map((event) => store.append(event)));
    const erased = newEvent();
    const { account, idempotencyKey, eventId, requestMac } = erased;
    const masked = system.pseudonymizer.mask(account, idempotencyKey, uuidBytes(eventId));
    await owner.query("insert into tombstone (name_mac, masked_event_id, request_mac) values ($1, $2, $3)", [
      system.pseudonymizer.tombstoneNameOf(account, idempotencyKey),
      masked,
      requestMac,
    ]);
    let statements = 0;
    const executor = {
      query: (text: string, values?: readonly unknown[]) => {
        statements++;
        return system.pool.query(text, values as unknown[]);
      },
    };
    await store.close();
    store = await openStore({ executor: executor as Executor });
    const asked = [newEvent(), ...events.toReversed(), erased];
    const found = await Promise.all(asked.map((event) => store.findKey(event.account, event.idempotencyKey)));
    expect(found).toEqual([undefined, ...events.toReversed().map(ledgerOf), { eventId, requestMac }]);
    expect(statements).toBe(1);
  });

  it("is not stored if its idempotency key is in use, and the store returns the ledger row of the first event", async () => {
    const first = newEvent();
    const second = newEvent({ idempotencyKey: first.idempotencyKey });
    const elsewhere = newEvent({ idempotencyKey: first.idempotencyKey, account: "another" });
    expect(await store.append(first)).toBe("stored");
    expect(await store.append(second)).toEqual(ledgerOf(first));
    expect(await store.append(elsewhere)).toBe("stored");
    expect(await storedIds([first, second, elsewhere])).toEqual(idsOf([first, elsewhere]));
  });
});

describe("a commit batch", () => {
  it("contains the events that arrived together, and one audit entry lists them", async () => {
    const events = range(40).map((index) => newEvent({ account: `batch-${index % 3}` }));
    expect(await Promise.all(events.map((event) => store.append(event)))).toEqual(events.map(() => "stored"));
    expect(batches).toEqual([40]);
    const { rows } = await owner.query<Record<string, unknown> & { subjects: Buffer[]; event_ids: string[] }>(
      "select actor, operation, outcome, occurrences::int, subjects, event_ids from audit_entry where $1 = any (event_ids)",
      [events[0]?.eventId],
    );
    expect(rows).toHaveLength(1);
    const [entry] = rows;
    expect(entry).toMatchObject({ actor: "endpoint", operation: "event.create", outcome: "accepted", occurrences: 40 });
    const listed = new Map(entry?.event_ids.map((id, index) => [id, entry.subjects[index]]));
    expect(listed).toEqual(new Map(events.map(({ eventId, account }) => [eventId, system.audit.subjectOf(account)])));
  });

  it("is an entry in the chain of its connection, signed with the key of ingestion", async () => {
    const lane = system.audit.lane();
    const alone = await openEventStore(system, { newLane: () => lane });
    const events = range(3).map(() => newEvent());
    for (const event of events) await alone.append(event);
    await alone.close();
    const { rows } = await owner.query<{ record: Buffer; mac: Buffer; lane_number: string }>(
      "select record, mac, lane_number from audit_entry where event_ids && $1::uuid[] order by lane_number",
      [uuidArray(events.map(({ eventId }) => eventId))],
    );
    expect(rows).toHaveLength(3);
    const records = rows.map(({ record }) => decodeRecord(record));
    for (const [index, { record, mac }] of rows.entries()) {
      expect(macOf(system.audit.surfaces.ingest as KeyObject, record)).toEqual(mac);
      const previous = rows[index - 1];
      expect(records[index]).toMatchObject({
        surface: "ingest",
        outcome: "accepted",
        place: { number: index + 1 },
        eventIds: [events[index]?.eventId],
      });
      expect(records[index]?.previous?.mac).toEqual(previous?.mac);
    }
  });

  it("whose commit has an unknown outcome ends the chain, and the next chain names the last known entry", async () => {
    const client = new pg.Client({ ...system.database, pipeline: true });
    await client.connect();
    const lane = system.audit.lane();
    const isCommit = (text: unknown): boolean => text === "commit";
    const losesAnswer = {
      query: async (...args: [unknown]) => {
        const result = await (client.query as (...all: unknown[]) => Promise<unknown>)(...args);
        if (isCommit(args[0])) throw new Error("the connection was lost");
        return result;
      },
    } as unknown as pg.Client;
    const [known, lost, next] = [newEvent(), newEvent(), newEvent()];
    await commitBatch(client, [known], system.pseudonymizer, lane);
    await expect(commitBatch(losesAnswer, [lost], system.pseudonymizer, lane)).rejects.toThrow("lost");
    await commitBatch(client, [next], system.pseudonymizer, lane);
    await client.end();
    const recordOf = async ({ eventId }: NewEvent): Promise<ReturnType<typeof decodeRecord>> => {
      const text = "select record from audit_entry where event_ids = array[$1::uuid]";
      const { rows } = await owner.query<{ record: Buffer }>(text, [eventId]);
      return rows[0] && decodeRecord(rows[0].record);
    };
    const [first, second, third] = [await recordOf(known), await recordOf(lost), await recordOf(next)];
    expect(second?.place, "it was committed").toEqual({ lane: first?.place?.lane, number: 2 });
    expect(third?.place).toMatchObject({ number: 1 });
    expect(third?.previous).toMatchObject({ ...first?.place });
  });

  it("stores one of two events with the same idempotency key", async () => {
    const events = range(10).map((index) => newEvent({ idempotencyKey: `twice-${index % 5}` }));
    const outcomes = await Promise.all(events.map((event) => store.append(event)));
    expect(batches[0]).toBe(10);
    const winners = events.filter((_, index) => outcomes[index] === "stored");
    expect(new Set(winners.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(5);
    expect(winners).toHaveLength(5);
    for (const [index, event] of events.entries()) {
      if (outcomes[index] === "stored") continue;
      const winner = winners.find(({ idempotencyKey }) => idempotencyKey === event.idempotencyKey);
      expect((outcomes[index] as LedgerEntry).eventId).toBe(winner?.eventId);
    }
    expect(await storedIds(events)).toEqual(idsOf(winners));
  });

  it("stores neither an event nor an audit entry if all its idempotency keys are in use", async () => {
    const first = range(5).map(() => newEvent());
    await Promise.all(first.map((event) => store.append(event)));
    const count = "select (select count(*) from audit_entry) + (select count(*) from event) as count";
    const before = await owner.query(count);
    const again = first.map(({ idempotencyKey }) => newEvent({ idempotencyKey }));
    expect(await Promise.all(again.map((event) => store.append(event)))).toEqual(first.map(ledgerOf));
    expect((await owner.query(count)).rows).toEqual(before.rows);
  });

  it("has at most 64 events", async () => {
    const events = range(200).map(() => newEvent());
    await Promise.all(events.map((event) => store.append(event)));
    expect(Math.max(...batches)).toBeLessThanOrEqual(64);
    expect(batches.reduce((sum, size) => sum + size, 0)).toBe(200);
    expect(await storedIds(events)).toEqual(idsOf(events));
  });
});

describe("one bad row of a batch", () => {
  const badRows: readonly (readonly [what: string, change: Partial<NewEvent>, isPassing: boolean])[] = [
    ["breaks a check", { actionType: "x".repeat(65) }, false],
    ["holds U+0000", { appVersion: "\0" }, false],
    ["has no partition and may have none", { receivedAt: Date.now() + 400 * DAY_MS }, true],
    ["is of a purpose that is not there", { purpose: 99 }, false],
    ["was collected in a year that PostgreSQL can't store", { collectedAt: { epochMs: -8.64e15, micros: 0 } }, false],
  ];
  it.each(badRows)("that %s fails alone, and does not use its key", async (_, change, isPassing) => {
    const events = range(12).map(() => newEvent());
    const spoilt = newEvent(change);
    const outcomes = await Promise.allSettled(events.toSpliced(5, 0, spoilt).map((event) => store.append(event)));
    expect(batches[0], "they were in one batch").toBe(13);
    expect(outcomes.map(({ status }) => status)).toEqual(
      range(13).map((index) => (index === 5 ? "rejected" : "fulfilled")),
    );
    expect((outcomes[5] as PromiseRejectedResult).reason instanceof Unavailable, "passing trouble").toBe(isPassing);
    expect(await storedIds([...events, spoilt])).toEqual(idsOf(events));
    expect(await store.findKey(spoilt.account, spoilt.idempotencyKey)).toBeUndefined();
    expect(await store.append(newEvent({ idempotencyKey: spoilt.idempotencyKey }))).toBe("stored");
  });

  it("fails alone, even if the batch has another bad row", async () => {
    const events = range(20).map((index) => newEvent(index % 6 === 3 ? { sdkVersion: "" } : {}));
    const outcomes = await Promise.allSettled(events.map((event) => store.append(event)));
    const good = events.filter((_, index) => index % 6 !== 3);
    expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(events.map((_, index) => index % 6 !== 3));
    expect(await storedIds(events)).toEqual(idsOf(good));
  });

  it("gets no audit entry, and each other row has one", async () => {
    const events = [newEvent(), newEvent({ platform: "x".repeat(17) }), newEvent()];
    await Promise.allSettled(events.map((event) => store.append(event)));
    const { rows } = await owner.query<{ id: string }>(
      "select unnest(event_ids) as id from audit_entry where event_ids && $1::uuid[]",
      [uuidArray(events.map(({ eventId }) => eventId))],
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(idsOf([events[0] as NewEvent, events[2] as NewEvent]));
  });
});

describe("a missing partition", () => {
  it("is created, and the batch is stored at the next attempt", async () => {
    const later = Date.now() + 20 * DAY_MS;
    const events = [newEvent(), newEvent({ receivedAt: later }), newEvent({ receivedAt: later + DAY_MS })];
    expect(await Promise.all(events.map((event) => store.append(event)))).toEqual(["stored", "stored", "stored"]);
    expect(batches).toEqual([3, 3]);
    expect(await storedIds(events)).toEqual(idsOf(events));
  });

  it("is created once, even if several stores need it at the same time", async () => {
    const later = Date.now() + 25 * DAY_MS;
    const stores = [store, ...(await Promise.all(range(3).map(() => openStore())))];
    const events = range(40).map(() => newEvent({ receivedAt: later }));
    const outcomes = await Promise.all(events.map((event, index) => stores[index % 4]?.append(event)));
    expect(outcomes).toEqual(events.map(() => "stored"));
    await Promise.all(stores.slice(1).map((other) => other.close()));
  });
});

describe("idempotency keys that are claimed at the same time", () => {
  it("by two stores in opposite order have one winner each, without a deadlock", async () => {
    const stores = [await openStore(), await openStore()];
    for (let round = 0; round < 15; round++) {
      const forth = range(60).map((index) => newEvent({ idempotencyKey: `opposite-${round}-${index}` }));
      const back = forth.map(({ idempotencyKey }) => newEvent({ idempotencyKey })).toReversed();
      const [first, second] = await Promise.all(
        [forth, back].map((events, index) => Promise.all(events.map((event) => stores[index]?.append(event)))),
      );
      const winners = [...forth, ...back].filter(
        (_, index) => [...(first ?? []), ...(second ?? [])][index] === "stored",
      );
      expect(new Set(winners.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(60);
      expect(winners).toHaveLength(60);
      expect(await storedIds([...forth, ...back])).toEqual(idsOf(winners));
    }
    expect(errors).toEqual([]);
    await Promise.all(stores.map((other) => other.close()));
  });

  it("that two transactions outside of the store claim in opposite order are waited for in turn, without a deadlock", async () => {
    const clients = await Promise.all(
      range(2).map(async () => {
        const client = new pg.Client({ ...system.database, pipeline: true });
        await client.connect();
        return client;
      }),
    );
    // The function is slow enough that both transactions run at the same time.
    await owner.query(`create or replace function slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.002); return new; end $$`);
    await owner.query("create trigger slow before insert on idempotency_key for each row execute function slow()");
    try {
      const forth = range(60).map(() => newEvent());
      const back = forth.map(({ idempotencyKey }) => newEvent({ idempotencyKey })).toReversed();
      const [first, second] = await Promise.all(
        [forth, back].map((events, at) =>
          commitBatch(clients[at] as pg.Client, events, system.pseudonymizer, system.audit.lane()),
        ),
      );
      expect([...new Set(first)]).toHaveLength(1);
      expect([...new Set(second)]).toEqual([first?.[0] === "stored" ? "taken" : "stored"]);
    } finally {
      await owner.query("drop trigger slow on idempotency_key");
      await Promise.all(clients.map((client) => client.end()));
    }
  });

  it("that a transaction claimed before it was rolled back are free for an event that waits", async () => {
    const [mine, theirs] = [newEvent(), newEvent()];
    await holdKey(mine, theirs);
    const answer = store.append(mine);
    await sleep(100);
    await owner.query("rollback");
    expect(await answer).toBe("stored");
  });

  it("that a transaction claimed before it was committed are answered with the ledger row of its event", async () => {
    const [mine, theirs] = [newEvent(), newEvent()];
    await holdKey(mine, theirs);
    const answer = store.append(mine);
    await sleep(100);
    await owner.query("commit");
    expect(await answer).toEqual(ledgerOf({ ...theirs, idempotencyKey: mine.idempotencyKey }));
    expect(await storedIds([mine])).toEqual([]);
  });

  it("of a committed transaction that is not visible at once are looked up again", async () => {
    const first = newEvent();
    await store.append(first);
    let hidden = 2;
    const other = await openStore({
      executor: {
        query: async (text, values) =>
          hidden-- > 0 ? ({ rows: [] } as never) : system.pool.query(text, values as unknown[]),
      },
    });
    expect(await other.append(newEvent({ idempotencyKey: first.idempotencyKey }))).toEqual(ledgerOf(first));
    await other.close();
  });

  async function holdKey({ account, idempotencyKey }: NewEvent, theirs: NewEvent): Promise<void> {
    await owner.query("begin");
    await owner.query("insert into idempotency_key values ($1, $2, $3, $4, $5, $6, $7)", [
      account,
      idempotencyKey,
      theirs.eventId,
      theirs.purpose,
      new Date(theirs.receivedAt).toISOString(),
      theirs.requestMac,
      theirs.sealed.keyId,
    ]);
  }
});

describe("the event store during a transient failure", () => {
  it("reports a cut connection as Unavailable or continues, and every answered event is stored", async () => {
    await store.append(newEvent());
    await owner.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'drs' and datname = current_database()",
    );
    const events = range(10).map(() => newEvent());
    const outcomes = await Promise.allSettled(events.map((event) => store.append(event)));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(Unavailable);
      else expect(await storedIds([events[index] as NewEvent])).toHaveLength(1);
    }
    // A client's retry, with the same key and a new event.
    const retry = async ({ idempotencyKey }: NewEvent): Promise<void> => {
      const again = newEvent({ idempotencyKey });
      const append = () => store.append(again).catch(() => undefined);
      await expect.poll(append, { timeout: 10_000 }).toBeDefined();
    };
    await Promise.all(events.map(retry));
    const { rows } = await owner.query(
      "select count(*)::int as count, count(distinct idempotency_key)::int as keys from event where idempotency_key = any ($1)",
      [events.map(({ idempotencyKey }) => idempotencyKey)],
    );
    expect(rows).toEqual([{ count: 10, keys: 10 }]);
    // The pool lost its connections as well. If it has not noticed this, the statements fail here, not in the next
    // test.
    await Promise.allSettled(range(system.pool.totalCount).map(() => system.pool.query("select")));
  });

  it("stores no event that was accepted before a dependency failed, on any connection", async () => {
    let canStore = true;
    await store.close();
    store = await openStore({ canStore: () => canStore });
    await store.append(newEvent());
    canStore = false;
    const event = newEvent();
    await expect(store.append(event), "on the connection from before").rejects.toThrow(Unavailable);
    await store.close();
    store = await openStore({ canStore: () => canStore });
    await expect(store.append(event)).rejects.toThrow(Unavailable);
    expect(await storedIds([event])).toEqual([]);
  });

  it("ends a connection that is being opened when the store closes", async () => {
    const closing = await openStore({ database: { ...system.database, application_name: "closing" } });
    const appended = closing.append(newEvent()).catch(() => undefined);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await closing.close();
    await appended;
    const count = async (): Promise<unknown> =>
      (await owner.query("select from pg_stat_activity where application_name = 'closing'")).rowCount;
    await expect.poll(count).toBe(0);
  });

  it("rejects early after the first failed commit, until its monitor reports that the database is available again", async () => {
    const dependencies = new Dependencies(2_000);
    const dependency = dependencies.get("database");
    const watchedDatabase = { ...withDeadlineOf(dependency, system.database), application_name: "watched" };
    const monitor = new Monitor(dependency, new PostgresProbe({ dependency, database: watchedDatabase }));
    const watched = await openStore({ database: watchedDatabase, canStore: () => dependencies.canStore });
    try {
      expect(await watched.append(newEvent())).toBe("stored");
      await owner.query("begin; lock table idempotency_key in exclusive mode");
      const waiting = watched.append(newEvent()).then(
        () => undefined,
        (error: unknown) => ({ error, available: watched.available }),
      );
      const cut = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'watched'";
      await expect
        .poll(async () => (await owner.query(`${cut} and wait_event_type = 'Lock'`)).rowCount, { interval: 20 })
        .toBe(1);
      expect(await waiting).toEqual({ error: expect.any(Unavailable), available: false });
      await owner.query("rollback");
      await expect.poll(() => watched.available, { timeout: 5_000 }).toBe(true);
      expect(await watched.append(newEvent())).toBe("stored");
    } finally {
      await owner.query("rollback");
      await watched.close();
      await monitor.close();
    }
  });
});
