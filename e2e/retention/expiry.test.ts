/**
 * Tests of expiry: no read finds an expired event; then the event and the secret of its partition are deleted, and
 * later its idempotency key.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { COUNTS, type Expired } from "../../packages/server/src/lifecycle/retention/run-table.ts";
import { withClient } from "../../packages/server/src/store/postgres/database.ts";
import { withChange } from "../support/client.ts";
import { objects } from "../support/command.ts";
import { RetentionScene } from "../support/retention-scene.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NO_COUNTS = {
  partitions: 0,
  rows: 0,
  bytes: 0,
  secrets: 0,
  keys: 0,
  copies: 0,
  features: 0,
  deleted: 0,
  held: 0,
};
const NOTHING: Expired = { ...NO_COUNTS, destroyed_keys: [] };
const OF_NOW = "dropped_at is null and lower_bound <= transaction_time() and transaction_time() < upper_bound";

const scene = new RetentionScene();
const { advance, applyPeriod, drs, listed, newRequest, partitions, post, run, secretExists, start, store } = scene;

describe("after the retention period", () => {
  test("no read finds an event, and its key still answers; then its row is deleted", async () => {
    const stored = await store();
    expect(await listed()).toContain(stored.eventId);
    await applyPeriod("PT2S");
    await advance(2_000);
    expect(await listed()).toEqual([]);
    for (const args of [
      ["event", "get", stored.eventId],
      ["event", "get", stored.eventId, "--raw", "--reason", "r"],
    ]) {
      expect(await drs(...args)).toMatchObject({ code: 1, stdout: "" });
    }
    expect(await post(stored.request)).toMatchObject({ status: 200, json: { event_id: stored.eventId } });
    expect((await post(withChange(stored))).status).toBe(409);
    const overdue = async (...args: readonly string[]): Promise<unknown> =>
      objects((await drs("retention", ...args, "--json")).stdout)[0]?.["overdue_rows"];
    expect([await overdue("status"), await overdue("run", "--dry-run")]).toEqual([1, 1]);
    expect((await run()).rows).toBeGreaterThan(0);
    expect(await overdue("status")).toBe(0);
    expect((await scene.owner.query("select from event")).rowCount).toBe(0);
    expect(await post(stored.request)).toMatchObject({ status: 200, json: { event_id: stored.eventId } });
    expect((await post(withChange(stored))).status).toBe(409);
    expect(await run()).toEqual(NOTHING);
  });

  test("the partition is dropped, and the secret that opens its backups is destroyed", async () => {
    const stored = [await store(), await store(), await store()];
    const [partition = ""] = await partitions(OF_NOW);
    expect(await secretExists(partition)).toBe(true);
    await advance(31 * DAY_MS + HOUR_MS);
    expect(await listed()).toEqual([]);
    const overdue = objects((await drs("retention", "status", "--json")).stdout)[0];
    expect(overdue?.["overdue_partitions"]).toBeGreaterThan(0);
    expect(overdue?.["lag_seconds"]).toBeGreaterThan(0);
    expect((await drs("retention", "status")).stdout).toMatch(/^Overdue: \d+ partitions?, the oldest by \d+ s\b/);
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
    // The clock has jumped, and a worker makes a checkpoint every 10 seconds.
    await expect.poll(async () => (await drs("doctor")).code, { timeout: 60_000 }).toBe(0);
    // The server may write audit entries of counted requests in the meantime.
    const entries = objects((await drs("audit", "list", "--json")).stdout);
    expect(entries.find(({ operation }) => operation === "retention.run")).toMatchObject({
      outcome: "done",
      detail: expired,
    });
    expect(await secretExists(partition)).toBe(false);
    expect(
      await partitions(`dropped_at is not null and partition_id = '${partition}' and dropped_rows = 3`),
    ).toHaveLength(1);
    expect(await run()).toEqual(NOTHING);
    const state = objects((await drs("retention", "status", "--json")).stdout)[0];
    expect(state).toMatchObject({ overdue_partitions: 0, lag_seconds: 0, secrets_to_destroy: 0 });
    expect((await drs("retention", "status")).stdout).toMatch(/^Nothing is overdue\.\n/);
    const counts = Object.fromEntries(COUNTS.map((what) => [what, expired[what]]));
    expect((state?.["runs"] as Expired[] | undefined)?.[1]).toMatchObject(counts);
    for (const one of stored) expect(await post(one.request)).toMatchObject({ status: 200 });
  });

  test("the idempotency key is deleted when the replay window is over, not earlier", async () => {
    const keys = async (): Promise<number> => (await scene.owner.query("select from idempotency_key")).rowCount ?? 0;
    const keysBefore = await keys();
    expect(keysBefore).toBeGreaterThan(0);
    expect((await run()).keys).toBe(0);
    await advance(HOUR_MS);
    expect((await run()).keys).toBe(keysBefore - (await keys()));
    expect(await keys()).toBeLessThan(keysBefore);
    expect(await run()).toEqual(NOTHING);
  });
});

describe("a changed retention period", () => {
  test("applies to stored events: a longer period keeps them, a shorter one deletes them", async () => {
    const { eventId } = await store();
    await advance(29 * DAY_MS);
    await applyPeriod("P90D");
    await advance(30 * DAY_MS);
    expect((await run()).partitions).toBe(0);
    expect(await listed()).toContain(eventId);
    await applyPeriod("P7D");
    expect(await listed()).toEqual([]);
    expect((await run()).rows).toBe(1);
  });

  test("from days to hours and back makes partitions that do not overlap", async () => {
    const later = scene.system.clock.now() + 20 * DAY_MS;
    const periods = { P1D: 3, P30D: 30, PT30S: 3, P7D: 40 };
    for (const [period, partitionsAhead] of Object.entries(periods)) {
      await applyPeriod(period);
      await scene.system.partitions.prepare(1, later, partitionsAhead);
    }
    const { rows } = await scene.owner.query<{ meet: number }>(
      `select count(*)::int as meet from event_partition a join event_partition b
         on a.purpose = b.purpose and a.lower_bound < b.lower_bound and b.lower_bound < a.upper_bound`,
    );
    expect(rows).toEqual([{ meet: 0 }]);
    const spans = await scene.owner.query<{ span: string }>(
      "select distinct (upper_bound - lower_bound)::text as span from event_partition where dropped_at is null order by 1",
    );
    expect(spans.rows.map(({ span }) => span)).toEqual(["01:00:00", "1 day"]);
  });
});

describe("a clock that jumps back", () => {
  test("restores nothing that was dropped, and retries get their answers; a new event is rejected, and stored once the clock is right", async () => {
    const stored = await store();
    await advance(32 * DAY_MS);
    expect((await run()).rows).toBeGreaterThan(0);
    await advance(-32 * DAY_MS);
    expect(await listed()).toEqual([]);

    const { headers = {} } = newRequest();
    const posted = async (): Promise<number> => (await post({ ...newRequest(), headers })).status;
    expect(await posted(), "a server that was running when the clock jumped").toBe(503);
    await scene.server.stop();
    await start();
    expect(scene.server.stderr()).toContain("has expired: set the clocks of this host and of the database right");
    expect(await posted(), "a server that was started after that").toBe(503);
    expect(await post(stored.request)).toMatchObject({ status: 200, json: { event_id: stored.eventId } });
    expect((await post(withChange(stored))).status).toBe(409);
    await advance(32 * DAY_MS);
    expect(await posted()).toBe(201);
    expect(await listed()).toHaveLength(1);
    expect((await post(stored.request)).status).toBe(200);
  });
});

describe("no event is deleted before it has expired", () => {
  test("by a serving connection", async () => {
    // The period is shorter than the partition, so the rows of the partition are deleted one by one.
    await applyPeriod("PT1M");
    await store();
    const [partition] = await partitions(OF_NOW);
    expect((await scene.system.pool.query("select * from drop_expired_partition($1)", [partition])).rowCount).toBe(0);
    const deleted = scene.system.pool.query("select delete_expired_events($1, 100) as n", [partition]);
    expect((await deleted).rows).toEqual([{ n: 0 }]);
    expect(
      (await scene.system.pool.query("select delete_idempotency_keys($1, '0', 100) as n", [partition])).rows,
    ).toEqual([{ n: 0 }]);
    await expect(scene.system.pool.query("update event_partition set dropped_at = now()")).rejects.toMatchObject({
      code: "42501",
    });
    await expect(scene.system.pool.query("update purpose set raw_retention = '1 second'")).rejects.toMatchObject({
      code: "42501",
    });
    expect((await listed()).length).toBeGreaterThan(0);
  });

  test("by another time zone or isolation level of a serving session", async () => {
    await applyPeriod("P5D");
    await run();
    await store();
    const alive = (await partitions()).length;
    const session = await scene.system.pool.connect();
    onTestFinished(() => session.release(true));
    const now = new Date(scene.system.clock.now());
    const today = Math.floor((now.getTime() - Date.UTC(now.getUTCFullYear(), 0, 1)) / DAY_MS);
    // Each of these time zones skips a week on a day near today.
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

  test("if the database has another default isolation level, because each connection of the server uses read committed", async () => {
    const setting = `alter role current_user in database ${new URL(scene.environment["DRS_DATABASE_URL"] ?? "").pathname.slice(1)}`;
    await scene.owner.query(`${setting} set default_transaction_isolation = 'repeatable read'`);
    const level = "select current_setting('transaction_isolation') as level";
    for (const database of [scene.system.database, scene.system.administration]) {
      const { rows } = await withClient(database, (client) => client.query<{ level: string }>(level));
      expect(rows).toEqual([{ level: "read committed" }]);
    }
    await scene.owner.query(`${setting} reset default_transaction_isolation`);
  });

  test("if its purpose has no retention period", async () => {
    await scene.owner.query("update purpose set raw_retention = null");
    await advance(90 * 365 * DAY_MS);
    expect(await run()).toMatchObject({ partitions: 0, rows: 0 });
    expect((await listed()).length).toBeGreaterThan(0);
  });
});
