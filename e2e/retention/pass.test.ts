/** Tests of a retention pass: alone, interrupted, without its key store, killed, and during ingestion. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { erasurePorts } from "../../packages/server/src/runtime/lifecycle-ports.ts";
import { partitionSecretName } from "../../packages/server/src/store/crypto/partition-secrets.ts";
import { Secrets } from "../../packages/server/src/store/crypto/secrets.ts";
import { requireKeys } from "../../packages/server/src/lifecycle/recovery/installation.ts";
import { findLostSecrets } from "../../packages/server/src/lifecycle/recovery/lost-secrets.ts";
import { expire } from "../../packages/server/src/lifecycle/retention/expire.ts";
import { type PassState, RetentionWorker, runRetention } from "../../packages/server/src/lifecycle/retention-worker.ts";
import type { Connection, Executor } from "../../packages/server/src/store/postgres/executor.ts";
import { objects } from "../support/command.ts";
import { AWAITED_LOCKS } from "../support/database.ts";
import { until } from "../support/embedded.ts";
import { openTestSystem } from "../support/parties.ts";
import { Past } from "../support/past-event.ts";
import { applyPeriod as applyPolicy } from "../support/policy.ts";
import { RetentionScene } from "../support/retention-scene.ts";
import { rounds } from "../support/soak.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const OVERDUE = "dropped_at is null and upper_bound + interval '30 days' <= transaction_time()";

const scene = new RetentionScene();
const { advance, applyPeriod, drs, newRequest, partitions, post, run, secretExists, start, store } = scene;

const withSecret = async (ids: readonly string[]): Promise<string[]> => {
  const existing = await Promise.all(ids.map(secretExists));
  return ids.filter((_, index) => existing[index]);
};

const identity = (eventId: string): { account: string; eventId: string; purpose: number; schemaVersion: number } => ({
  account: scene.who.account,
  eventId,
  purpose: 1,
  schemaVersion: 1,
});

async function startOf(partition: string): Promise<number> {
  const text =
    "select extract(epoch from lower_bound)::float8 * 1000 as at from event_partition where partition_id = $1";
  return (await scene.owner.query<{ at: number }>(text, [partition])).rows[0]?.at ?? 0;
}

describe("a retention pass", () => {
  const withoutKeyStore = (beforeError?: (id: string) => Promise<void>) => {
    const destroy = async (id: string): Promise<never> => {
      await beforeError?.(id);
      throw new Error("away");
    };
    const keyStore = { ...scene.system.keyStore, destroy };
    return {
      ...erasurePorts(scene.system),
      database: scene.system.database,
      secrets: new Secrets(keyStore, scene.system.keyEncryption),
    };
  };

  test("fails while another process holds the maintenance lock", async () => {
    await scene.owner.query("select pg_advisory_lock(7236518)");
    expect(await drs("retention", "run")).toMatchObject({ code: 1, stdout: "" });
    await scene.owner.query("select pg_advisory_unlock(7236518)");
    expect((await drs("retention", "run")).code).toBe(0);
  });

  test("ends early if a command waits for the maintenance lock, and the next pass does the rest", async () => {
    await scene.owner.query(
      "insert into tombstone select decode(md5(i::text), 'hex'), decode(md5(i::text), 'hex'), decode(md5(i::text), 'hex'), transaction_time() - interval '2 hours' from generate_series(1, 5000) i",
    );
    const tombstones = async (): Promise<number> => (await scene.owner.query("select from tombstone")).rowCount ?? 0;
    const waits = new pg.Client({ connectionString: scene.environment["DRS_DATABASE_URL"] });
    await waits.connect();
    let has: Promise<unknown> | undefined;
    const slow: Executor = {
      query: async (text, values) => {
        has ??= waits.query("select pg_advisory_lock(7236518)");
        await until(
          async () => (await scene.owner.query(`select ${AWAITED_LOCKS} and locktype = 'advisory'`)).rowCount === 1,
        );
        return scene.owner.query(text, [...(values ?? [])]);
      },
    };
    await scene.owner.query("select pg_advisory_lock(7236518)");
    await expire(slow as Connection, { ...erasurePorts(scene.system), replayWindow: HOUR_MS });
    expect(await tombstones()).toBe(4_000);
    await scene.owner.query("select pg_advisory_unlock(7236518)");
    await has;
    await waits.end();
    expect((await run()).keys, "including the keys of the pass that was not recorded").toBe(5_000);
    expect(await tombstones()).toBe(0);
  });

  test("whose key store was away continues where it stopped", async () => {
    await store();
    await advance(31 * DAY_MS);
    const pass = await runRetention({ ...withoutKeyStore(), actor: "test" });
    expect(pass?.failed).toMatchObject([{ step: "destroy secrets of dropped partitions", error: { message: "away" } }]);
    const waiting = await partitions("dropped_at is not null and secret_destroyed_at is null");
    const existing = await withSecret(waiting);
    expect(existing.length).toBeGreaterThan(0);
    // Each of these passes destroys one secret, and fails before it can record the destruction.
    for (const _ of existing) {
      await runRetention({ ...withoutKeyStore((id) => scene.system.keyStore.destroy(id)), actor: "test" });
    }
    expect(await run()).toMatchObject({ partitions: 0, rows: 0, destroyed_keys: existing });
    for (const partition of waiting) expect(await secretExists(partition)).toBe(false);
  });

  test("that can't be recorded still reports its earlier failures, in the answer and in the audit", async () => {
    await store();
    await advance(31 * DAY_MS);
    await scene.owner.query("alter table retention_run add constraint no_run check (bytes < 0) not valid");
    onTestFinished(async () => {
      await scene.owner.query("alter table retention_run drop constraint no_run");
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
    // The server may write audit entries of counted requests in the meantime.
    const entries = objects((await drs("audit", "list", "--limit", "20", "--json")).stdout);
    expect(entries.find(({ operation }) => operation === "retention.run")).toMatchObject({
      outcome: "failed",
      detail: { failed: [{ step: "record the pass", error: "23514" }] },
    });
  });

  test("that fails repeatedly still shows what is overdue", async () => {
    await store();
    await advance(31 * DAY_MS);
    const errors: unknown[] = [];
    const seen: PassState[] = [];
    const worker = new RetentionWorker({
      ...withoutKeyStore(),
      executor: scene.system.pool,
      replay: async () => {},
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

  test("waits while another session locks the list of partitions", async () => {
    await scene.owner.query("begin; lock table event_partition in access exclusive mode");
    const client = await scene.system.pool.connect();
    const pass = expire(client as Executor as Connection, erasurePorts(scene.system));
    const isFirst = await Promise.race([pass.then(() => true), sleep(400).then(() => false)]);
    await scene.owner.query("commit");
    const failed = await pass;
    client.release();
    expect({ isFirst, failed }).toEqual({ isFirst: false, failed: [] });
  });

  test("does not wait long for a reader, and ingestion continues during a reader that stays", async () => {
    await store();
    await advance(31 * DAY_MS);
    const reader = await scene.system.pool.connect();
    await reader.query("begin");
    await reader.query("select count(*) from event");
    const dropped = new AbortController();
    const statuses: number[] = [];
    const ingesting = (async () => {
      while (!dropped.signal.aborted) statuses.push((await post(newRequest())).status);
    })();
    const client = await scene.system.pool.connect();
    const overdue = await partitions(OVERDUE);
    const pass = expire(client as Executor as Connection, erasurePorts(scene.system));
    const waits = async (): Promise<boolean> =>
      ((await scene.owner.query(`select ${AWAITED_LOCKS}`)).rowCount ?? 0) > 0;
    for (let tries = 0; tries < 2; tries++) {
      await until(waits);
      await until(async () => !(await waits()));
    }
    expect(await partitions(OVERDUE)).not.toEqual([]);
    await reader.query("commit");
    await pass;
    const left = await partitions(OVERDUE);
    expect(overdue.length).toBeGreaterThan(left.length);
    dropped.abort();
    await ingesting;
    reader.release();
    client.release();
    expect(new Set(statuses)).toEqual(new Set([201]));
  });

  test("that is killed at any moment is finished by the next pass, and does nothing twice", async () => {
    await applyPeriod("P1D");
    // A newly opened system has no outdated partitions in memory.
    const fresh = await openTestSystem(scene.environment);
    await fresh.partitions.prepare(1, fresh.clock.now(), 40);
    const partitionIds = await partitions("dropped_at is null and upper_bound > transaction_time()");
    for (const partition of partitionIds)
      await fresh.sealer.seal({ ...identity(partition), receivedAt: await startOf(partition) }, Buffer.from("{}"));
    await fresh.close();
    await advance(60 * DAY_MS);
    const secretsLeft = async (): Promise<number> =>
      (await Promise.all(partitionIds.map(secretExists))).filter(Boolean).length;
    expect(await secretsLeft()).toBe(partitionIds.length);
    await scene.server.stop();
    const kills = rounds(3, 8);
    for (let kill = 0; kill < kills; kill++) {
      await start({ DRS_RETENTION_INTERVAL: "1s" });
      await later(1_000 + (kill * 200) / kills);
      await scene.server.kill();
    }
    await start({ DRS_RETENTION_INTERVAL: "1s" });
    await until(
      async () =>
        (await partitions("secret_destroyed_at is null and upper_bound + interval '1 day' <= transaction_time()"))
          .length === 0,
    );
    expect(await secretsLeft()).toBe(0);
    expect(await partitions(`dropped_at is null and partition_id in ('${partitionIds.join("','")}')`)).toEqual([]);
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${scene.server.adminUrl}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    };
    await until(async () => (await metric("drs_retention_last_pass_timestamp_seconds")) > 0);
    // The previous pass may have found another pass at work.
    await until(async () => (await metric("drs_retention_lag_seconds")) === 0);
    const { rows } = await scene.owner.query<{ reported: number; dropped: number }>(
      `select (select coalesce(sum(partitions), 0) from retention_run)::int as reported,
         (select count(*) from event_partition where dropped_at is not null)::int as dropped`,
    );
    expect(rows[0]?.reported, "the next pass reports what a killed one dropped").toBe(rows[0]?.dropped);
  });
});

test("each partition with events, however old, needs its secret, unless the secret was destroyed on purpose", async () => {
  const environment = await scene.database.environment();
  await applyPolicy(environment, scene.folder, "P3D");
  const system = await openTestSystem(environment);
  const events = new Past(system);
  for (let hours = 0; hours < 14; hours += 2) await events.store(hours, { account: "a" });
  const { pool, secrets, keyStore } = system;
  const { rows } = await pool.query<{ id: string }>(
    "select partition_id as id from event_partition where secret_created order by lower_bound",
  );
  const [oldest = "", second = ""] = rows.map(({ id }) => partitionSecretName(id));
  expect(rows.length).toBeGreaterThan(5);
  await expect(requireKeys(pool, secrets)).resolves.toBeUndefined();
  await secrets.destroy(oldest);
  await expect(requireKeys(pool, secrets)).resolves.toBeUndefined();
  await secrets.discard(second);
  await expect(requireKeys(pool, secrets)).rejects.toThrow(/older than the events/);
  expect(await findLostSecrets(pool, secrets)).toEqual([second]);
  for (const text of ["0 x", "", "1 0"]) {
    await keyStore.writeWatermark("mark", text);
    await expect(system.replay()).rejects.toThrow(/mark in the key store is not readable/);
  }
  await events.close();
  await system.close();
});
