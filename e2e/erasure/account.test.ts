/**
 * Tests of what an erasure of an account or of some of its events deletes, how late retries are answered, and that
 * other events stay.
 */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { authorized, withChange, send, transport } from "../support/client.ts";
import { objects } from "../support/command.ts";
import { until } from "../support/embedded.ts";
import { ErasureScene, type Stored } from "../support/erasure-scene.ts";

const scene = new ErasureScene();
const { drs, party, post, store, erase, read, listed, keysOf, secretExists, tablesWith } = scene;

/**
 * Counts what may name the account: rows of its identity and keys, its audit entries `event.create`, and all secrets.
 */
async function countNaming(account: string): Promise<object> {
  const { rows } = await scene.owner.query(
    `select (select count(*) from account_identity where account = $1) as identities,
      (select count(*) from account_key where account = $1) as keys,
      (select count(*) from audit_entry where subject = $2 and operation = 'event.create'
        and outcome <> 'unmapped') as audited`,
    [account, scene.system.audit.subjectOf(account)],
  );
  const secrets = await readdir(join(scene.environment["DRS_KEY_DIR"] ?? "", "secrets"), { recursive: true });
  return { ...rows[0], secrets: secrets.length };
}

async function replaysOf(account: string): Promise<number> {
  const text = "select sum(occurrences)::int as replays from audit_entry where outcome = 'replayed' and subject = $1";
  const subject = scene.system.audit.subjectOf(account);
  return (await scene.owner.query<{ replays: number | null }>(text, [subject])).rows[0]?.replays ?? 0;
}

/** Audit entries of retries that name one of these events. */
async function retriesNaming(eventIds: readonly string[]): Promise<unknown[]> {
  const text = `select outcome from audit_entry where outcome in ('replayed', 'idempotency-conflict')
    and (event_id = any ($1::uuid[]) or event_ids && $1::uuid[])`;
  return (await scene.owner.query(text, [eventIds])).rows;
}

describe("the erasure of an account", () => {
  test("deletes its events, ledger, tokens, actions and keys; other accounts stay, and late retries get their old answers", async () => {
    const [who, other] = [await party(), await party()];
    const mine = [await store(who), await store(who), await store(who)];
    const theirs = await store(other);
    expect((await post({ headers: authorized(who), body: "{}" })).status).toBe(400);
    await until(async () => (await tablesWith(who.account)).includes("recent_rejection"));
    const keys = await keysOf(who.account);
    expect(await Promise.all(keys.map(secretExists))).toEqual([true]);
    const plan = objects((await drs("erase", "plan", "--account", who.account, "--json")).stdout)[0];
    expect(plan).toEqual({
      events: 3,
      held: 0,
      still_held: 0,
      released: 0,
      idempotency_keys: 3,
      tokens: 1,
      actions: 1,
      keys: 1,
      features: 0,
      derived_only: 0,
      exports: [],
    });
    const file = join(scene.folder, "receipt.jws");
    const erasure = await erase("--account", who.account, "--receipt", file);
    expect(erasure).toMatchObject({
      kind: "account",
      events: 3,
      idempotency_keys: 3,
      tokens: 1,
      actions: 1,
      still_held: 0,
    });
    expect(erasure["destroyed_keys"]).toEqual(keys);
    expect(erasure["finished_at"]).not.toBeNull();
    expect(await Promise.all(keys.map(secretExists))).toEqual([false]);
    expect(await listed(who.account)).toEqual([]);
    for (const { eventId } of mine) expect(await read(eventId)).toBeUndefined();
    expect(await tablesWith(who.account)).toEqual([]);
    expect(await listed(other.account)).toEqual([theirs.eventId]);
    expect(await read(theirs.eventId)).toBe(theirs.text);

    const namedBefore = await countNaming(who.account);
    // The account's token was deleted. With a new token, a late retry is still a replay or a conflict.
    const [first] = mine;
    for (const _ of scene.servers)
      await until(async () => first !== undefined && (await post(first.request)).status === 401);
    const back = await party(who.account);
    const again = (stored: Stored["request"]): Stored["request"] => ({
      ...stored,
      headers: { ...stored.headers, Authorization: `Bearer ${back.token}` },
    });
    for (const one of mine) {
      expect(await post(again(one.request))).toMatchObject({
        status: 200,
        json: { event_id: one.eventId, created: false },
      });
      expect((await post(again(withChange(one)))).status).toBe(409);
    }
    // Each server writes the audit entries of replays every second. The late retries came before the other account's
    // replays, so their entries would be written no later.
    for (const _ of scene.servers) expect((await post(theirs.request)).status).toBe(200);
    await until(async () => (await replaysOf(other.account)) === scene.servers.length);
    // The new token created the identity row.
    const expected = { ...namedBefore, identities: "1" };
    expect(await tablesWith(who.account)).not.toContain("recent_rejection");
    expect(await countNaming(who.account), "a retry writes nothing that names the account").toEqual(expected);
    expect(await retriesNaming(mine.map(({ eventId }) => eventId))).toEqual([]);
    expect(await listed(who.account)).toEqual([]);
    const later = await store(back);
    expect(await read(later.eventId)).toBe(later.text);
    expect(await listed(who.account)).toEqual([later.eventId]);
  });

  test("deletes the second time only what was stored since the first time", async () => {
    const who = await party();
    await store(who);
    const first = await erase("--account", who.account);
    expect(await erase("--account", who.account)).toEqual(first);
    const later = await store(await party(who.account));
    const second = await erase("--account", who.account);
    expect(second).toMatchObject({ events: 1 });
    expect(second["sequence"]).not.toBe(first["sequence"]);
    expect(await read(later.eventId)).toBeUndefined();
    const rows = objects((await drs("erase", "list", "--account", who.account, "--json")).stdout);
    expect(rows.map(({ sequence }) => sequence)).toEqual([second["sequence"], first["sequence"]]);
  });

  test("with --refuse-later answers 403 to later events, and 200 to retries", async () => {
    const who = await party();
    const stored = await store(who);
    await erase("--account", who.account, "--refuse-later");
    const back = await party(who.account);
    // A server may store an event before it hears of the rejection, and then answers retries of this event with 200.
    const fresh = () => ({ headers: authorized(back), body: JSON.stringify(transport(back)) });
    for (const server of scene.servers) {
      const answer = async (): Promise<number> => (await send({ ...fresh(), url: server.url })).status;
      await expect.poll(answer, { timeout: 60_000, interval: 20 }).toBe(403);
    }
    expect((await post(fresh())).json).toMatchObject({ type: "urn:problem:device-risk-signals:account-erased" });
    const retry = { ...stored.request, headers: { ...stored.request.headers, Authorization: `Bearer ${back.token}` } };
    expect((await post(retry)).status).toBe(200);
    expect(await listed(who.account)).toEqual([]);
  });

  test("can add --refuse-later afterwards, once", async () => {
    const who = await party();
    await store(who);
    const first = await erase("--account", who.account);
    const second = await erase("--account", who.account, "--refuse-later");
    expect(second["sequence"]).not.toBe(first["sequence"]);
    expect(await erase("--account", who.account, "--refuse-later")).toEqual(second);
    const back = await party(who.account);
    // A server may store an event before it hears of the rejection, and then answers retries of this event with 200.
    const fresh = () => ({ headers: authorized(back), body: JSON.stringify(transport(back)) });
    await until(async () => (await post(fresh())).status === 403);
  });

  test("deletes an account that has only a name and a secret, and no events", async () => {
    const who = await party();
    await store(who);
    for (const table of ["event", "idempotency_key", "session_token", "action"]) {
      await scene.owner.query(`delete from ${table} where account = $1`, [who.account]);
    }
    expect(await erase("--account", who.account)).toMatchObject({ events: 0, destroyed_keys: [expect.any(String)] });
    expect(await tablesWith(who.account)).toEqual([]);
  });

  test("during ingestion on two servers leaves only complete events, and none that was answered before the erasure began", async () => {
    const who = await party();
    const other = await party();
    const before = [await store(who), await store(who)];
    const answered: { eventId: string; text: string; at: number }[] = [];
    const statuses: number[] = [];
    const stopped = new AbortController();
    const ingest = async (): Promise<void> => {
      for (let count = 0; !stopped.signal.aborted; count++) {
        const sender = count % 3 === 0 ? other : who;
        // The pause leaves processor time for the commands on a slow machine.
        await new Promise((resolve) => setTimeout(resolve, 10));
        const body = transport(sender);
        const reply = await post({ headers: authorized(sender), body: JSON.stringify(body) });
        statuses.push(reply.status);
        if (reply.status === 201 && sender === who) {
          answered.push({
            eventId: String(reply.json["event_id"]),
            text: JSON.stringify(body.observations),
            at: performance.now(),
          });
        }
      }
    };
    const senders = Array.from({ length: 8 }, ingest);
    const purposeOnly = ["--account", who.account, "--purpose", "default"];
    try {
      for (let round = 0; round < 6; round++) {
        await new Promise((resolve) => setTimeout(resolve, 150));
        const began = performance.now();
        await erase(...purposeOnly);
        const erased = new Set<unknown>(answered.filter(({ at }) => at < began).map(({ eventId }) => eventId));
        expect((await listed(who.account)).filter((id) => erased.has(id))).toEqual([]);
      }
    } finally {
      stopped.abort();
      await Promise.all(senders);
    }
    expect(new Set(statuses)).toEqual(new Set([201]));
    const left = await listed(who.account);
    expect(left.length).toBeGreaterThan(0);
    for (const { eventId, text } of answered.filter((one) => left.includes(one.eventId)).slice(0, 30)) {
      expect(await read(eventId)).toBe(text);
    }
    for (const { eventId } of before) expect(await read(eventId)).toBeUndefined();
    const rows = await scene.owner.query("select from event where account = $1", [who.account]);
    expect(rows.rowCount, "every row that is left can be read").toBe(left.length);
  });
});

describe("the erasure of a part", () => {
  test("deletes one event, or the events of one action, row by row, and writes a tombstone for each", async () => {
    const who = await party();
    const [one, two] = [await store(who), await store(who)];
    expect(await erase("--event", one.eventId)).toMatchObject({ kind: "event", events: 1, destroyed_keys: [] });
    expect([await read(one.eventId), await read(two.eventId)]).toEqual([undefined, two.text]);
    expect(await post(one.request)).toMatchObject({ status: 200, json: { event_id: one.eventId } });
    expect((await post(withChange(one))).status).toBe(409);
    expect(await erase("--action", who.actionId)).toMatchObject({ kind: "action", events: 1 });
    expect(await listed(who.account)).toEqual([]);
    expect(await post(two.request)).toMatchObject({ status: 200, json: { event_id: two.eventId } });
    expect((await keysOf(who.account)).length).toBe(1);
  });

  test("deletes the events of an account under one purpose, and keeps the others", async () => {
    const file = join(scene.folder, "two.yaml");
    const purpose = { title: "t", legal_basis: "l", derived_retention: "P1Y", owner: "o", raw_retention: "P30D" };
    const purposes = ["default", "payments"].map((id) => ({ ...purpose, id }));
    await writeFile(file, JSON.stringify({ purposes, actions: { payment: "payments" }, unmapped: "default" }));
    const who = await party();
    const first = await store(who);
    expect((await drs("purpose", "apply", file, "--yes")).code).toBe(0);
    let second = await store(who);
    await until(async () => {
      second = await store(who);
      return (await keysOf(who.account)).length === 2;
    });
    await erase("--account", who.account, "--purpose", "payments");
    expect(await read(second.eventId)).toBeUndefined();
    expect(await read(first.eventId)).toBe(first.text);
    expect(await post(second.request)).toMatchObject({ status: 200 });
  });
});
