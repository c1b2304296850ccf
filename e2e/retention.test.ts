/** Retention: an expired event is not read, then deleted with its secret; its idempotency key is deleted later. */
import { createHash } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { requireKeys } from "../packages/server/src/lifecycle/recovery/installation.ts";
import { expire } from "../packages/server/src/lifecycle/retention/expire.ts";
import { type PassState, RetentionWorker, runRetention } from "../packages/server/src/lifecycle/retention-worker.ts";
import { COUNTS, type Expired } from "../packages/server/src/lifecycle/retention/runs.ts";
import { partitionSecretName } from "../packages/server/src/crypto/sealer.ts";
import { Secrets } from "../packages/server/src/crypto/secrets.ts";
import { erasurePorts, type System } from "../packages/server/src/app/system.ts";
import { withClient } from "../packages/server/src/postgres/database.ts";
import type { Connection, Executor } from "../packages/server/src/postgres/executor.ts";
import { readWatermark } from "../packages/server/src/journal/key-store-watermark.ts";
import { recordDestroyedPartitions } from "../packages/server/src/lifecycle/recovery/destroyed-partitions.ts";
import { authorized, type Reply, send, transport } from "./support/client.ts";
import { command, objects, type Printed } from "./support/command.ts";
import {
  AWAITED_LOCKS,
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { moveIntoThePast } from "./support/past.ts";
import { applyPeriod as applyPolicyPeriod } from "./support/policy.ts";
import { Past } from "./support/past-event.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { type Credentials, type ServerProcess, startServer } from "./support/server.ts";
import { rounds } from "./support/soak.ts";

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let environment: Record<string, string>;
let system: System;
let owner: OwnerClient;
let server: ServerProcess;
let who: Credentials;
let folder: string;
let serving: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-retention-"));
  database = await sharedDatabase();
  environment = { ...(await database.environment()), DRS_REPLAY_WINDOW: "1h" };
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  await applyPeriod("P30D");
  // Its own passes come only where a test waits for them.
  serving = { ...environment, DRS_THROTTLE_RATE: "0", DRS_RETENTION_INTERVAL: "24h" };
  server = await startServer(serving);
  who = await makeCredentials(system, "one");
});

beforeEach(() => applyPeriod("P30D"));

afterAll(async () => {
  await server?.stop();
  await owner?.end();
  await system?.close();
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

const drs = (...args: readonly string[]): Promise<Printed> => command(environment, ...args);

const applyPeriod = (period: string): Promise<void> => applyPolicyPeriod(environment, folder, period);

interface Stored {
  readonly eventId: string;
  readonly request: Parameters<typeof send>[0];
}

/** The port is another after each start. */
const post = (request: Stored["request"]): Promise<Reply> => send({ ...request, url: server.url });

async function store(): Promise<Stored> {
  const request = { url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)) };
  const answer = await send(request);
  expect(answer.status, answer.text).toBe(201);
  return { eventId: String(answer.json["event_id"]), request };
}

async function listed(): Promise<unknown[]> {
  const { stdout } = await drs("event", "list", "--limit", "0", "--json");
  return objects(stdout).map(({ event_id }) => event_id);
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A running server knows the former partitions, so the test starts another. */
async function age(hours: number): Promise<void> {
  await server.stop();
  await moveIntoThePast(owner, hours);
  server = await startServer(serving);
}

async function run(): Promise<Expired> {
  const { code, stdout, stderr } = await drs("retention", "run", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout)[0] as unknown as Expired;
}

const NO_COUNTS = { partitions: 0, rows: 0, bytes: 0, secrets: 0, keys: 0, copies: 0, deleted: 0, held: 0 };
const NOTHING: Expired = { ...NO_COUNTS, destroyed_keys: [] };

const OF_NOW = "dropped_at is null and lower_bound <= now() and now() < upper_bound";

async function partitions(condition = "dropped_at is null"): Promise<string[]> {
  const text = `select partition_id from event_partition where ${condition} order by lower_bound`;
  return (await owner.query<{ partition_id: string }>(text)).rows.map(({ partition_id }) => partition_id);
}

const withSecret = async (ids: readonly string[]): Promise<string[]> => {
  const existing = await Promise.all(ids.map(secretExists));
  return ids.filter((_, index) => existing[index]);
};

/** A secret's file in the key directory is named by a hash of its name. */
async function secretExists(partition: string): Promise<boolean> {
  const digest = createHash("sha256").update(partitionSecretName(partition)).digest("hex");
  const path = join(environment["DRS_KEY_DIR"] ?? "", "secrets", digest.slice(0, 2), digest);
  return stat(path).then(
    () => true,
    () => false,
  );
}

const changed = ({ request }: Stored): Stored["request"] => ({
  ...request,
  body: String(request.body).replace('"sensorCount":23', '"sensorCount":24'),
});

describe("past its period", () => {
  test("an event is not read any more, and its key still answers; then its row goes", async () => {
    const stored = await store();
    expect(await listed()).toContain(stored.eventId);
    await applyPeriod("PT2S");
    await later(2_100);
    expect(await listed()).toEqual([]);
    for (const args of [
      ["event", "get", stored.eventId],
      ["event", "get", stored.eventId, "--raw", "--reason", "r"],
    ]) {
      expect(await drs(...args)).toMatchObject({ code: 1, stdout: "" });
    }
    expect(await post(stored.request)).toMatchObject({ status: 200, json: { event_id: stored.eventId } });
    expect((await post(changed(stored))).status).toBe(409);
    const overdue = async (...args: readonly string[]): Promise<unknown> =>
      objects((await drs("retention", ...args, "--json")).stdout)[0]?.["overdue_rows"];
    expect([await overdue("status"), await overdue("run", "--dry-run")]).toEqual([1, 1]);
    expect((await run()).rows).toBeGreaterThan(0);
    expect(await overdue("status")).toBe(0);
    expect((await owner.query("select from event")).rowCount).toBe(0);
    expect(await post(stored.request)).toMatchObject({ status: 200, json: { event_id: stored.eventId } });
    expect((await post(changed(stored))).status).toBe(409);
    expect(await run()).toEqual(NOTHING);
  });

  test("its partition goes, and the secret that opens its backups", async () => {
    const stored = [await store(), await store(), await store()];
    const [partition = ""] = await partitions("dropped_at is null and lower_bound <= now() and now() < upper_bound");
    expect(await secretExists(partition)).toBe(true);
    await age(30 * 24 + 25);
    expect(await listed()).toEqual([]);
    const overdue = objects((await drs("retention", "status", "--json")).stdout)[0];
    expect(overdue?.["overdue_partitions"]).toBeGreaterThan(0);
    expect(overdue?.["lag_seconds"]).toBeGreaterThan(0);
    const examined = await drs("doctor", "--json");
    expect(examined.code).toBe(1);
    expect(objects(examined.stdout).find(({ what }) => what === "retention")).toMatchObject({ ok: false });
    const tried = objects((await drs("retention", "run", "--dry-run", "--json")).stdout)[0];
    expect(tried).toEqual({ overdue_partitions: overdue?.["overdue_partitions"], overdue_rows: 0, dry_run: true });
    const expired = await run();
    expect(expired).toMatchObject({
      rows: stored.length,
      keys: 0,
      destroyed_keys: expect.arrayContaining([partition]),
    });
    expect(expired.bytes).toBeGreaterThan(0);
    expect((await drs("doctor")).code).toBe(0);
    const [entry] = objects((await drs("audit", "list", "--json")).stdout);
    expect(entry).toMatchObject({ operation: "retention.run", outcome: "done", detail: expired });
    expect(await secretExists(partition)).toBe(false);
    expect(
      await partitions(`dropped_at is not null and partition_id = '${partition}' and dropped_rows = 3`),
    ).toHaveLength(1);
    expect(await run()).toEqual(NOTHING);
    const state = objects((await drs("retention", "status", "--json")).stdout)[0];
    expect(state).toMatchObject({ overdue_partitions: 0, lag_seconds: 0, secrets_to_destroy: 0 });
    const counts = Object.fromEntries(COUNTS.map((what) => [what, expired[what]]));
    expect((state?.["runs"] as Expired[] | undefined)?.[1]).toMatchObject(counts);
    for (const one of stored) expect(await post(one.request)).toMatchObject({ status: 200 });
  });

  test("its key goes when the replay window is over, not earlier", async () => {
    const keys = async (): Promise<number> => (await owner.query("select from idempotency_key")).rowCount ?? 0;
    const before = await keys();
    expect(before).toBeGreaterThan(0);
    expect((await run()).keys).toBe(0);
    await owner.query(
      "update event_partition set dropped_at = dropped_at - interval '1 hour' where dropped_at is not null",
    );
    expect((await run()).keys).toBe(before - (await keys()));
    expect(await keys()).toBeLessThan(before);
    expect(await run()).toEqual(NOTHING);
  });
});

describe("a changed period", () => {
  test("holds for what is stored: a longer one keeps it, a shorter one lets it go", async () => {
    const { eventId } = await store();
    await age(29 * 24);
    await applyPeriod("P90D");
    await age(30 * 24);
    expect((await run()).partitions).toBe(0);
    expect(await listed()).toContain(eventId);
    await applyPeriod("P7D");
    expect(await listed()).toEqual([]);
    expect((await run()).rows).toBe(1);
  });

  test("from days to hours and back makes partitions that do not meet", async () => {
    for (const period of ["P1D", "P30D", "PT30S", "P7D"]) {
      await applyPeriod(period);
      await system.partitions.prepare(1, Date.now() + 480 * HOUR_MS, 3);
    }
    const { rows } = await owner.query<{ meet: number }>(
      `select count(*)::int as meet from event_partition a join event_partition b
         on a.purpose = b.purpose and a.lower_bound < b.lower_bound and b.lower_bound < a.upper_bound`,
    );
    expect(rows).toEqual([{ meet: 0 }]);
    const spans = await owner.query<{ span: string }>(
      "select distinct (upper_bound - lower_bound)::text as span from event_partition where dropped_at is null order by 1",
    );
    expect(spans.rows.map(({ span }) => span)).toEqual(["01:00:00", "1 day"]);
  });
});

describe("a clock that jumps back", () => {
  interface Bounds {
    readonly id: string;
    readonly lower: string;
    readonly upper: string;
  }

  async function boundsOf(condition: string): Promise<Bounds> {
    const { rows } = await owner.query<Bounds>(
      `select partition_id as id, lower_bound::text as lower, upper_bound::text as upper from event_partition where ${condition}`,
    );
    expect(rows).toHaveLength(1);
    return rows[0] as Bounds;
  }

  const setBounds = ({ id, lower, upper }: Bounds): Promise<unknown> =>
    owner.query("update event_partition set lower_bound = $2, upper_bound = $3 where partition_id = $1", [
      id,
      lower,
      upper,
    ]);

  test("brings back nothing that is gone; what has no partition then is told, and stored once the clock is right", async () => {
    const stored = await store();
    const now = await boundsOf(OF_NOW);
    await moveIntoThePast(owner, 31 * 24);
    expect((await run()).rows).toBeGreaterThan(0);
    const dropped = await boundsOf(`partition_id = '${now.id}'`);
    await setBounds(now);
    expect(await listed()).toEqual([]);
    expect((await post(stored.request)).status).toBe(200);

    const request = { url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)) };
    expect((await post(request)).status, "a server that runs").toBe(503);
    await server.stop();
    server = await startServer(serving);
    expect(server.stderr()).toContain("has expired: set the clocks of this host and of the database right");
    expect((await post(request)).status, "one that was started since").toBe(503);
    await setBounds(dropped);
    expect((await post(request)).status).toBe(201);
    expect(await listed()).toHaveLength(1);
  });
});

describe("nothing else goes", () => {
  test("a serving connection can't drop or delete what is not past its period", async () => {
    // Shorter than the partition: its rows are deleted one by one.
    await applyPeriod("PT1M");
    await store();
    const [partition] = await partitions(OF_NOW);
    expect((await system.pool.query("select * from drop_expired_partition($1)", [partition])).rowCount).toBe(0);
    const deleted = system.pool.query("select delete_expired_events($1, 100) as n", [partition]);
    expect((await deleted).rows).toEqual([{ n: 0 }]);
    expect((await system.pool.query("select delete_idempotency_keys($1, '0', 100) as n", [partition])).rows).toEqual([
      { n: 0 },
    ]);
    await expect(system.pool.query("update event_partition set dropped_at = now()")).rejects.toMatchObject({
      code: "42501",
    });
    await expect(system.pool.query("update purpose set raw_retention = '1 second'")).rejects.toMatchObject({
      code: "42501",
    });
    expect((await listed()).length).toBeGreaterThan(0);
  });

  test("nor by another time zone or isolation level of its session", async () => {
    await applyPeriod("P5D");
    await run();
    await store();
    const alive = (await partitions()).length;
    const session = await system.pool.connect();
    onTestFinished(() => session.release(true));
    const year = new Date(Date.now());
    const today = Math.floor((year.getTime() - Date.UTC(year.getUTCFullYear(), 0, 1)) / (24 * HOUR_MS));
    // Zones that leap by a week, on a day at hand.
    for (let day = Math.max(1, today - 12); day < today + 6; day++) {
      for (const hour of [0, 6, 12, 18]) {
        await session.query(`set timezone = '<A>83<B>-83,${day}/${hour},${(day + 60) % 365}/0'`);
        for (const id of await partitions()) await session.query("select drop_expired_partition($1)", [id]);
      }
    }
    expect((await partitions()).length).toBe(alive);
    await session.query("begin isolation level repeatable read");
    const drop = session.query("select drop_expired_partition($1)", [(await partitions())[0]]);
    await expect(drop).rejects.toMatchObject({ code: "25000" });
  });

  test("whatever a database says of its sessions, ours see what was committed before", async () => {
    const setting = `alter role current_user in database ${new URL(environment["DRS_DATABASE_URL"] ?? "").pathname.slice(1)}`;
    await owner.query(`${setting} set default_transaction_isolation = 'repeatable read'`);
    const level = "select current_setting('transaction_isolation') as level";
    for (const database of [system.database, system.administration]) {
      const { rows } = await withClient(database, (client) => client.query<{ level: string }>(level));
      expect(rows).toEqual([{ level: "read committed" }]);
    }
    await owner.query(`${setting} reset default_transaction_isolation`);
  });

  test("without a period nothing expires", async () => {
    await owner.query("update purpose set raw_retention = null");
    await age(90 * 365 * 24);
    expect(await run()).toMatchObject({ partitions: 0, rows: 0 });
    expect((await listed()).length).toBeGreaterThan(0);
  });
});

describe("a pass", () => {
  const withoutKeyStore = () => {
    const keyStore = { ...system.keyStore, destroy: () => Promise.reject(new Error("away")) };
    return { ...erasurePorts(system), database: system.database, secrets: new Secrets(keyStore, system.keyEncryption) };
  };

  test("is one at a time", async () => {
    await owner.query("select pg_advisory_lock(7236518)");
    expect(await drs("retention", "run")).toMatchObject({ code: 1, stdout: "" });
    await owner.query("select pg_advisory_unlock(7236518)");
    expect((await drs("retention", "run")).code).toBe(0);
  });

  test("gives way to whoever waits, and the next one goes on", async () => {
    await owner.query(
      "insert into tombstone select decode(md5(i::text), 'hex'), decode(md5(i::text), 'hex'), decode(md5(i::text), 'hex'), now() - interval '2 hours' from generate_series(1, 5000) i",
    );
    const tombstones = async (): Promise<number> => (await owner.query("select from tombstone")).rowCount ?? 0;
    const waits = new pg.Client({ connectionString: environment["DRS_DATABASE_URL"] });
    await waits.connect();
    let has: Promise<unknown> | undefined;
    const slow: Executor = {
      query: async (text, values) => {
        has ??= waits.query("select pg_advisory_lock(7236518)");
        await until(
          async () => (await owner.query(`select ${AWAITED_LOCKS} and locktype = 'advisory'`)).rowCount === 1,
        );
        return owner.query(text, [...(values ?? [])]);
      },
    };
    await owner.query("select pg_advisory_lock(7236518)");
    await expire(slow as Connection, { ...erasurePorts(system), replayWindow: HOUR_MS });
    expect(await tombstones()).toBe(4_000);
    await owner.query("select pg_advisory_unlock(7236518)");
    await has;
    await waits.end();
    expect((await run()).keys, "with those of the pass that was not recorded").toBe(5_000);
    expect(await tombstones()).toBe(0);
  });

  test("whose key store is away goes on where it stopped", async () => {
    await store();
    await age(31 * 24);
    const pass = await runRetention({ ...withoutKeyStore(), actor: "test" });
    expect(pass?.failed).toMatchObject([{ step: "destroy secrets of dropped partitions", error: { message: "away" } }]);
    const waiting = await partitions("dropped_at is not null and secret_destroyed_at is null");
    const existing = await withSecret(waiting);
    expect(existing.length).toBeGreaterThan(0);
    expect(await run()).toMatchObject({ partitions: 0, rows: 0, destroyed_keys: existing });
    for (const partition of waiting) expect(await secretExists(partition)).toBe(false);
  });

  test("that can't be recorded still reports what failed before, in the answer and in the audit", async () => {
    await store();
    await age(31 * 24);
    await owner.query("alter table retention_run add constraint no_run check (bytes < 0) not valid");
    onTestFinished(async () => {
      await owner.query("alter table retention_run drop constraint no_run");
      await run();
    });
    const pass = await runRetention({ ...withoutKeyStore(), actor: "test" });
    expect(pass).toMatchObject({
      expired: undefined,
      failed: [
        { step: "destroy secrets of dropped partitions", error: { message: "away" } },
        { step: "record the pass", error: { code: "23514" } },
      ],
    });
    const { code, stdout, stderr } = await drs("retention", "run", "--json");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      "The pass is not complete; what failed: record the pass.\nthe database refused (SQLSTATE 23514)\n",
    );
    const [entry] = objects((await drs("audit", "list", "--limit", "1", "--json")).stdout);
    expect(entry).toMatchObject({
      operation: "retention.run",
      outcome: "failed",
      detail: { failed: [{ step: "record the pass", error: "23514" }] },
    });
  });

  test("that fails, time and again, shows what is overdue although it does", async () => {
    await store();
    await age(31 * 24);
    const errors: unknown[] = [];
    const seen: PassState[] = [];
    const worker = new RetentionWorker({
      ...withoutKeyStore(),
      executor: system.pool,
      catchUp: async () => {},
      everyMs: 10,
      onError: (error) => errors.push(error),
      onPass: (state, expired) => expired?.partitions === 0 && seen.push(state),
    });
    await until(async () => seen.length > 0);
    await worker.close();
    expect(errors.length).toBeGreaterThan(1);
    expect(seen[0]?.secrets_to_destroy).toBeGreaterThan(0);
    const waiting = await partitions("dropped_at is not null and secret_destroyed_at is null");
    expect(waiting).toHaveLength(seen[0]?.secrets_to_destroy ?? 0);
    const existing = await withSecret(waiting);
    expect((await run()).destroyed_keys, "partitions without an event have no secret").toEqual(existing);
  });

  test("waits for nobody for long, and nobody for it: ingestion goes on beside a reader that stays", async () => {
    await store();
    await age(31 * 24);
    const reader = await system.pool.connect();
    await reader.query("begin");
    await reader.query("select count(*) from event");
    const dropped = new AbortController();
    const statuses: number[] = [];
    const ingesting = (async () => {
      while (!dropped.signal.aborted)
        statuses.push((await post({ url: "", headers: authorized(who), body: JSON.stringify(transport(who)) })).status);
    })();
    const client = await system.pool.connect();
    const overdue = await partitions("dropped_at is null and upper_bound + interval '30 days' <= now()");
    const pass = expire(client as Executor as Connection, erasurePorts(system));
    await later(1_500);
    expect(await partitions("dropped_at is null and upper_bound + interval '30 days' <= now()")).not.toEqual([]);
    await reader.query("commit");
    await pass;
    const left = await partitions("dropped_at is null and upper_bound + interval '30 days' <= now()");
    expect(overdue.length).toBeGreaterThan(left.length);
    dropped.abort();
    await ingesting;
    reader.release();
    client.release();
    expect(new Set(statuses)).toEqual(new Set([201]));
  });

  test("that is killed at any moment is finished by the next, and nothing twice", async () => {
    await applyPeriod("P1D");
    // What knows the partitions as they are now.
    const fresh = await openTestSystem(environment);
    await fresh.partitions.prepare(1, Date.now(), 40);
    const made = await partitions("dropped_at is null and upper_bound > now()");
    for (const partition of made)
      await fresh.sealer.seal({ ...identity(partition), receivedAt: await startOf(partition) }, Buffer.from("{}"));
    await fresh.close();
    await age(60 * 24);
    const secretsLeft = async (): Promise<number> => (await Promise.all(made.map(secretExists))).filter(Boolean).length;
    expect(await secretsLeft()).toBe(made.length);
    await server.stop();
    const kills = rounds(3, 8);
    for (let kill = 0; kill < kills; kill++) {
      server = await startServer({ ...serving, DRS_RETENTION_INTERVAL: "1s" });
      await later(1_000 + (kill * 200) / kills);
      await server.kill();
    }
    server = await startServer({ ...serving, DRS_RETENTION_INTERVAL: "1s" });
    await until(
      async () =>
        (await partitions("secret_destroyed_at is null and upper_bound + interval '1 day' <= now()")).length === 0,
    );
    expect(await secretsLeft()).toBe(0);
    expect(await partitions(`dropped_at is null and partition_id in ('${made.join("','")}')`)).toEqual([]);
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${server.adminUrl}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    };
    await until(async () => (await metric("drs_retention_last_pass_timestamp_seconds")) > 0);
    // The pass before it may have found another at work.
    await until(async () => (await metric("drs_retention_lag_seconds")) === 0);
    const { rows } = await owner.query<{ told: number; gone: number }>(
      `select (select coalesce(sum(partitions), 0) from retention_run)::int as told,
         (select count(*) from event_partition where dropped_at is not null)::int as gone`,
    );
    expect(rows[0]?.told, "what one that was killed dropped, the next one tells").toBe(rows[0]?.gone);
  }, 120_000);
});

const identity = (eventId: string): { account: string; eventId: string; purpose: number; schemaVersion: number } => ({
  account: who.account,
  eventId,
  purpose: 1,
  schemaVersion: 1,
});

async function startOf(partition: string): Promise<number> {
  const text =
    "select extract(epoch from lower_bound)::float8 * 1000 as at from event_partition where partition_id = $1";
  return (await owner.query<{ at: number }>(text, [partition])).rows[0]?.at ?? 0;
}

test("a database that is older than its key store lacks no keys that it is missed for", async () => {
  const restored = { ...(await database.environment()), DRS_ERASURE_JOURNAL: join(folder, "journal of the restored") };
  const older = await openTestSystem(restored);
  const events = new Past(older);
  await events.store(0, { account: "a" });
  const { pool, secrets, keyStore } = older;
  const { rows } = await pool.query<{ id: string }>(
    "select partition_id as id from event_partition where lower_bound <= now() and upper_bound > now()",
  );
  expect(rows).toHaveLength(1);
  await expect(requireKeys(pool, secrets, false)).resolves.toBeUndefined();
  await secrets.destroy(partitionSecretName(rows[0]?.id ?? ""));
  await expect(requireKeys(pool, secrets, false)).rejects.toThrow(/older than the events/);
  expect(await older.catchUp()).toMatchObject({ isDatabaseBehind: false });
  await keyStore.writeWatermark("mark", "0 1");
  expect(await older.catchUp()).toMatchObject({ isDatabaseBehind: true });
  await expect(requireKeys(pool, secrets, true)).resolves.toBeUndefined();
  await recordDestroyedPartitions(pool, keyStore);
  expect(await readWatermark(keyStore), "it never falls").toEqual({ sequence: 0, partitions: 1 });
  await keyStore.writeWatermark("mark", "0 x");
  await expect(older.catchUp()).rejects.toThrow(/mark in the key store is not readable/);
  await events.close();
  await older.close();
});
