import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import type { System } from "../../runtime/system.ts";
import { Unavailable } from "../../base/ports.ts";
import { openPool } from "../postgres/database.ts";
import { openEventStore } from "./event-store.fixture.ts";
import { newEvent } from "./new-event.fixture.ts";
import { firstMissing, Partitions } from "./partitions.ts";

const DAY_MS = 86_400_000;
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS;

/** Each test uses different days, counted from today. */
const day = (number: number): number => TODAY + number * DAY_MS;

let database: TestDatabase;
let system: System;
let owner: OwnerClient;

beforeAll(async () => {
  database = await sharedDatabase();
  const environment = await database.environment();
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  await owner.query("update purpose set raw_retention = '30 days'");
});

afterAll(async () => {
  await owner?.end();
  await system?.close();
  await database?.close();
});

interface Row {
  readonly id: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The partitions of a purpose in the database, oldest first. */
async function partitionsOf(purpose = 1): Promise<Row[]> {
  const { rows } = await owner.query<Row>(
    `select partition_id as id, table_name as name, extract(epoch from lower_bound)::float8 * 1000 as from,
      extract(epoch from upper_bound)::float8 * 1000 as to from event_partition where purpose = $1 order by lower_bound`,
    [purpose],
  );
  return rows;
}

/** The tables that the system catalogs list as attached to `event`. */
async function attached(): Promise<string[]> {
  const text = "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'event'::regclass";
  return (await owner.query<{ name: string }>(text)).rows.map(({ name }) => name);
}

describe("a partition of events", () => {
  it("is created on demand, and afterwards is known without a query", async () => {
    const partitions = new Partitions(system.pool);
    const made = partitions.find(1, day(1) + 1);
    expect(made).toBeInstanceOf(Promise);
    const { secret } = await made;
    expect(partitions.find(1, day(1))).toMatchObject({ secret });
    expect(partitions.find(1, day(2) - 1)).toMatchObject({ secret });
    expect((await partitions.find(1, day(2))).secret, "the day after is another").not.toBe(secret);
    expect(await new Partitions(system.pool).find(1, day(1))).toMatchObject({ secret });
  });

  it("contains one day of UTC, in any time zone of the session", async () => {
    const zones = ["UTC", "Pacific/Kiritimati", "America/St_Johns"];
    for (const [index, zone] of zones.entries()) {
      const pool = openPool(
        { ...system.database, options: `${system.database.options} -c timezone=${zone}` },
        { max: 1, onError: () => {} },
      );
      const at = day(3 + index);
      await new Partitions(pool).ensure(1, at + DAY_MS - 1);
      await pool.end();
      expect(
        (await partitionsOf()).find(({ from }) => from === at),
        zone,
      ).toMatchObject({
        to: at + DAY_MS,
        name: `event_p1_${new Date(at).toISOString().slice(0, 10).replaceAll("-", "")}`,
      });
    }
  });

  it("has the indexes, the immutability and the storage settings of the whole table, and grants no privileges", async () => {
    const partitions = new Partitions(system.pool);
    await partitions.ensure(1, day(6));
    const name = (await partitionsOf()).find(({ from }) => from === day(6))?.name;
    const { rows } = await owner.query(
      `select (select count(*)::int from pg_index where indrelid = c.oid) = (select count(*)::int from pg_index where indrelid = 'event'::regclass) as indexes,
        (select array_agg(tgname::text) from pg_trigger where tgrelid = c.oid) as triggers,
        (select attstorage from pg_attribute where attrelid = c.oid and attname = 'payload') as storage,
        c.reloptions as options, c.relacl as rights
       from pg_class c where c.oid = $1::regclass`,
      [name],
    );
    expect(rows).toEqual([
      {
        indexes: true,
        triggers: ["event_is_immutable"],
        storage: "e",
        options: ["toast_tuple_target=8160"],
        rights: null,
      },
    ]);
  });

  it("belongs to one purpose", async () => {
    await owner.query("insert into purpose (code, id, title, raw_retention) values (2, 'second', 'Second', '30 days')");
    const partitions = new Partitions(system.pool);
    const first = await partitions.find(1, day(7));
    const second = await partitions.find(2, day(7));
    expect(second.secret).not.toBe(first.secret);
    expect(partitions.find(1, day(7))).toBe(first);
    expect((await partitionsOf(2)).map(({ id }) => id)).toEqual([second.secret]);
  });

  it("is not created for an unknown purpose", async () => {
    await expect(new Partitions(system.pool).ensure(99, day(1))).rejects.toThrow();
    expect(await attached()).not.toContainEqual(expect.stringContaining("p99"));
  });
});

describe("the length of a partition", () => {
  const lengths = [
    ["1 hour", 1 / 24],
    ["6 days", 1 / 24],
    ["7 days", 1],
    ["200 days", 1],
    ["1 year", 7],
    ["4 years", 7],
    ["10 years", 31],
    [null, 31],
  ] as const;

  async function lengthOf(purpose: number, at: number): Promise<number> {
    await new Partitions(system.pool).ensure(purpose, at);
    const found = (await partitionsOf(purpose)).find(({ from, to }) => from <= at && at < to);
    return ((found?.to ?? 0) - (found?.from ?? 0)) / DAY_MS;
  }

  async function addPurpose(code: number, period: string | null): Promise<void> {
    const text = "insert into purpose (code, id, title, raw_retention) values ($1, $2, 'Title', $3)";
    await owner.query(text, [code, `purpose-${code}`, period]);
  }

  it("follows the retention period, so that a purpose has at most about 200 partitions", async () => {
    for (const [index, [period, days]] of lengths.entries()) {
      await addPurpose(10 + index, period);
      const length = await lengthOf(10 + index, day(0));
      if (days === 31) expect(length, String(period)).toBeGreaterThanOrEqual(28);
      else expect(length, String(period)).toBe(days);
    }
  });

  it("is shorter if the next partition would overlap an existing one", async () => {
    await addPurpose(30, "30 days");
    const monday = day(0) + ((8 - new Date(day(0)).getUTCDay()) % 7) * DAY_MS;
    expect(await lengthOf(30, monday)).toBe(1);
    await owner.query("update purpose set raw_retention = '1 year' where code = 30");
    expect(await lengthOf(30, monday + DAY_MS), "the rest of that week").toBe(1);
    expect(await lengthOf(30, monday + 7 * DAY_MS), "the week after").toBe(7);
  });
});

describe("the creation of partitions ahead of time", () => {
  it("makes the partitions of today and of the following days, without gaps, once", async () => {
    const partitions = new Partitions(system.pool);
    await partitions.prepare(2, day(0) + DAY_MS / 2, 7);
    const made = await partitionsOf(2);
    expect(made.map(({ from }) => from)).toEqual(Array.from({ length: 8 }, (_, index) => day(index)));
    for (const { from, to } of made) expect(to - from).toBe(DAY_MS);
    for (const { from, id } of made) expect(partitions.find(2, from)).toMatchObject({ secret: id });
    await partitions.prepare(2, day(0), 7);
    expect(await partitionsOf(2)).toEqual(made);
  });

  it("takes no lock for which ingestion would have to wait, and does not wait for ingestion", async () => {
    const store = await openEventStore(system, { partitions: new Partitions(system.pool) });
    await store.append(newEvent({ receivedAt: day(8) }));
    await owner.query("begin");
    try {
      // The transaction has inserted an event, as a running batch does.
      await owner.query(
        `insert into event select account, purpose, received_at + interval '1 second', event_id, collected_at,
        schema_version, idempotency_key, action_id, action_type, session_id, event_type, sdk_version, platform, app_version, payload, key_id
        from event where received_at = $1`,
        [new Date(day(8)).toISOString()],
      );
      const pool = openPool(
        { ...system.database, options: `${system.database.options} -c lock_timeout=2s` },
        { max: 1, onError: () => {} },
      );
      await new Partitions(pool).ensure(1, day(9));
      await pool.end();
      expect(await store.append(newEvent({ receivedAt: day(9) }))).toBe("stored");
    } finally {
      await owner.query("rollback");
      await store.close();
    }
  });

  it("by several instances at once makes one partition a day", async () => {
    const pools = Array.from({ length: 5 }, () => openPool(system.database, { max: 2, onError: () => {} }));
    for (let round = 0; round < 6; round++) {
      const at = day(10 + round);
      const ids = await Promise.all(
        pools.flatMap((pool) => [new Partitions(pool).ensure(1, at), new Partitions(pool).ensure(1, at + 1)]),
      );
      expect(new Set(ids.map(({ secret }) => secret)).size).toBe(1);
    }
    await Promise.all(pools.map((pool) => pool.end()));
    const days = (await partitionsOf()).map(({ from }) => from);
    expect(new Set(days).size).toBe(days.length);
  });
});

describe("partitions of far dates", () => {
  it.each([
    ["days ago", -4],
    ["weeks ahead", 34],
    ["before 1970", -30_000],
    ["in the year 9999", 2_900_000],
  ])("are rejected, and not created: %s", async (_, number) => {
    const before = await attached();
    const refused = new Partitions(system.pool).ensure(1, day(number));
    await expect(refused).rejects.toThrow(/no partition may be made/);
    await expect(refused).rejects.toMatchObject({ code: "partition-missing" });
    expect(await attached()).toEqual(before);
  });

  it("are found if they exist", async () => {
    await owner.query("begin");
    const name = "event_p1_20200101";
    await owner.query(`create table ${name} (like event including all)`);
    await owner.query(
      `alter table event attach partition ${name} for values from (1, '2020-01-01Z') to (1, '2020-01-02Z')`,
    );
    await owner.query(
      `insert into event_partition (purpose, lower_bound, upper_bound, table_name) values (1, '2020-01-01Z', '2020-01-02Z', '${name}')`,
    );
    await owner.query("commit");
    const existing = (await partitionsOf()).find((row) => row.name === name);
    expect(await new Partitions(system.pool).find(1, Date.parse("2020-01-01T12:00:00Z"))).toMatchObject({
      secret: existing?.id,
    });
    await expect(new Partitions(system.pool).ensure(1, Date.parse("2020-01-02T00:00:00Z"))).rejects.toThrow();
  });
});

it("events are stored in the partition of their time", async () => {
  const partitions = new Partitions(system.pool);
  const store = await openEventStore(system, { partitions });
  const times = [day(20), day(21) - 1, day(21), day(21) + 1, day(22) - 1, day(22)];
  const events = times.map((receivedAt) => newEvent({ receivedAt }));
  await Promise.all(events.map((event) => store.append(event)));
  await store.close();
  const names = new Map((await partitionsOf()).map(({ from, name }) => [from, name]));
  for (const { eventId, receivedAt } of events) {
    const { rows } = await owner.query("select tableoid::regclass::text as name from event where event_id = $1", [
      eventId,
    ]);
    expect(rows).toEqual([{ name: names.get(Math.floor(receivedAt / DAY_MS) * DAY_MS) }]);
  }
});

it("a database error of the partitions is reported as Unavailable", async () => {
  const partitions = new Partitions({
    query: () => Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })),
  });
  await expect(partitions.find(1, day(0))).rejects.toBeInstanceOf(Unavailable);
});

describe("the first partition that was not made in advance", () => {
  const range = (from: number, days: number) => ({ purpose: 1, lower_ms: day(from), upper_ms: day(from + days) });
  const now = day(0) + 1;

  it("is that of now, or the one after the last", () => {
    expect(firstMissing([range(1, 1)], 1, now)).toBe(now);
    expect(firstMissing([range(0, 1), range(1, 1)], 1, now)).toBe(day(2));
    expect(firstMissing([range(0, 30)], 2, now)).toBe(now);
  });

  it("is none if all are there, or if the next begins later than partitions are made", () => {
    const days = Array.from({ length: 8 }, (_, index) => range(index, 1));
    expect(firstMissing(days, 1, now)).toBeUndefined();
    expect(firstMissing(days.slice(0, 7), 1, now)).toBeUndefined();
    expect(firstMissing(days.slice(0, 6), 1, now)).toBe(day(6));
    expect(firstMissing([range(0, 9)], 1, now)).toBeUndefined();
    expect(firstMissing([range(-23, 30)], 1, now)).toBe(day(7));
  });
});
