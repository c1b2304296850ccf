import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import { uuidv7 } from "../../base/identifiers/uuidv7.ts";
import type { System } from "../../runtime/system.ts";
import type { NewEvent } from "../../base/ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { openEventStore } from "./event-store.fixture.ts";
import { newEvent, TEST_KEY } from "./new-event.fixture.ts";
import { countEvents, countQuery } from "./count-events.ts";
import { findPartitions, type Span, spansOf } from "./partition-slices.ts";
import { type EventFilter, listEvents, listQuery } from "./list-events.ts";
import { findEvent, receivedAtOf } from "./read-events.ts";

const DAY_MS = 86_400_000;
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS;

/** The columns of an event that a copy has, too. */
const COPIED = `account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id,
  action_type, session_id, event_type, sdk_version, platform, app_version, payload`;

let database: TestDatabase;

beforeAll(async () => {
  database = await sharedDatabase();
});

afterAll(() => database?.close());

async function scene(): Promise<{ system: System; owner: pg.Client; close: () => Promise<void> }> {
  const environment = await database.environment();
  const system = await openTestSystem(environment);
  const owner = await connectAsOwner(environment);
  return {
    system,
    owner,
    async close() {
      await owner.end();
      await system.close();
    },
  };
}

describe("the list of events", () => {
  let system: System;
  let owner: pg.Client;
  let close: () => Promise<void>;
  /** The stored events, newest first. */
  let events: NewEvent[];

  beforeAll(async () => {
    ({ system, owner, close } = await scene());
    await owner.query(
      "insert into purpose (code, id, title) values (2, 'second', 'Second'); update purpose set raw_retention = '100 days'",
    );
    const store = await openEventStore(system);
    // The events cover three days and two purposes. Many have the same millisecond.
    events = Array.from({ length: 120 }, (_, index) =>
      newEvent({
        receivedAt: TODAY + (index % 3) * DAY_MS + Math.floor(index / 12),
        purpose: 1 + (index % 2),
        account: `account-${index % 4}`,
        actionId: `action-${index % 5}`,
        actionType: `type-${index % 3}`,
        sdkVersion: `1.0.${index % 2}`,
        schemaVersion: 1 + (index % 7 === 0 ? 1 : 0),
      }),
    );
    await Promise.all(events.map((event) => store.append(event)));
    await store.close();
    events.sort((a, b) => b.receivedAt - a.receivedAt || (a.eventId < b.eventId ? 1 : -1));
  });

  afterAll(() => close?.());

  const filters: readonly (readonly [string, EventFilter, (event: NewEvent) => boolean])[] = [
    ["everything", {}, () => true],
    ["by account", { account: "account-1" }, (event) => event.account === "account-1"],
    ["by action", { actionId: "action-2" }, (event) => event.actionId === "action-2"],
    ["by action type", { actionType: "type-0" }, (event) => event.actionType === "type-0"],
    ["by SDK version", { sdkVersion: "1.0.1" }, (event) => event.sdkVersion === "1.0.1" && event.schemaVersion === 1],
    [
      "by SDK and schema version",
      { sdkVersion: "1.0.1", schemaVersion: 2 },
      (event) => event.sdkVersion === "1.0.1" && event.schemaVersion === 2,
    ],
    [
      "by account and action type",
      { account: "account-1", actionType: "type-0" },
      (event) => event.account === "account-1" && event.actionType === "type-0",
    ],
    ["of an account that has none", { account: "unknown" }, () => false],
  ];

  it.each(filters)("has all of them, newest first: %s", async (_, filter, fits) => {
    const rows = await listEvents(system.pool, filter, 1_000);
    expect(rows.map((row) => row.event_id)).toEqual(events.filter(fits).map(({ eventId }) => eventId));
  });

  it.each(filters)("has each event once, page by page: %s", async (_, filter, fits) => {
    const listedIds: string[] = [];
    for (;;) {
      const page = await listEvents(system.pool, filter, 7, listedIds.at(-1));
      expect(page.length).toBeLessThanOrEqual(7);
      listedIds.push(...page.map((row) => row.event_id));
      if (page.length < 7) break;
    }
    expect(listedIds).toEqual(events.filter(fits).map(({ eventId }) => eventId));
  });

  const DAYS = [0, 1, 2].map((day) => ({ from: TODAY + day * DAY_MS, to: TODAY + (day + 1) * DAY_MS }));
  const countDays = (filter: EventFilter, max = 1_000) =>
    countEvents(system.pool, { now: () => 0 }, { filter, buckets: DAYS, max, timeMs: 1 });

  it.each(filters)("is counted by day: %s", async (_, filter, fits) => {
    const expected = DAYS.map(({ from, to }) => {
      const ofDay = events.filter((event) => fits(event) && event.receivedAt >= from && event.receivedAt < to);
      return { from, to, events: ofDay.length, more: false };
    });
    expect(await countDays(filter)).toEqual(expected);
  });

  it("is counted up to a maximum, and says that there are more", async () => {
    const counts = await countDays({}, 39);
    expect(counts.map(({ events: counted, more }) => [counted, more])).toEqual(DAYS.map(() => [39, true]));
    const exact = await countDays({}, 40);
    expect(exact.map(({ events: counted, more }) => [counted, more])).toEqual(DAYS.map(() => [40, false]));
  });

  it("has an event once in a count while its partition and a copy have it", async () => {
    const [{ account, eventId }] = events as [NewEvent];
    const holdId = uuidv7(TODAY);
    await owner.query("begin");
    await owner.query(
      `insert into legal_hold (hold_id, account, reason, approver, review_on, placed_at, placed_by)
        values ($1, $2, 'r', 'a', '2030-01-01', now(), 'p')`,
      [holdId, account],
    );
    await owner.query(
      `insert into held_event (${COPIED}, hold_id) select ${COPIED}, $1 from event where event_id = $2`,
      [holdId, eventId],
    );
    await owner.query("set local role drs_service");
    const counts = await countEvents(
      owner as Executor,
      { now: () => 0 },
      { filter: {}, buckets: DAYS, max: 1_000, timeMs: 1 },
    );
    await owner.query("rollback");
    expect(counts.map(({ events: counted }) => counted)).toEqual([40, 40, 40]);
  });

  it("continues after an event that was deleted", async () => {
    const rows = await listEvents(system.pool, {}, 5, uuidv7(TODAY + DAY_MS - 1));
    expect(rows.map((row) => row.event_id)).toEqual(
      events
        .filter(({ receivedAt }) => receivedAt < TODAY + DAY_MS)
        .slice(0, 5)
        .map(({ eventId }) => eventId),
    );
  });

  it.each<[string, EventFilter]>([
    ["an account", { account: "account-1" }],
    ["an action", { actionId: "action-2" }],
  ])("is read by statements that a connection prepares once: of %s", async (_, filter) => {
    const statements: unknown[] = [];
    const executor: Executor = {
      query: (text, values) => {
        statements.push(text);
        return system.pool.query(text as string, values as unknown[]);
      },
    };
    await listEvents(executor, filter, 7);
    expect(statements.filter((statement) => typeof statement === "string")).toEqual([]);
  });

  it("treats values that look like SQL as values", async () => {
    expect(await listEvents(system.pool, { account: "' or true --" }, 10)).toEqual([]);
  });

  it("finds one event by its id alone, with its payload", async () => {
    const [event] = events as [NewEvent];
    const { collectedAt: _, requestMac: __, policyVersion: ___, sealed, ...same } = event;
    const expected = { ...same, payload: sealed.payload, sealedUnder: { keyId: sealed.keyId } };
    expect(await findEvent(system.pool, event.eventId)).toMatchObject(expected);
    expect(await findEvent(system.pool, uuidv7(event.receivedAt))).toBeUndefined();
  });
});

it("a list of an account has an event that becomes a held copy between any two of its statements", async () => {
  const { system, owner, close } = await scene();
  const store = await openEventStore(system);
  const event = newEvent({ receivedAt: TODAY });
  expect(await store.append(event)).toBe("stored");
  await store.close();
  await owner.query(
    `insert into legal_hold (hold_id, account, reason, approver, review_on, placed_at, placed_by)
      values (gen_random_uuid(), $1, 'r', 'a', '2030-01-01', now(), 'p')`,
    [event.account],
  );
  let statements = Number.POSITIVE_INFINITY;
  for (let before = 0; before < statements; before++) {
    statements = 0;
    const executor: Executor = {
      async query(text, values) {
        if (statements++ === before) {
          await owner.query(
            `begin; insert into held_event (${COPIED}, hold_id) select ${COPIED}, (select hold_id from legal_hold) from event;
              delete from event; commit`,
          );
        }
        return system.pool.query(text, values as unknown[]);
      },
    };
    const listed = await listEvents(executor, { account: event.account }, 10);
    expect(
      listed.map(({ event_id }) => event_id),
      `before statement ${before}`,
    ).toEqual([event.eventId]);
    await owner.query(
      `begin; insert into event (${COPIED}, key_id) select ${COPIED}, '${TEST_KEY}' from held_event;
        delete from held_event; commit`,
    );
  }
  expect(statements).toBeGreaterThan(2);
  await close();
});

describe("the id of an event", () => {
  it("contains the millisecond of receipt", () => {
    for (const at of [0, 1, TODAY, TODAY + 123, 2 ** 47]) expect(receivedAtOf(uuidv7(at)).getTime()).toBe(at);
  });
});

/** A node of a plan, with its child nodes. */
interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

describe("each access pattern of events uses its index", () => {
  const DAYS = 3;
  const ROWS = 4_000;
  const FIRST_DAY = { from: TODAY, to: TODAY + DAY_MS };
  const HOUR = { from: TODAY, to: TODAY + 3_600_000 };
  const MOMENT = { from: TODAY, to: TODAY + 1 };
  let system: System;
  let owner: pg.Client;
  let close: () => Promise<void>;
  /** The index of `event` to which an index of a partition belongs. */
  let wholeOf: Map<string, string>;
  /** The id of an event in the middle of the newest partition. */
  let middle: string;

  beforeAll(async () => {
    ({ system, owner, close } = await scene());
    await owner.query("update purpose set raw_retention = '100 days'");
    await system.partitions.prepare(1, TODAY, DAYS - 1);
    await system.pool.query(
      "select ensure_account_keys(array['test-key-owner'], array[null]::bytea[], array[1], array[$1]::uuid[], 0)",
      [TEST_KEY],
    );
    await owner.query(
      `insert into event
        select 'account-' || i % 200, 1, at,
          (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(i), 15, '0'))::uuid,
          at, 1, 'key-' || i, 'action-' || i % 1000, 'type-' || i % 50, 'session', 'device_intel_collection', '1.0.' || i % 60,
          'android', '', decode(repeat('ab', 600), 'hex'), '${TEST_KEY}'
        from (select i, to_timestamp($1::float8 / 1000) + i * interval '21 seconds' as at
          from generate_series(1, $2::int) i) as g`,
      [TODAY, DAYS * ROWS],
    );
    await owner.query(
      `insert into idempotency_key (account, key, event_id, purpose, received_at, request_mac, key_id)
        select account, idempotency_key, event_id, purpose, received_at, '', key_id from event`,
    );
    await owner.query("analyze idempotency_key");
    const { rows } = await owner.query<{ part: string; whole: string; is_table: boolean }>(
      `select i.inhrelid::regclass::text as part, i.inhparent::regclass::text as whole, c.relkind = 'r' as is_table
        from pg_inherits i join pg_class c on c.oid = i.inhrelid`,
    );
    wholeOf = new Map(rows.map(({ part, whole }) => [part, whole]));
    // Analyses the partitions and not the whole table, as autovacuum does.
    for (const { part, is_table } of rows) if (is_table) await owner.query(`analyze ${part}`);
    const found = await owner.query<{ event_id: string }>(
      "select event_id from event order by received_at desc offset 2000 limit 1",
    );
    middle = found.rows[0]?.event_id ?? "";
  });

  afterAll(() => close?.());

  async function firstSpan(): Promise<Span> {
    const [span] = [...spansOf(await findPartitions(system.pool))];
    return span ?? { partitions: [] };
  }

  async function planOf({ text, values }: ReturnType<typeof listQuery | typeof countQuery>): Promise<Plan[]> {
    const { rows } = await system.pool.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
      `explain (format json) ${text}`,
      values,
    );
    return rows.flatMap((row) => nodesOf(row["QUERY PLAN"][0].Plan));
  }

  const nodesOfPage = async (filter: EventFilter, after?: string): Promise<Plan[]> =>
    planOf(listQuery(filter, await firstSpan(), 50, after));

  /** The indexes that are used to read a page. The test fails if a partition is read without an index. */
  function indexesOf(nodes: readonly Plan[]): string[] {
    const scanned = nodes.filter((node) => node["Relation Name"]?.startsWith("event"));
    expect(scanned.filter((node) => node["Node Type"].includes("Seq Scan"))).toEqual([]);
    expect(scanned.length).toBeGreaterThan(0);
    return nodes.flatMap((node) => wholeOf.get(node["Index Name"] ?? "") ?? []);
  }

  const patterns: readonly (readonly [string, EventFilter, string])[] = [
    ["account and received time", { account: "account-7" }, "event_pkey"],
    ["action_id and received time", { actionId: "action-7" }, "event_action_id"],
    ["action_type and received time", { actionType: "type-7" }, "event_action_type"],
    ["sdk_version with schema_version", { sdkVersion: "1.0.7" }, "event_sdk"],
    ["received time alone", {}, "event_pkey"],
    ["account, session and time", { account: "account-7", sessionId: "session", ...FIRST_DAY }, "event_pkey"],
    ["action_id and platform", { actionId: "action-7", platform: "ios" }, "event_action_id"],
    ["action_type and a span of a search", { actionType: "type-7", platform: "ios", ...HOUR }, "event_action_type"],
    ["purpose and a span of a search", { purpose: 1, platform: "ios", ...HOUR }, "event_pkey"],
    [
      "account and idempotency_key in its millisecond",
      { account: "account-7", idempotencyKey: "k", ...MOMENT },
      "event_pkey",
    ],
  ];

  it.each(patterns)("for the first page: %s", async (_, filter, index) => {
    expect(new Set(indexesOf(await nodesOfPage(filter)))).toEqual(new Set([index]));
  });

  it.each(patterns)("for a count: %s", async (_, filter, index) => {
    const nodes = await planOf(countQuery(filter, await firstSpan(), 1_001, true));
    expect(new Set(indexesOf(nodes))).toEqual(new Set([index]));
  });

  // In a partition of which the page leaves few events, PostgreSQL may read these by time.
  it.each(patterns)("for a later page: %s", async (_, filter, index) => {
    const indexes = indexesOf(await nodesOfPage(filter, middle));
    expect(indexes).toContain(index);
    expect(new Set([...indexes, "event_pkey"])).toEqual(new Set([index, "event_pkey"]));
  });

  it.each([undefined, "later"])("for the events of an account, by the keys in the ledger: %s page", async (page) => {
    const nodes = await nodesOfPage({ account: "account-7" }, page && middle);
    expect(nodes.map((node) => node["Index Name"])).toContain("idempotency_key_pkey");
    const conditions = nodes.filter((node) => wholeOf.has(node["Index Name"] ?? "")).map((node) => node["Index Cond"]);
    expect(conditions.length).toBeGreaterThan(0);
    expect(conditions.filter((condition) => !condition?.includes("event_id = i.event_id"))).toEqual([]);
  });

  /** @returns the nodes of the plan that a connection keeps for a statement, with any values. */
  async function nodesOfKeptPlan(filter: EventFilter, execute: string): Promise<Plan[]> {
    const client = await system.pool.connect();
    try {
      await client.query("set plan_cache_mode = force_generic_plan");
      await listEvents(client, filter, 50);
      const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
        `explain (format json) execute ${execute}`,
      );
      return rows.flatMap((row) => nodesOf(row["QUERY PLAN"][0].Plan));
    } finally {
      client.release(true);
    }
  }

  const PAGE = "'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '-infinity', 'infinity', null, 50";
  it.each([
    [{ account: "account-7" }, `ledger_page('account-7', ${PAGE})`, "idempotency_key_pkey"],
    [
      { account: "account-7" },
      "unrestricted_event_of_keys('account-7', '{1}', '{now}', array[gen_random_uuid()])",
      "event_pkey",
    ],
    [
      { account: "account-7", includeRestricted: true },
      "live_event_of_keys('account-7', '{1}', '{now}', array[gen_random_uuid()])",
      "event_pkey",
    ],
    [{ actionId: "action-7" }, `unrestricted_event_of_action('action-7', ${PAGE})`, "event_action_id"],
    [{ actionId: "action-7", includeRestricted: true }, `live_event_of_action('action-7', ${PAGE})`, "event_action_id"],
  ] as const)("for the plan that a connection keeps: %j, %s", async (filter, execute, index) => {
    const nodes = await nodesOfKeptPlan(filter, execute);
    const scanned = nodes.filter((node) => /^event|^idempotency_key/.test(node["Relation Name"] ?? ""));
    expect(scanned.filter((node) => node["Node Type"].includes("Seq Scan"))).toEqual([]);
    const used = nodes.flatMap((node) => node["Index Name"] ?? []).map((name) => wholeOf.get(name) ?? name);
    expect(used).toContain(index);
    expect(used.filter((name) => /^event|^idempotency_key/.test(name) && name !== index)).toEqual([]);
  });

  it("and an account with very many ledger rows is read by slices", async () => {
    await owner.query(
      `insert into idempotency_key (account, key, event_id, purpose, received_at, request_mac, key_id)
        select 'many', i::text, gen_random_uuid(), 1, now(), '', '${TEST_KEY}' from generate_series(1, 10001) i`,
    );
    const names: unknown[] = [];
    const watching: Executor = {
      query(statement, values) {
        names.push(typeof statement === "string" ? undefined : statement.name);
        return (system.pool as Executor).query(statement, values);
      },
    };
    expect(await listEvents(watching, { account: "many" }, 50)).toEqual([]);
    expect(names).not.toContain("ledger_page");
    expect(await listEvents(watching, { account: "account-7" }, 50)).toHaveLength(50);
    expect(names).toContain("ledger_page");
  });

  it("and a single event is found without reading a whole partition", async () => {
    const text = "select account from event where received_at = $1 and event_id = $2";
    const values = [receivedAtOf(middle).toISOString(), middle];
    const { rows } = await system.pool.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
      `explain (format json) ${text}`,
      values,
    );
    const nodes = rows.flatMap((row) => nodesOf(row["QUERY PLAN"][0].Plan));
    expect(nodes.filter((node) => node["Node Type"].includes("Seq Scan"))).toEqual([]);
  });
});
