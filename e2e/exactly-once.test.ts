import { Agent } from "node:http";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorized, freshKey, type Reply, send, transport } from "./support/client.ts";
import { runWithBreakGlass } from "./support/command.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./support/server.ts";
import { rounds } from "./support/soak.ts";
import { advanceClock, clockOf } from "./support/test-clock.ts";

const ROUNDS = rounds(60, 1_000);
/**
 * Every `ROUNDS_OF_ACCOUNT` rounds another account starts to send, and every `ROUNDS_OF_HOUR` rounds the clock advances
 * by an hour. Without these changes the test would exceed the limits of reads of payloads in an hour: 1,000 for an
 * account, and 10,000 for all accounts. The server reads a stored payload for two thirds of the requests.
 */
const ROUNDS_OF_ACCOUNT = 40;
const ROUNDS_OF_HOUR = 400;
const CONCURRENT = 32;

let database: TestDatabase;
let environment: Record<string, string>;
let servers: ServerProcess[];
let who: Credentials;
let other: Credentials;
let client: pg.Client;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  who = await issueCredentials(environment, "one", "1d");
  other = await issueCredentials(environment, "two", "1d");
  const settings = { ...environment, DRS_THROTTLE_RATE: "0" };
  servers = await Promise.all([startServer(settings), startServer(settings)]);
  client = await connectAsOwner(environment);
});

afterAll(async () => {
  await client.end();
  for (const server of servers) await server.stop();
  await database.close();
});

async function rows(account: string, key: string): Promise<{ event_id: string }[]> {
  const text = "select event_id from event where account = $1 and idempotency_key = $2";
  return (await client.query<{ event_id: string }>(text, [account, key])).rows;
}

const post = (server: ServerProcess, sender: Credentials, key: string, body: string, agent?: Agent): Promise<Reply> =>
  send({ url: server.url, headers: authorized(sender, key), body, ...(agent && { agent }) });

describe("the server stores one event for each idempotency key", () => {
  test(`in ${ROUNDS} rounds of ${CONCURRENT} concurrent requests to two servers`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT });
    let sender = who;
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0 && round % ROUNDS_OF_HOUR === 0) await advanceClock(environment, 3_600_000);
      if (round > 0 && round % ROUNDS_OF_ACCOUNT === 0) sender = await issueCredentials(environment, `one-${round}`);
      const key = freshKey();
      const first = transport(sender);
      const bodies = [
        JSON.stringify(first),
        JSON.stringify({ ...first, app_version: "other" }),
        JSON.stringify(first, undefined, 1),
      ];
      const sent = Array.from({ length: CONCURRENT }, (_, n) => (round + n) % 3);
      const replies = await Promise.all(
        sent.map((which, n) => post(servers[n % 2] as ServerProcess, sender, key, bodies[which] as string, agent)),
      );
      const created = replies.findIndex((reply) => reply.status === 201);
      expect(created, replies.map((reply) => reply.status).join(" ")).not.toBe(-1);
      const stored = replies[created] as Reply;
      const conflicts = sent[created] === 1;
      replies.forEach((reply, n) => {
        if (n === created) return expect(reply.json["created"]).toBe(true);
        const same = (sent[n] === 1) === conflicts;
        expect(reply.status, reply.text).toBe(same ? 200 : 409);
        if (same) expect(reply.json).toEqual({ event_id: stored.json["event_id"], created: false });
      });
    }
    agent.destroy();
    const { rows: counts } = await client.query<{ events: string; keys: string; ids: string }>(
      `select (select count(*) from event where account like 'one%') as events,
        (select count(*) from idempotency_key where account like 'one%') as keys,
        (select count(distinct idempotency_key) from event where account like 'one%') as ids`,
    );
    expect(counts).toEqual([{ events: String(ROUNDS), keys: String(ROUNDS), ids: String(ROUNDS) }]);
  }, 600_000);

  test("of each account: two accounts may use the same key, and neither learns of the other", async () => {
    const key = freshKey();
    const [server] = servers as [ServerProcess];
    const [myText, theirText] = [JSON.stringify(transport(who)), JSON.stringify(transport(other))];
    const mine = await post(server, who, key, myText);
    const theirs = await post(server, other, key, theirText);
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(mine.json["event_id"]).not.toBe(theirs.json["event_id"]);
    expect(await rows("one", key)).toHaveLength(1);

    const [myReplay, theirReplay] = await Promise.all([
      post(server, who, key, myText),
      post(server, other, key, theirText),
    ]);
    expect([myReplay.status, theirReplay.status]).toEqual([200, 200]);
    expect(myReplay.json["event_id"]).toBe(mine.json["event_id"]);
    expect(theirReplay.json["event_id"]).toBe(theirs.json["event_id"]);

    const onlyMine = freshKey();
    expect((await post(server, who, onlyMine, JSON.stringify(transport(who)))).status).toBe(201);
    const refused = { ...transport(other), action_id: "act_unknown" };
    expect((await post(server, other, onlyMine, JSON.stringify(refused))).status).toBe(403);
  });

  const same: [string, (text: string) => string][] = [
    ["white space", (text) => text.replaceAll('":', '" :\n')],
    ["string escapes", (text) => text.replace("unreadable", "unr\\u0065adable")],
    ["another spelling of a number", (text) => text.replace('"sensorCount":23', '"sensorCount":2.30e1')],
    ["1.0 for 1", (text) => text.replace('"schema_version":1', '"schema_version":1.0')],
    ["digits beyond a double", (text) => text.replace('"sensorCount":23', '"sensorCount":23.00000000000000000001')],
    ["another order of members", (text) => JSON.stringify(reversed(JSON.parse(text)))],
  ];
  test.each(same)("a replay with %s is the same payload", async (_, change) => {
    const key = freshKey();
    const [server, second] = servers as [ServerProcess, ServerProcess];
    const text = JSON.stringify(transport(who));
    const created = await post(server, who, key, text);
    const replay = await post(second, who, key, change(text));
    expect(replay.status, replay.text).toBe(200);
    expect(replay.headers["idempotency-replayed"]).toBe("true");
    expect(replay.json).toEqual({ event_id: created.json["event_id"], created: false });
  });

  test("an absent app_version equals an empty one", async () => {
    const key = freshKey();
    const [server] = servers as [ServerProcess];
    const { app_version: _, ...absent } = transport(who);
    expect((await post(server, who, key, JSON.stringify(absent))).status).toBe(201);
    expect((await post(server, who, key, JSON.stringify({ ...absent, app_version: "" }))).status).toBe(200);
    expect((await post(server, who, key, JSON.stringify(absent, undefined, 1))).status).toBe(200);
    expect((await post(server, who, key, JSON.stringify({ ...absent, app_version: "1" }))).status).toBe(409);
  });

  const different: [string, (text: string) => string][] = [
    ["a probe's value", (text) => text.replace('"sensorCount":23', '"sensorCount":24')],
    [
      "false for an omitted field",
      (text) => text.replace('"sensorCount":23', '"sensorCount":23,"isDebuggerWaiting":false'),
    ],
    ["a number as a string", (text) => text.replace('"sensorCount":23', '"sensorCount":"23"')],
    ["the platform", (text) => text.replace('"platform":"android"', '"platform":"ios"')],
    ["the SDK version", (text) => text.replace("1.2.3", "1.2.4")],
    ["skipped for timeout", (text) => text.replace('{"status":"timeout"}', '{"status":"skipped","reason":"timeout"}')],
    ["a probe more", (text) => text.replace('"probes":{', '"probes":{"runtime":{"status":"timeout"},')],
  ];
  test.each(different)("a request with a known key and %s changed is a conflict", async (_, change) => {
    const key = freshKey();
    const [server, second] = servers as [ServerProcess, ServerProcess];
    const text = JSON.stringify(transport(who));
    expect((await post(server, who, key, text)).status).toBe(201);
    const conflict = await post(second, who, key, change(text));
    expect(conflict.status).toBe(409);
    expect(conflict.json).toMatchObject({ type: "urn:problem:device-risk-signals:idempotency-conflict", status: 409 });
    expect(await rows("one", key)).toHaveLength(1);
  });

  test("no role, not even the owner of the table, can change events", async () => {
    await expect(client.query("update event set platform = 'ios'")).rejects.toThrow("immutable");
    await expect(client.query("update idempotency_key set event_id = gen_random_uuid()")).rejects.toThrow("immutable");
    await expect(client.query("update audit_entry set actor = 'another'")).rejects.toThrow("immutable");
  });

  test("the serving role can neither change nor delete events", async () => {
    await client.query("set role drs_service");
    try {
      for (const table of ["event", "idempotency_key", "audit_entry"]) {
        await expect(client.query(`delete from ${table}`)).rejects.toThrow("permission denied");
        const column = table === "audit_entry" ? "actor" : "account";
        await expect(client.query(`update ${table} set ${column} = 'x'`)).rejects.toThrow("permission denied");
        await expect(client.query(`truncate ${table}`)).rejects.toThrow("permission denied");
        await expect(client.query(`drop table ${table}`)).rejects.toThrow("must be owner");
      }
      await expect(client.query("create table drs.mine ()")).rejects.toThrow("permission denied");
    } finally {
      await client.query("reset role");
    }
  });

  // These tests are the last ones, because each of them advances the clock by 25 hours.
  test.for([
    { state: "revoked", ttl: "2d" },
    { state: "expired", ttl: "24h" },
  ])("a replay gets its answer although it is old and its action is $state", async ({ state, ttl }) => {
    const [server] = servers as [ServerProcess];
    const late = await issueCredentials(environment, `late-${state}`, "4d", ttl);
    const key = freshKey();
    const body = JSON.stringify(transport(late, new Date(clockOf(environment).now())));
    const created = await post(server, late, key, body);
    expect(created.status).toBe(201);
    if (state === "revoked")
      await runWithBreakGlass(environment, "action", "revoke", late.actionId, "--account", late.account);
    await advanceClock(environment, 25 * 3_600_000);
    expect((await post(server, late, freshKey(), body)).status, "stale").toBe(400);
    const fresh = JSON.stringify(transport(late, new Date(clockOf(environment).now())));
    expect((await post(server, late, freshKey(), fresh)).status, state).toBe(403);
    const replay = await post(server, late, key, body);
    expect(replay.status).toBe(200);
    expect(replay.json["event_id"]).toBe(created.json["event_id"]);
    expect((await post(server, late, key, body.replace("unreadable", "x"))).status).toBe(409);
  });
});

function reversed(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
