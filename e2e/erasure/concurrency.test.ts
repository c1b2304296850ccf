/**
 * Tests of an erasure at the same time as commit batches, holds, other erasures, expiry and statements of the serving
 * role.
 */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { beginErasure } from "../../packages/server/src/lifecycle/erasure/begin-erasure.ts";
import type { ErasureSubject } from "../../packages/server/src/lifecycle/erasure/plan-erasure.ts";
import { inOwnerTransaction } from "../../packages/server/src/store/postgres/database.ts";
import { authorized, type Reply, transport } from "../support/client.ts";
import { AWAITED_LOCKS } from "../support/database.ts";
import { until } from "../support/embedded.ts";
import { ErasureScene } from "../support/erasure-scene.ts";

const scene = new ErasureScene();
const { drs, party, post, store, erase, read, keysOf, secretExists, entries, tablesWith } = scene;

describe("an erasure during other work", () => {
  const LOCKED = `select ${AWAITED_LOCKS} and locktype = 'advisory'`;

  /**
   * Starts the work while another connection holds the lock, and runs `meanwhile` when the work waits for this lock.
   * @returns the result of the work
   */
  async function runWhileLocked<T>(lock: string, work: () => Promise<T>, meanwhile: () => Promise<void>): Promise<T> {
    const holder = new pg.Client({ connectionString: scene.environment["DRS_DATABASE_URL"] });
    await holder.connect();
    try {
      await holder.query(`begin; select drs.${lock}()`);
      const working = work();
      await until(async () => (await scene.owner.query(LOCKED)).rowCount === 1);
      await meanwhile();
      await holder.query("commit");
      return await working;
    } finally {
      await holder.end();
    }
  }

  /** Begins an erasure and does not finish it. `meanwhile` runs before the commit, under the locks. */
  async function begin(subject: ErasureSubject, meanwhile?: () => Promise<void>): Promise<void> {
    const { administration, journal } = scene.system;
    if (!journal) throw new Error("there is no journal");
    const order = { subject, actor: "a test", reason: "r", refuseLater: false };
    await inOwnerTransaction(administration, async (transaction) => {
      await beginErasure(transaction, { ...scene.system, journal, onUnreadable: () => {} }, order);
      await meanwhile?.();
    });
  }

  const count = async (table: string, where: string, value: unknown): Promise<number | null> =>
    (await scene.owner.query(`select from ${table} where ${where} = $1`, [value])).rowCount;

  test.each(["lock_ingestion_shared", "lock_holds", "lock_journal"])(
    "begins after the holder of %s has ended",
    async (lock) => {
      const who = await party();
      await store(who);
      const before = await entries();
      await runWhileLocked(
        lock,
        () => erase("--account", who.account),
        async () => expect(await entries()).toBe(before),
      );
      expect(await entries()).toBe(before + 1);
    },
  );

  test("makes a commit batch that waited for the erasure seal its events again", async () => {
    const who = await party();
    const before = await store(who);
    const body = transport(who);
    let answering: Promise<Reply> | undefined;
    await begin({ kind: "purpose", account: who.account, purpose: 1 }, async () => {
      answering = post({ headers: authorized(who), body: JSON.stringify(body) });
      await until(async () => (await scene.owner.query(LOCKED)).rowCount === 1);
    });
    const answer = await answering;
    expect(answer?.status, answer?.text).toBe(201);
    expect((await drs("retention", "run")).code).toBe(0);
    expect(await read(before.eventId)).toBeUndefined();
    expect(await read(String(answer?.json["event_id"]))).toBe(JSON.stringify(body.observations));
  });

  test("destroys the secrets that the journal names, even if the serving role has deleted the key rows in the meantime", async () => {
    const who = await party();
    await store(who);
    const [keyId = ""] = await keysOf(who.account);
    await begin({ kind: "account", account: who.account });
    const { pool } = scene.system;
    await pool.query("select delete_erased($1, array(select key from idempotency_key where key_id = $1))", [keyId]);
    await pool.query("select delete_account_key($1)", [keyId]);
    expect([await keysOf(who.account), await secretExists(keyId)]).toEqual([[], true]);
    expect((await drs("retention", "run")).code).toBe(0);
    expect(await secretExists(keyId)).toBe(false);
  });

  test("deletes the ledger only after every commit batch that may not have seen the tombstones has ended", async () => {
    const who = await party();
    const stored = await store(who);
    await begin({ kind: "account", account: who.account });
    await runWhileLocked(
      "lock_ingestion_shared",
      () => drs("retention", "run"),
      async () => expect(await count("idempotency_key", "event_id", stored.eventId)).toBe(1),
    );
    expect(await count("idempotency_key", "event_id", stored.eventId)).toBe(0);
    expect(
      await count(
        "tombstone",
        "name_mac",
        scene.system.pseudonymizer.tombstoneNameOf(who.account, String(stored.request.headers?.["Idempotency-Key"])),
      ),
    ).toBe(1);
  });

  test("waits for other erasures, even of the same account, so that erasures are applied one after the other", async () => {
    const [one, two] = [await party(), await party()];
    await Promise.all([store(one), store(two), store(two)]);
    const done = await Promise.all([one, two, one, two].map((who) => erase("--account", who.account)));
    expect(done[0]).toMatchObject({ events: 1, finished_at: expect.any(String) });
    expect(done[1]).toMatchObject({ events: 2 });
    expect([done[2], done[3]], "the second erasure finds nothing left").toEqual([done[0], done[1]]);
    for (const who of [one, two]) expect(await tablesWith(who.account)).toEqual([]);
  });

  test("may run at the same time as the expiry of the same events", async () => {
    const who = await party();
    const stored = await store(who);
    await Promise.all([erase("--account", who.account), drs("retention", "run"), drs("retention", "run")]);
    expect(await read(stored.eventId)).toBeUndefined();
    expect(await tablesWith(who.account)).toEqual([]);
  });

  test("lets the serving role delete only erased data, and change no record of an erasure", async () => {
    const [who, other] = [await party(), await party()];
    const stored = await store(who);
    const [key] = await keysOf(who.account);
    const client = await scene.system.pool.connect();
    try {
      await client.query("select delete_erased($1, array(select key from idempotency_key))", [key]);
      await client.query("select delete_account_key($1)", [key]);
      const unused = randomUUID();
      await client.query(
        "select ensure_account_keys(array[$1], array[null]::bytea[], array[1], array[$2]::uuid[], 0)",
        [other.account, unused],
      );
      await client.query("select delete_account_key($1)", [unused]);
      expect(await keysOf(other.account)).toEqual([unused]);
      // This account key has no secret. If its row stayed, the key store would count as older than the database.
      await scene.owner.query("delete from account_key where key_id = $1", [unused]);
      for (const text of [
        "delete from erasure",
        "update erasure set receipt = 'x'",
        "insert into erasure (sequence) values (1000)",
        "delete from tombstone",
        "update account_key set erased_by = null",
        "delete from refused_account",
        "delete from session_token",
      ]) {
        await expect(client.query(text), text).rejects.toMatchObject({ code: "42501" });
      }
    } finally {
      client.release();
    }
    expect(await read(stored.eventId)).toBe(stored.text);
    expect(await count("idempotency_key", "event_id", stored.eventId)).toBe(1);
  });
});
