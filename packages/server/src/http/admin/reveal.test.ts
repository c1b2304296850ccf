/** Tests that the database gives a payload or feature values only for a committed audit entry. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { AuditSigner } from "../../audit/audit-signer.ts";
import { writeAudit } from "../../audit/audit.ts";
import { OPENING_OPERATIONS } from "../../audit/opened-events.ts";
import { sealFeatures } from "../../store/crypto/seal-features.fixture.ts";
import { findAttributes, type ListedEvent, readEvent, revealEvent } from "../../store/events/read-events.ts";
import {
  type FeatureAttributes,
  findFeatureAttributes,
  insertFeatureRows,
  revealFeatures,
} from "../../features/feature-rows.ts";
import { inTransaction, withClient } from "../../store/postgres/database.ts";
import type { Executor } from "../../store/postgres/executor.ts";

const scene = useTestSystem();
let past: Past;
let event: PastEvent;
let listed: ListedEvent;

beforeAll(async () => {
  past = new Past(scene.system);
  event = await past.store(0);
  listed = (await findAttributes(scene.system.pool, event.eventId)) as ListedEvent;
});
afterAll(() => past?.close());

const REFUSED = /no committed audit entry/;
const entryOf = (executor: Executor, operation = "event.read_raw", at = Date.now(), outcome = "done", more = {}) =>
  writeAudit(
    executor,
    new AuditSigner(Buffer.alloc(32), scene.system.pseudonymizer, scene.system.secrets, { now: () => at }),
    {
      actor: "a",
      via: "api",
      operation,
      outcome,
      eventIds: [event.eventId],
      ...more,
    },
  );
const waiting = async (): Promise<number> => {
  const text = "select 1 from pg_locks where not granted and relation = 'audit_entry'::regclass";
  return (await scene.system.pool.query(text)).rows.length;
};
const reveal = (entryId: string, executor: Executor = scene.system.pool) => revealEvent(executor, entryId, listed);

describe("reveal_event", () => {
  it("gives the payload for a committed entry", async () => {
    const found = await reveal(await entryOf(scene.system.pool));
    expect(found?.payload.length).toBeGreaterThan(0);
  });

  it("gives nothing within the transaction of the entry, which may be rolled back", async () => {
    const attempt = inTransaction(scene.system.pool, async (transaction) =>
      reveal(await entryOf(transaction), transaction),
    );
    await expect(attempt).rejects.toThrow(REFUSED);
  });

  it("gives nothing for an entry that is committed while the function runs, which is perhaps not durable", async () => {
    const [writer, reader] = [await scene.system.pool.connect(), await scene.system.pool.connect()];
    onTestFinished(() => [writer, reader].forEach((client) => client.release()));
    onTestFinished(async () => void (await scene.owner.query("rollback")));
    await reveal(await entryOf(scene.system.pool), reader as never); // compiles the function, which asks for locks
    await writer.query("begin");
    const entry = await entryOf(writer as never);
    // The lock waits for the writer, and the function waits for the lock: it begins before the commit, and reads after it.
    await scene.owner.query("begin");
    const locked = scene.owner.query("lock table audit_entry");
    await until(async () => (await waiting()) === 1);
    const attempt = expect(reveal(entry, reader as never)).rejects.toThrow(REFUSED);
    await until(async () => (await waiting()) === 2);
    await writer.query("commit");
    await locked;
    await scene.owner.query("rollback");
    await attempt;
    expect(await reveal(entry)).toBeDefined();
  });

  it("gives the payload even if nothing else flushes the log, as on an idle database", async () => {
    const entry = await entryOf(scene.system.pool);
    const found = await withClient(scene.system.database, async (client) => {
      await client.query("begin");
      await client.query("select pg_logical_emit_message(false, 'test', '')");
      return reveal(entry);
    });
    expect(found).toBeDefined();
  });

  it("gives nothing after a rolled back savepoint or transaction", async () => {
    const entries = await withClient(scene.system.database, async (client) => {
      await client.query("begin");
      await client.query("savepoint reading");
      const inSavepoint = await entryOf(client);
      await client.query("rollback to reading");
      const rolledBack = await entryOf(client);
      await client.query("rollback");
      return [inSavepoint, rolledBack];
    });
    for (const entry of entries) await expect(reveal(entry)).rejects.toThrow(REFUSED);
  });

  it("gives nothing for an entry about a denial, which no review counts", async () => {
    const entry = await entryOf(scene.system.pool, "event.read_raw", Date.now(), "denied");
    await expect(reveal(entry)).rejects.toThrow(REFUSED);
  });

  it("gives nothing for an entry of another operation, or without an entry", async () => {
    await expect(reveal(await entryOf(scene.system.pool, "event.list"))).rejects.toThrow(REFUSED);
    await expect(reveal(randomUUID())).rejects.toThrow(REFUSED);
  });

  it("gives payloads for entries of the operations that are counted as opening an event, and for no others", async () => {
    const text = await readFile(join(import.meta.dirname, "../../store/postgres/functions/reveal_event.sql"), "utf8");
    const listed = /array\[([^\]]+)\]/.exec(text)?.[1]?.match(/[\w.]+/g);
    expect(listed).toEqual(OPENING_OPERATIONS);
  });

  it("gives nothing to another login than the one that wrote the entry", async () => {
    const entry = await entryOf(scene.system.pool);
    const other = `other_${randomUUID().slice(0, 8)}`;
    await scene.owner.query(`create role ${other} in role drs_service; set session authorization ${other}`);
    await expect(reveal(entry, scene.owner as never)).rejects.toThrow(REFUSED);
    await scene.owner.query(`reset session authorization; drop role ${other}`);
  });

  it("gives nothing after a minute", async () => {
    await expect(reveal(await entryOf(scene.system.pool, "event.read_raw", Date.now() - 61_000))).rejects.toThrow(
      REFUSED,
    );
  });

  it("gives nothing for an entry with a future time, which would be usable for longer than a minute", async () => {
    const entry = await entryOf(scene.system.pool, "event.read_raw", Date.now() + 61_000);
    await expect(reveal(entry)).rejects.toThrow(REFUSED);
  });

  it("gives nothing of a restricted account, even if the caller does not check this", async () => {
    const entry = await entryOf(scene.system.pool);
    const setRestricted = `update account_key set restricted = $1 where account = $2`;
    await scene.owner.query(setRestricted, [true, listed.account]);
    expect(await reveal(entry)).toBeUndefined();
    await scene.owner.query(setRestricted, [false, listed.account]);
    expect(await reveal(entry)).toBeDefined();
  });

  it("gives nothing about an event that the entry does not name", async () => {
    const other = await past.store(0);
    const entry = await entryOf(scene.system.pool);
    const place = (await findAttributes(scene.system.pool, other.eventId)) as ListedEvent;
    expect(await revealEvent(scene.system.pool, entry, place)).toBeUndefined();
  });
});

describe("reveal_features", () => {
  const VALUES = Buffer.from("[true]");
  const rows: FeatureAttributes[] = [];
  const revealed = async (entryId: string, executor: Executor = scene.system.pool): Promise<unknown[]> =>
    (await revealFeatures(executor, entryId, rows)).map(({ event_id }) => event_id);
  const readBy = (executor: Executor, more = {}) => entryOf(executor, "feature.read", Date.now(), "done", more);

  beforeAll(async () => {
    const { pool, featureSealer } = scene.system;
    for (const { eventId, account, purpose, receivedAt, ...rest } of [event, await past.store(0)]) {
      const key = { eventId, account, purpose, receivedAt };
      const stored = await readEvent(pool, key);
      const keyId = stored && "keyId" in stored.sealedUnder ? stored.sealedUnder.keyId : "";
      const payload = await sealFeatures(featureSealer, { ...key, layer: 1 }, keyId, VALUES);
      const row = { ...rest, ...key, layer: 1, keyId, payload };
      await inTransaction(pool, (transaction) => insertFeatureRows(transaction, [row]));
      rows.push(...(await findFeatureAttributes(pool, { eventId, receivedAt: new Date(receivedAt) }, 1)));
    }
  });

  it("gives values to a login of the admin API for a committed entry, and in no other way", async () => {
    const login = `admin_${randomUUID().slice(0, 8)}`;
    const admin = scene.owner as never as Executor;
    await scene.owner.query(`create role ${login} in role drs_admin; set session authorization ${login}`);
    await expect(admin.query("select payload from live_feature")).rejects.toThrow(/permission denied/);
    await admin.query("begin");
    const uncommitted = await readBy(admin);
    await expect(revealed(uncommitted, admin)).rejects.toThrow(REFUSED);
    await admin.query("rollback");
    await expect(revealed(uncommitted, admin)).rejects.toThrow(REFUSED);
    expect(await revealed(await readBy(admin), admin)).toEqual([event.eventId]);
    await scene.owner.query(`reset session authorization; drop role ${login}`);
  });

  it("gives no values of another event, and none for an entry about raw events", async () => {
    const both = { eventIds: rows.map(({ event_id }) => event_id) };
    expect(await revealed(await readBy(scene.system.pool))).toEqual([event.eventId]);
    expect(await revealed(await readBy(scene.system.pool, both))).toEqual(both.eventIds);
    await expect(revealed(await entryOf(scene.system.pool))).rejects.toThrow(REFUSED);
  });

  it("gives values of a restricted account only for an entry with a case", async () => {
    const setRestricted = "update account_key set restricted = $1 where account = $2";
    await scene.owner.query(setRestricted, [true, event.account]);
    expect(await revealed(await readBy(scene.system.pool))).toEqual([]);
    expect(await revealed(await readBy(scene.system.pool, { caseId: randomUUID() }))).toEqual([event.eventId]);
    await scene.owner.query(setRestricted, [false, event.account]);
  });
});
