/** Tests what erasures, restrictions and retention do with stored feature values. */
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objects, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { secretExists, secretFile } from "../../../../e2e/support/key-directory.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { applyPeriod } from "../../../../e2e/support/policy.ts";
import { advanceClock } from "../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { partitionSecretName } from "../store/crypto/partition-secrets.ts";
import { sealFeatures } from "../store/crypto/seal-features.fixture.ts";
import { readEvent } from "../store/events/read-events.ts";
import { findLostSecrets } from "../lifecycle/recovery/lost-secrets.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { findRowsAsOf } from "./feature-rows-as-of.ts";
import { openRow } from "./open-row.ts";
import {
  type FeatureKey,
  type FeatureSubject,
  allFeatureRows,
  findFeatureAttributes,
  insertFeatureRows,
  type NewFeatureRow,
} from "./feature-rows.ts";

const DAY_MS = 86_400_000;
const VALUES = Buffer.from("[true]");

const folder = useFolder();
const opened = useTestSystem("file", () => ({
  DRS_ERASURE_JOURNAL: join(folder(), "journal"),
  DRS_REPLAY_WINDOW: "1h",
}));
let past: Past;
beforeAll(async () => {
  await applyPeriod(opened.environment, folder(), "P30D");
  past = new Past(opened.system);
});
afterAll(() => past.close());

async function sealedRow(event: PastEvent, layer = 1): Promise<NewFeatureRow> {
  const { pool, featureSealer } = opened.system;
  const stored = await readEvent(pool, event);
  if (!stored || !("keyId" in stored.sealedUnder)) throw new Error("the event is stored");
  const { keyId } = stored.sealedUnder;
  return { ...event, layer, keyId, payload: await sealFeatures(featureSealer, { ...event, layer }, keyId, VALUES) };
}

const insert = (...rows: NewFeatureRow[]): Promise<readonly FeatureKey[]> =>
  inTransaction(opened.system.pool, (transaction) => insertFeatureRows(transaction, rows));

async function storeWithValues(account: string, attributes = {}): Promise<PastEvent> {
  const event = await past.store(0, { account, ...attributes });
  expect(await insert(await sealedRow(event))).toEqual([{ eventId: event.eventId, layer: 1 }]);
  return event;
}

async function read(subject: FeatureSubject, includeRestricted = false): Promise<string[]> {
  const rows = await findFeatureAttributes(opened.system.pool, subject, 10, { includeRestricted });
  return rows.map(({ event_id }) => event_id);
}

async function drs(...args: readonly string[]): Promise<Record<string, unknown>> {
  const run = await runWithBreakGlass(opened.environment, ...args, "--json");
  expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
  return objects(run.stdout)[0] ?? {};
}

const erase = (...subject: readonly string[]): Promise<Record<string, unknown>> =>
  drs("erase", "run", ...subject, "--reason", "request 17", "--yes");

const rowsOf = async (account: string): Promise<number | null> =>
  (await opened.owner.query("select from feature_row where account = $1", [account])).rowCount;

describe("feature values", () => {
  it("are stored once for each event and layer, and opened by their sealer", async () => {
    const event = await storeWithValues("stored");
    expect(await insert(await sealedRow(event), await sealedRow(event, 2))).toEqual([
      { eventId: event.eventId, layer: 2 },
    ]);
    const { pool, featureSealer } = opened.system;
    const rows = await Array.fromAsync(allFeatureRows(pool, { account: "stored" }));
    expect(rows.map(({ layer }) => layer)).toEqual([1, 2]);
    for (const { layer, key_id, payload } of rows) {
      expect(await featureSealer.open({ ...event, layer }, key_id, payload)).toEqual(VALUES);
    }
    expect(await read({ actionId: event.actionId })).toEqual([event.eventId, event.eventId]);
  });

  it("can't be changed or deleted by a serving connection, nor changed by the owner", async () => {
    const { pool } = opened.system;
    for (const statement of ["update feature_row set layer = 9", "delete from feature_row"]) {
      await expect(pool.query(statement)).rejects.toThrow("permission denied");
    }
    await expect(opened.owner.query("update feature_row set platform = 'x'")).rejects.toThrow("immutable");
  });

  it("of a restricted account are hidden from analysis", async () => {
    const { eventId } = await storeWithValues("restricted");
    const order = ["--account", "restricted", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
    await drs("restriction", "add", ...order);
    expect(await read({ account: "restricted" })).toEqual([]);
    expect(await read({ account: "restricted" }, true)).toEqual([eventId]);
  });
});

it("features of events are due from the adoption of a layer of their purpose to its end", async () => {
  const due = async (): Promise<unknown[]> =>
    (await opened.owner.query("delete from extraction_due returning event_ids")).rows;
  await past.store(0, { account: "due" });
  await opened.owner.query("insert into layer values (1, 1, '{found@1}', now())");
  const { eventId } = await past.store(0, { account: "due" });
  expect(await due()).toEqual([{ event_ids: [eventId] }]);
  await opened.owner.query("update layer set ended_at = date_trunc('milliseconds', now())");
  await past.store(0, { account: "due" });
  expect(await due()).toEqual([]);
  const late = await past.store(1, { account: "due" });
  expect(await due(), "received before the end, and committed after it").toEqual([{ event_ids: [late.eventId] }]);
  await expect(opened.owner.query("update layer set ended_at = null")).rejects.toThrow("immutable");
});

describe("an erasure", () => {
  beforeAll(async () => {
    await storeWithValues("first");
    await erase("--account", "first");
  });

  it("of an account hides its values, leaves no row, counts the rows, and keeps the values of others", async () => {
    const [, other] = [await storeWithValues("erased"), await storeWithValues("other")];
    const plan = await drs("erase", "plan", "--account", "erased");
    expect(plan).toMatchObject({ features: 1 });
    const { erasure_id } = await erase("--account", "erased");
    expect(await read({ account: "erased" }, true)).toEqual([]);
    expect(await rowsOf("erased")).toBe(0);
    expect(await read({ account: "other" })).toEqual([other.eventId]);
    const { rows } = await opened.owner.query("select features::int from erasure where erasure_id = $1", [erasure_id]);
    expect(rows).toEqual([{ features: 1 }]);
    await opened.owner.query("select delete_erased_features(key_id, partition_id) from account_key, feature_partition");
    expect(await rowsOf("other")).toBe(1);
  });

  it("of an account hides its values before their rows are deleted", async () => {
    const { eventId } = await storeWithValues("hidden");
    await opened.owner.query("begin");
    const sequence = "(select max(sequence) from erasure)";
    await opened.owner.query(`update account_key set erased_by = ${sequence} where account = 'hidden'`);
    const text = "select event_id from live_feature where account = 'hidden'";
    expect((await opened.owner.query(text)).rows).toEqual([]);
    await opened.owner.query("rollback");
    expect(await read({ account: "hidden" })).toEqual([eventId]);
  });

  it("deletes the values of one event and of an action, even if the events are already deleted", async () => {
    const [one, two, kept] = [
      await storeWithValues("single"),
      await storeWithValues("single", { actionId: "erased-action" }),
      await storeWithValues("single"),
    ];
    await opened.owner.query("delete from event where account = 'single'");
    await opened.owner.query("delete from idempotency_key where account = 'single'");
    await erase("--event", one.eventId);
    await erase("--action", two.actionId);
    expect(await read({ account: "single" })).toEqual([kept.eventId]);
  });

  it("excludes late rows: the table stores nothing of an account that was erased meanwhile", async () => {
    const event = await past.store(0, { account: "late" });
    const row = await sealedRow(event);
    await opened.owner.query(
      "update account_key set erased_by = (select max(sequence) from erasure) where account = 'late'",
    );
    expect(await insert(row)).toEqual([]);
  });

  it("excludes late rows: the table stores nothing of an event that was erased meanwhile", async () => {
    const event = await past.store(0, { account: "late-event" });
    const row = await sealedRow(event);
    await erase("--event", event.eventId);
    expect(await insert(row)).toEqual([]);
  });
});

it("values of a partition whose secret is lost are stored again under another one, once the loss is accepted", async () => {
  const before = await storeWithValues("lost");
  const { partition_id } = (
    await opened.owner.query<{ partition_id: string }>("select partition_id from feature_partition")
  ).rows[0] ?? { partition_id: "" };
  const file = secretFile(opened.environment, partitionSecretName(partition_id));
  await rm(file);
  const names = await findLostSecrets(opened.system.pool, opened.system.secrets);
  expect(names).toEqual([partitionSecretName(partition_id)]);
  const accepting = ["key", "accept-loss", "--reason", "no copy has it", "--yes"];
  expect(await runWithBreakGlass(opened.environment, ...accepting)).toMatchObject({ code: 0 });
  await opened.system.accountKeys.refresh();
  const after = await storeWithValues("found");
  const { pool, featureSealer } = opened.system;
  const open = async (event: PastEvent): Promise<Buffer> => {
    const [row] = await Array.fromAsync(allFeatureRows(pool, { account: event.account }));
    return featureSealer.open({ ...event, layer: 1 }, row?.key_id ?? "", row?.payload ?? Buffer.of());
  };
  expect(await open(after)).toEqual(VALUES);
  await expect(open(before)).rejects.toMatchObject({ code: "keys-destroyed" });
});

describe("retention", () => {
  const retention = (): Promise<Record<string, unknown>> => drs("retention", "run", "--yes");
  interface Shown {
    readonly partition_id: string;
    readonly secret: string;
    readonly dropped: boolean;
  }
  const partitions = async (): Promise<Shown[]> => {
    const text = `select partition_id, dropped_at is not null as dropped,
      coalesce(later_secrets[cardinality(later_secrets)], partition_id) as secret from feature_partition`;
    return (await opened.owner.query<Shown>(text)).rows;
  };

  it("keeps values longer than their events, until exactly the end of the derived period", async () => {
    const event = await storeWithValues("expiring");
    const [partition] = await partitions();
    const name = partitionSecretName(partition?.secret ?? "");
    await opened.owner.query(
      "insert into extraction_failure (event_id, layer, purpose, received_at, reason) values ($1, 1, 1, $2, 'error')",
      [event.eventId, new Date(event.receivedAt).toISOString()],
    );
    await advanceClock(opened.environment, 60 * DAY_MS);
    expect(await retention()).toMatchObject({ features: 0 });
    expect((await opened.owner.query("select from extraction_failure")).rowCount).toBe(0);
    expect((await opened.owner.query("select from event")).rowCount).toBe(0);
    expect(await read({ eventId: event.eventId, receivedAt: new Date(event.receivedAt) })).toEqual([event.eventId]);

    await opened.system.pool.query("select drop_expired_feature_partition($1)", [partition?.partition_id]);
    expect((await partitions())[0]).toMatchObject({ dropped: false });
    expect(await secretExists(opened.environment, name)).toBe(true);

    await advanceClock(opened.environment, 306 * DAY_MS);
    expect(await read({ account: "expiring" }), "no read finds what has expired").toEqual([]);
    await advanceClock(opened.environment, 32 * DAY_MS);
    const rows = (await opened.owner.query("select from feature_row")).rowCount;
    expect(await retention()).toMatchObject({ features: rows, destroyed_keys: [partition?.partition_id] });
    expect((await opened.owner.query("select from feature_row")).rowCount).toBe(0);
    expect(await secretExists(opened.environment, name)).toBe(false);

    const { rows: dropped } = await opened.owner.query<{ at: string }>(
      "select lower_bound::text as at from feature_partition",
    );
    const ensure = opened.system.pool.query("select ensure_feature_partition(1, $1)", [dropped[0]?.at]);
    await expect(ensure, "no partition is made again").rejects.toThrow("has expired");
  });

  it("keeps values of its events for a hold: beyond the derived period and an erasure, until the hold is lifted", async () => {
    const [held, erased] = [await storeWithValues("held"), await storeWithValues("held-erased")];
    await storeWithValues("free");
    const hold = (account: string): Promise<Record<string, unknown>> =>
      drs("hold", "add", "--account", account, "--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31");
    const holds = [await hold("held"), await hold("held-erased")];
    const erasing = ["erase", "run", "--account", "held-erased", "--reason", "request 17", "--yes"];
    expect((await runWithBreakGlass(opened.environment, ...erasing)).code).toBe(3);
    expect(await rowsOf("held-erased")).toBe(0);
    expect(await read({ account: "held-erased" })).toEqual([]);
    expect(await read({ account: "held-erased" }, true)).toEqual([erased.eventId]);
    const { rows } = await opened.owner.query("select features::int from erasure order by sequence desc limit 1");
    expect(rows, "what a hold keeps is not counted as deleted").toEqual([{ features: 0 }]);

    await advanceClock(opened.environment, 60 * DAY_MS);
    await retention();
    await advanceClock(opened.environment, 306 * DAY_MS);
    expect(await read({ account: "held" }), "in its partition").toEqual([held.eventId]);
    const label = { kind: "account", account: "held", at: { epochMs: opened.system.clock.now(), micros: 0 } } as const;
    const scope = { purpose: 1, layers: [1], isKnown: false, watermark: "infinity" };
    expect((await findRowsAsOf(opened.system.pool, [label], scope)).size, "exports have none").toBe(0);
    await advanceClock(opened.environment, 32 * DAY_MS);
    const { rows: partitionRows } = await opened.owner.query<{ id: string }>(
      "select partition_id as id from feature_partition where dropped_at is null order by lower_bound limit 1",
    );
    const file = secretFile(opened.environment, partitionSecretName(partitionRows[0]?.id ?? ""));
    await rename(file, join(folder(), "secret"));
    expect((await runWithBreakGlass(opened.environment, "retention", "run")).code).toBe(1);
    expect(await rowsOf("held"), "values that another copy of the key store opens are kept").toBe(1);
    await rename(join(folder(), "secret"), file);
    await retention();
    expect(await rowsOf("held")).toBe(0);
    expect(await read({ account: "held" })).toEqual([held.eventId]);
    expect(await read({ account: "free" })).toEqual([]);
    const { pool, featureSealer } = opened.system;
    for (const { account } of [held, erased]) {
      const [row] = await Array.fromAsync(allFeatureRows(pool, { account }));
      expect(row && (await openRow(featureSealer, row))).toEqual(VALUES);
    }
    for (const { hold_id } of holds) await drs("hold", "lift", String(hold_id), "--reason", "settled", "--yes");
    expect(await read({ account: "held" }, true)).toEqual([]);
    await retention();
    expect((await opened.owner.query("select from held_feature")).rowCount).toBe(0);
  });

  it("keeps only the held values of a partition whose derived period ends before the raw period", async () => {
    await applyPeriod(opened.environment, folder(), "P90D", "P7D");
    const kept = await storeWithValues("kept");
    await storeWithValues("gone");
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    await drs("hold", "add", "--account", "kept", ...why);
    const { rows } = await opened.owner.query<{ id: string }>(
      "select partition_id as id from feature_partition where dropped_at is null",
    );
    for (const { id } of rows) await opened.system.pool.query("select delete_expired_features($1, 9)", [id]);
    expect(await read({ account: "gone" }), "not earlier").toHaveLength(1);

    await advanceClock(opened.environment, 40 * DAY_MS);
    expect(await retention()).toMatchObject({ features: 1 });
    expect([await rowsOf("gone"), await rowsOf("kept")]).toEqual([0, 1]);
    expect(await read({ account: "kept" }), "in its partition").toEqual([kept.eventId]);
    await advanceClock(opened.environment, 90 * DAY_MS);
    expect(await retention()).toMatchObject({ features: 0 });
    expect(await rowsOf("kept")).toBe(0);
    expect(await read({ account: "kept" }), "as a copy").toEqual([kept.eventId]);
  });

  it("keeps the values of held events that were moved until they are copied", async () => {
    await applyPeriod(opened.environment, folder(), "PT1H", "P30D");
    await storeWithValues("uncopied");
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    await drs("hold", "add", "--account", "uncopied", ...why);
    await advanceClock(opened.environment, 3 * 3_600_000);
    await retention();
    expect((await opened.owner.query("select from held_event where account = 'uncopied'")).rowCount).toBe(1);
    await opened.owner.query("delete from held_feature where account = 'uncopied'");
    const { rows } = await opened.owner.query<{ id: string }>(
      "select partition_id as id from feature_partition where dropped_at is null",
    );
    for (const { id } of rows) {
      const early = await opened.system.pool.query("select from drop_expired_feature_partition($1)", [id]);
      expect(early.rowCount, "its period is not over").toBe(0);
    }
    await advanceClock(opened.environment, 40 * DAY_MS);
    for (const { id } of rows) {
      await opened.system.pool.query("select delete_expired_features($1, 9)", [id]);
      const dropped = opened.system.pool.query("select drop_expired_feature_partition($1)", [id]);
      await expect(dropped).rejects.toThrow("has values of held events without a copy");
    }
    expect(await rowsOf("uncopied")).toBe(1);
  });

  it("keeps the values of held events that were moved, next to those of held events that were not", async () => {
    await applyPeriod(opened.environment, folder(), "PT1H", "P30D");
    const moved = await storeWithValues("both");
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    await drs("hold", "add", "--account", "both", ...why);
    await advanceClock(opened.environment, 3 * 3_600_000);
    await retention();
    expect((await opened.owner.query("select from held_event where account = 'both'")).rowCount).toBe(1);
    await applyPeriod(opened.environment, folder(), "P90D", "P30D");
    const stays = await storeWithValues("both");
    await advanceClock(opened.environment, 40 * DAY_MS);
    await retention();
    expect((await read({ account: "both" })).toSorted()).toEqual([moved.eventId, stays.eventId].toSorted());
  });
});
