/** Tests of the expiry of held events, with retention passes that run at the same time, fail or are killed. */
import { describe, expect, test } from "vitest";
import { erasurePorts } from "../../packages/server/src/runtime/lifecycle-ports.ts";
import { holdSecretName } from "../../packages/server/src/store/crypto/sealer.ts";
import { Secrets } from "../../packages/server/src/store/crypto/secrets.ts";
import { destroyHoldSecrets } from "../../packages/server/src/lifecycle/holds/destroy-hold-secrets.ts";
import { requireKeys } from "../../packages/server/src/lifecycle/recovery/installation.ts";
import { expire } from "../../packages/server/src/lifecycle/retention/expire.ts";
import { connectAsOwner } from "../support/database.ts";
import { until } from "../support/embedded.ts";
import { HoldScene, HOLD_OPTIONS } from "../support/hold-scene.ts";
import type { PastEvent } from "../support/past-event.ts";
import { startServer } from "../support/server.ts";
import { rounds } from "../support/soak.ts";

const scene = new HoldScene();
const { drs, expired, hold, listed, newAccount, read, rows, run, store } = scene;

describe("expiry and a hold of the same events", () => {
  test("exclude each other, so that every event that hold add reported as held exists, and all others are deleted", async () => {
    for (let round = 0; round < 15; round++, scene.hoursAgo--) {
      const event = await expired({ account: newAccount() });
      const [, added] = await Promise.all([
        drs("retention", "run"),
        new Promise((resolve) => setTimeout(resolve, round * 3)).then(() =>
          drs("hold", "add", "--event", event.eventId, ...HOLD_OPTIONS),
        ),
      ]);
      await run();
      expect(await read(event)).toBe(added.code === 0 ? event.exact : undefined);
    }
  });

  test("wait for each other, so that a new hold waits for the end of a deletion that has started", async () => {
    const event = await expired({ account: newAccount() });
    await scene.owner.query("begin");
    await scene.owner.query("select lock_holds()");
    let placed = false;
    const placing = hold("--event", event.eventId).then(() => (placed = true));
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(placed).toBe(false);
    await scene.owner.query("commit");
    await placing;
    expect(await read(event)).toBe(event.exact);
  });

  test("never drop a partition with a held event that has no copy, whichever role asks", async () => {
    const event = await expired({ account: newAccount() });
    await hold("--event", event.eventId);
    const [partition] = (
      await scene.owner.query<{ partition_id: string }>(
        "select partition_id from event_partition p where lower_bound <= $1 and $1 < upper_bound",
        [new Date(event.receivedAt).toISOString()],
      )
    ).rows;
    const drop = scene.system.pool.query("select * from drop_expired_partition($1)", [partition?.partition_id]);
    await expect(drop).rejects.toMatchObject({ code: "23001" });
    const deleted = scene.system.pool.query("select delete_expired_events($1, 100) as n", [partition?.partition_id]);
    expect((await deleted).rows).toEqual([{ n: 0 }]);
    expect(await read(event)).toBe(event.exact);
  });

  test("continue after the pass is killed at any moment, so that every held event exists once and all others are deleted", async () => {
    const account = newAccount();
    const before = await rows("event");
    const held: PastEvent[] = [];
    for (let count = 0; count < 250; count++) held.push(await store(scene.hoursAgo - (count % 5), { account }));
    for (let count = 0; count < 20; count++) await store(scene.hoursAgo - (count % 5), { account: newAccount() });
    scene.hoursAgo -= 5;
    await hold("--account", account);
    const serving = { ...scene.environment, DRS_RETENTION_INTERVAL: "1s" };
    const kills = rounds(2, 6);
    for (let kill = 0; kill < kills; kill++) {
      const server = await startServer(serving);
      await new Promise((resolve) => setTimeout(resolve, 1_000 + (kill * 360) / kills));
      await server.kill();
      expect((await listed("--account", account)).length).toBe(held.length);
    }
    const server = await startServer(serving);
    await until(async () => (await rows("event")) === before);
    const metrics = async (): Promise<string> => (await fetch(`${server.adminUrl}/metrics`)).text();
    await until(async () => (await metrics()).includes("\ndrs_holds 1\n"));
    await server.stop();
    expect((await listed("--account", account)).toSorted()).toEqual(held.map(({ eventId }) => eventId).toSorted());
    for (const event of [held[0], held[124], held[249]]) expect(event && (await read(event))).toBe(event?.exact);
  });

  test("drop nothing while a held event can't be copied", async () => {
    const event = await expired({ account: newAccount() });
    await hold("--event", event.eventId);
    await scene.owner.query("alter table held_event add constraint no_room check (false) not valid");
    expect(await drs("retention", "run")).toMatchObject({ code: 1, stdout: "" });
    await scene.owner.query("alter table held_event drop constraint no_room");
    expect([await rows("held_event"), await read(event)]).toEqual([0, event.exact]);
    await run();
    expect([await rows("held_event"), await read(event)]).toEqual([1, event.exact]);
  });
});

test("a held event that can't be opened keeps its partition, and no other partition", async () => {
  const broken = await expired({ account: newAccount() });
  scene.hoursAgo--;
  const other = await expired({ account: newAccount() });
  await hold("--event", broken.eventId);
  await scene.owner.query("set session_replication_role = replica");
  await scene.owner.query("update event set payload = '\\x00' where event_id = $1", [broken.eventId]);
  await scene.owner.query("reset session_replication_role");
  expect(await drs("retention", "run")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/not what was sealed/),
  });
  expect((await scene.owner.query("select from event where event_id = $1", [other.eventId])).rowCount).toBe(0);
  expect((await scene.owner.query("select from event where event_id = $1", [broken.eventId])).rowCount).toBe(1);
  const overdue =
    "select from event_partition where dropped_at is null and upper_bound + interval '1 hour' <= transaction_time()";
  expect((await scene.owner.query(overdue)).rowCount, "only its own partition stays").toBe(1);
  await scene.owner.query("set session_replication_role = replica");
  await scene.owner.query("delete from event where event_id = $1", [broken.eventId]);
  await scene.owner.query("reset session_replication_role");
  await run();
});

test("a key store that lacks the secret of a hold counts as older than the events", async () => {
  const event = await expired({ account: newAccount() });
  const id = await hold("--event", event.eventId);
  await run();
  await expect(requireKeys(scene.system.pool, scene.system.secrets)).resolves.toBeUndefined();
  await scene.system.secrets.discard(holdSecretName(id));
  await expect(requireKeys(scene.system.pool, scene.system.secrets)).rejects.toThrow(/older than the events/);
  await scene.owner.query("delete from held_event");
  await scene.owner.query("update legal_hold set lifted_at = now(), lifted_by = 'test', lift_reason = 'it is lost'");
});

test("a pass and its receipt report what was deleted and what a hold keeps, also for a previous pass that was killed", async () => {
  const account = newAccount();
  const kept = await store(scene.hoursAgo, { account });
  for (let count = 0; count < 2; count++) await store(scene.hoursAgo, { account: newAccount() });
  scene.hoursAgo--;
  await hold("--event", kept.eventId);
  // Leaves the state of a pass that was killed after it had deleted the events and before it recorded itself.
  const client = await connectAsOwner(scene.environment);
  await expire(client, { ...erasurePorts(scene.system), heldDestructionDelay: 60_000 });
  await client.end();
  const waiting = await scene.owner.query<{ id: string }>(
    "select partition_id as id from event_partition where dropped_at is not null and secret_destroyed_at is null",
  );
  expect(waiting.rows, "the partition's secret is not destroyed yet").toHaveLength(1);
  const reported = await run();
  expect(reported["destroyed_keys"]).toContain(waiting.rows[0]?.id);
  expect(reported).toMatchObject({ rows: 2, held: 1, copies: 0 });
  const { rows } = await scene.owner.query<{ receipt: string }>(
    "select receipt from retention_run order by started_at desc limit 1",
  );
  const [, payload = ""] = rows[0]?.receipt.split(".") ?? [];
  expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toMatchObject(reported);
  expect(await run()).toMatchObject({ rows: 0, held: 0, destroyed_keys: [] });
});

test("the next pass tries again to destroy a hold's secret", async () => {
  const event = await expired({ account: newAccount() });
  const id = await hold("--event", event.eventId);
  await run();
  await drs("hold", "lift", id, "--reason", "settled", "--yes");
  await scene.owner.query("delete from held_event");
  const fails = new Secrets(
    { ...scene.system.keyStore, destroy: () => Promise.reject(new Error("away")) },
    scene.system.keyEncryption,
  );
  const { clock, codec, keyStore } = scene.system;
  const ports = { journal: undefined, clock, codec, keyStore };
  await expect(destroyHoldSecrets(scene.owner, { ...ports, secrets: fails })).rejects.toThrow("away");
  const destroyed = async (): Promise<unknown[]> => {
    await destroyHoldSecrets(scene.owner, { ...ports, secrets: scene.system.secrets });
    return (await scene.owner.query("select secret_of from take_retention_effects()")).rows;
  };
  expect(await destroyed()).toEqual([{ secret_of: id }]);
  const unused = await hold("--event", (await store(0, { account: newAccount() })).eventId);
  await drs("hold", "lift", unused, "--reason", "settled", "--yes");
  expect(await destroyed(), "even a hold that copied nothing has a secret").toEqual([{ secret_of: unused }]);
  const lost = await hold("--event", (await store(0, { account: newAccount() })).eventId);
  await drs("hold", "lift", lost, "--reason", "settled", "--yes");
  await scene.system.secrets.discard(holdSecretName(lost));
  expect(await destroyed(), "a lost secret is not reported as destroyed").toEqual([]);
});
