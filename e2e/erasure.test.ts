/** Erasure: nothing of it is read again, late retries are answered, and what is committed meanwhile is whole. */
import { spawn } from "node:child_process";
import { createHash, createPrivateKey, randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { CompactSign } from "jose";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountSecretName } from "../packages/server/src/crypto/sealer.ts";
import { beginErasure } from "../packages/server/src/lifecycle/erasure/begin-erasure.ts";
import type { ErasureSubject } from "../packages/server/src/lifecycle/erasure/plan-erasure.ts";
import type { System } from "../packages/server/src/app/system.ts";
import { inOwnerTransaction } from "../packages/server/src/postgres/database.ts";
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
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { applyPeriod } from "./support/policy.ts";
import { type Credentials, type ServerProcess, startServer } from "./support/server.ts";
import { rounds } from "./support/soak.ts";

const DRS = join(import.meta.dirname, "../packages/server/bin/drs.js");

let database: TestDatabase;
let environment: Record<string, string>;
let serving: Record<string, string>;
let system: System;
let owner: OwnerClient;
let servers: ServerProcess[];
let folder: string;
let accounts = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-erasure-"));
  database = await sharedDatabase();
  environment = {
    ...(await database.environment()),
    DRS_ERASURE_JOURNAL: join(folder, "journal"),
    DRS_KEY_BACKUP_RETENTION: "7d",
    DRS_BACKUP_RETENTION: "30d",
  };
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  await applyPeriod(environment, folder, "P30D");
  serving = { ...environment, DRS_THROTTLE_RATE: "0", DRS_RETENTION_INTERVAL: "24h" };
  servers = await Promise.all([startServer(serving), startServer(serving)]);
});

afterAll(async () => {
  for (const server of servers ?? []) await server.stop();
  await owner?.end();
  await system?.close();
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

const drs = (...args: readonly string[]): Promise<Printed> => command(environment, ...args);
const newAccount = (): string => `erased-${accounts++}`;
const party = (account = newAccount()): Promise<Credentials> => makeCredentials(system, account);

interface Stored {
  readonly eventId: string;
  readonly text: string;
  readonly request: Omit<Parameters<typeof send>[0], "url">;
}

let turn = 0;
/** By one server and then by the other. */
const post = (request: Stored["request"]): Promise<Reply> =>
  send({ ...request, url: servers[turn++ % servers.length]?.url ?? "" });

async function store(who: Credentials): Promise<Stored> {
  const body = transport(who);
  const request = { headers: authorized(who), body: JSON.stringify(body) };
  const answer = await post(request);
  expect(answer.status, answer.text).toBe(201);
  return { eventId: String(answer.json["event_id"]), text: JSON.stringify(body.observations), request };
}

async function erase(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await drs("erase", "run", ...args, "--reason", "request 17", "--yes", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout)[0] ?? {};
}

async function read(eventId: string): Promise<string | undefined> {
  const { code, stdout } = await drs("event", "get", eventId, "--raw", "--reason", "r");
  return code === 0 ? stdout : undefined;
}

async function listed(account: string): Promise<unknown[]> {
  const { stdout } = await drs("event", "list", "--account", account, "--limit", "0", "--json");
  return objects(stdout).map(({ event_id }) => event_id);
}

async function purposeOf(eventId: string): Promise<string> {
  return String(objects((await drs("event", "get", eventId, "--json")).stdout)[0]?.["purpose"]);
}

const changed = ({ request }: Stored): Stored["request"] => ({
  ...request,
  body: String(request.body).replace('"sensorCount":23', '"sensorCount":24'),
});

async function keysOf(account: string): Promise<string[]> {
  const { rows } = await owner.query<{ key_id: string }>("select key_id from account_key where account = $1", [
    account,
  ]);
  return rows.map(({ key_id }) => key_id);
}

/** Of the journal. */
async function entries(): Promise<number> {
  const found = await readdir(join(folder, "journal"), { recursive: true }).catch(() => []);
  return found.filter((name) => name.endsWith(".json")).length;
}

function secretExists(keyId: string): Promise<boolean> {
  const digest = createHash("sha256").update(accountSecretName(keyId)).digest("hex");
  return stat(join(environment["DRS_KEY_DIR"] ?? "", "secrets", digest.slice(0, 2), digest)).then(
    () => true,
    () => false,
  );
}

/** Every table that an erasure changes: which of them still hold the text. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'drs'::regnamespace and relkind in ('r', 'p') and not relispartition",
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await owner.query(`select from ${name} t where t::text like '%' || $1 || '%' limit 1`, [text]);
    if (rowCount) found.push(name);
  }
  return found;
}

/** What names an account: its identity and keys, secrets of any account, and its audit entries. */
async function namedOf(account: string): Promise<object> {
  const { rows } = await owner.query(
    `select (select count(*) from account_identity where account = $1) as identities,
      (select count(*) from account_key where account = $1) as keys,
      (select count(*) from audit_entry where account = $1 and operation = 'event.create'
        and outcome <> 'unmapped') as audited`,
    [account],
  );
  const secrets = await readdir(join(environment["DRS_KEY_DIR"] ?? "", "secrets"), { recursive: true });
  return { ...rows[0], secrets: secrets.length };
}

async function replaysOf(account: string): Promise<number> {
  const text = "select sum(occurrences)::int as replays from audit_entry where outcome = 'replayed' and account = $1";
  return (await owner.query<{ replays: number | null }>(text, [account])).rows[0]?.replays ?? 0;
}

describe("an account", () => {
  test("is gone: events, ledger, tokens, actions, its keys; others stay, and retries are answered", async () => {
    const [who, other] = [await party(), await party()];
    const mine = [await store(who), await store(who), await store(who)];
    const theirs = await store(other);
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
    });
    const file = join(folder, "receipt.jws");
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
    expect(await tablesWith(who.account)).toEqual(["audit_entry"]);
    expect(await listed(other.account)).toEqual([theirs.eventId]);
    expect(await read(theirs.eventId)).toBe(theirs.text);

    const namedBefore = await namedOf(who.account);
    // Its token is deleted; with a new one, late retries get their former answers.
    const [first] = mine;
    for (const _ of servers) await until(async () => first !== undefined && (await post(first.request)).status === 401);
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
      expect((await post(again(changed(one)))).status).toBe(409);
    }
    // Each server writes what it counted every second, the other account's replay among it.
    for (const _ of servers) expect((await post(theirs.request)).status).toBe(200);
    await until(async () => (await replaysOf(other.account)) === servers.length);
    // The identity is the new token's.
    const expected = { ...namedBefore, identities: "1" };
    expect(await namedOf(who.account), "a retry writes nothing that names the account").toEqual(expected);
    expect(await listed(who.account)).toEqual([]);
    const later = await store(back);
    expect(await read(later.eventId)).toBe(later.text);
    expect(await listed(who.account)).toEqual([later.eventId]);
  });

  test("twice is once: nothing is left for the second, and what came since goes", async () => {
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

  test("that is refused from then on gets 403 for what is new, and its retries their 200", async () => {
    const who = await party();
    const stored = await store(who);
    await erase("--account", who.account, "--refuse-later");
    const back = await party(who.account);
    const fresh = { headers: authorized(back), body: JSON.stringify(transport(back)) };
    for (const server of servers) {
      await until(async () => (await send({ ...fresh, url: server.url })).status === 403);
    }
    expect((await post(fresh)).json).toMatchObject({ type: "urn:problem:device-risk-signals:account-erased" });
    const retry = { ...stored.request, headers: { ...stored.request.headers, Authorization: `Bearer ${back.token}` } };
    expect((await post(retry)).status).toBe(200);
    expect(await listed(who.account)).toEqual([]);
  });

  test("that was erased before can be refused later on, once", async () => {
    const who = await party();
    await store(who);
    const first = await erase("--account", who.account);
    const second = await erase("--account", who.account, "--refuse-later");
    expect(second["sequence"]).not.toBe(first["sequence"]);
    expect(await erase("--account", who.account, "--refuse-later")).toEqual(second);
    const back = await party(who.account);
    const fresh = { headers: authorized(back), body: JSON.stringify(transport(back)) };
    await until(async () => (await post(fresh)).status === 403);
  });

  test("of which only its name and secret are left is erased, too", async () => {
    const who = await party();
    await store(who);
    for (const table of ["event", "idempotency_key", "session_token", "action"]) {
      await owner.query(`delete from ${table} where account = $1`, [who.account]);
    }
    expect(await erase("--account", who.account)).toMatchObject({ events: 0, destroyed_keys: [expect.any(String)] });
    expect(await tablesWith(who.account)).toEqual(["audit_entry"]);
  });

  test("at once with its ingestion on two servers: what is left is whole, what was answered before is gone", async () => {
    const who = await party();
    const other = await party();
    const before = [await store(who), await store(who)];
    const answered: { eventId: string; text: string; at: number }[] = [];
    const statuses: number[] = [];
    const stopped = new AbortController();
    const ingest = async (): Promise<void> => {
      for (let count = 0; !stopped.signal.aborted; count++) {
        const sender = count % 3 === 0 ? other : who;
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
    for (let round = 0; round < 6; round++) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      const began = performance.now();
      await erase(...purposeOnly);
      const gone = new Set<unknown>(answered.filter(({ at }) => at < began).map(({ eventId }) => eventId));
      expect((await listed(who.account)).filter((id) => gone.has(id))).toEqual([]);
    }
    stopped.abort();
    await Promise.all(senders);
    expect(new Set(statuses)).toEqual(new Set([201]));
    const left = await listed(who.account);
    expect(left.length).toBeGreaterThan(0);
    for (const { eventId, text } of answered.filter((one) => left.includes(one.eventId)).slice(0, 30)) {
      expect(await read(eventId)).toBe(text);
    }
    for (const { eventId } of before) expect(await read(eventId)).toBeUndefined();
    const rows = await owner.query("select from event where account = $1", [who.account]);
    expect(rows.rowCount, "nothing lies there that nobody can read").toBe(left.length);
  }, 60_000);
});

describe("beside others", () => {
  const LOCKED = `select ${AWAITED_LOCKS} and locktype = 'advisory'`;

  /** Runs work while another connection holds a lock; @returns what it gave, after it was seen to wait for it. */
  async function seenToWait<T>(lock: string, work: () => Promise<T>, meanwhile: () => Promise<void>): Promise<T> {
    const holder = new pg.Client({ connectionString: environment["DRS_DATABASE_URL"] });
    await holder.connect();
    try {
      await holder.query(`begin; select drs.${lock}()`);
      const working = work();
      await until(async () => (await owner.query(LOCKED)).rowCount === 1);
      await meanwhile();
      await holder.query("commit");
      return await working;
    } finally {
      await holder.end();
    }
  }

  /** An erasure up to its commit; what is done before that is done under its locks. */
  async function begin(subject: ErasureSubject, meanwhile?: () => Promise<void>): Promise<void> {
    const { administration, clock, sealer, names, journal, codec, keyStore } = system;
    if (!journal) throw new Error("there is no journal");
    const order = { subject, actor: "a test", reason: "r", refuseLater: false };
    await inOwnerTransaction(administration, async (transaction) => {
      await beginErasure(transaction, { clock, sealer, names, journal, codec, keyStore }, order);
      await meanwhile?.();
    });
  }

  const count = async (table: string, where: string, value: unknown): Promise<number | null> =>
    (await owner.query(`select from ${table} where ${where} = $1`, [value])).rowCount;

  test.each(["join_ingestion", "lock_holds", "lock_journal"])("it begins when what has %s is over", async (lock) => {
    const who = await party();
    await store(who);
    const before = await entries();
    await seenToWait(
      lock,
      () => erase("--account", who.account),
      async () => expect(await entries()).toBe(before),
    );
    expect(await entries()).toBe(before + 1);
  });

  test("a commit batch that waited for it is sealed anew", async () => {
    const who = await party();
    const before = await store(who);
    const body = transport(who);
    let answering: Promise<Reply> | undefined;
    await begin({ kind: "purpose", account: who.account, purpose: 1 }, async () => {
      answering = post({ headers: authorized(who), body: JSON.stringify(body) });
      await until(async () => (await owner.query(LOCKED)).rowCount === 1);
    });
    const answer = await answering;
    expect(answer?.status, answer?.text).toBe(201);
    expect((await drs("retention", "run")).code).toBe(0);
    expect(await read(before.eventId)).toBeUndefined();
    expect(await read(String(answer?.json["event_id"]))).toBe(JSON.stringify(body.observations));
  });

  test("its secrets are destroyed by the journal's word, whatever the serving role has forgotten meanwhile", async () => {
    const who = await party();
    await store(who);
    const [keyId = ""] = await keysOf(who.account);
    await begin({ kind: "account", account: who.account });
    const { pool } = system;
    await pool.query("select delete_erased($1, array(select key from idempotency_key where key_id = $1))", [keyId]);
    await pool.query("select delete_account_key($1)", [keyId]);
    expect([await keysOf(who.account), await secretExists(keyId)]).toEqual([[], true]);
    expect((await drs("retention", "run")).code).toBe(0);
    expect(await secretExists(keyId)).toBe(false);
  });

  test("the ledger goes when no commit batch is left that may not have seen its tombstones", async () => {
    const who = await party();
    const stored = await store(who);
    await begin({ kind: "account", account: who.account });
    await seenToWait(
      "join_ingestion",
      () => drs("retention", "run"),
      async () => expect(await count("idempotency_key", "event_id", stored.eventId)).toBe(1),
    );
    expect(await count("idempotency_key", "event_id", stored.eventId)).toBe(0);
    expect(
      await count(
        "tombstone",
        "name_mac",
        system.names.nameOf(who.account, String(stored.request.headers?.["Idempotency-Key"])),
      ),
    ).toBe(1);
  });

  test("several at once, of the same account too, are carried out one after the other", async () => {
    const [one, two] = [await party(), await party()];
    await Promise.all([store(one), store(two), store(two)]);
    const done = await Promise.all([one, two, one, two].map((who) => erase("--account", who.account)));
    expect(done[0]).toMatchObject({ events: 1, finished_at: expect.any(String) });
    expect(done[1]).toMatchObject({ events: 2 });
    expect([done[2], done[3]], "whoever comes second finds nothing left").toEqual([done[0], done[1]]);
    for (const who of [one, two]) expect(await tablesWith(who.account)).toEqual(["audit_entry"]);
  });

  test("at once with an expiry of the same events", async () => {
    const who = await party();
    const stored = await store(who);
    await Promise.all([erase("--account", who.account), drs("retention", "run"), drs("retention", "run")]);
    expect(await read(stored.eventId)).toBeUndefined();
    expect(await tablesWith(who.account)).toEqual(["audit_entry"]);
  });

  test("the serving role can take nothing that is not erased, nor change what was", async () => {
    const [who, other] = [await party(), await party()];
    const stored = await store(who);
    const [key] = await keysOf(who.account);
    const client = await system.pool.connect();
    try {
      await client.query("select delete_erased($1, array(select key from idempotency_key))", [key]);
      await client.query("select delete_account_key($1)", [key]);
      const unused = randomUUID();
      await client.query("select ensure_account_key($1, 1, $2)", [other.account, unused]);
      await client.query("select delete_account_key($1)", [unused]);
      expect(await keysOf(other.account)).toEqual([unused]);
      // It has no secret: a key store without it would count as older than the database.
      await owner.query("delete from account_key where key_id = $1", [unused]);
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

describe("less than an account", () => {
  test("one event, one action's events: by row, with a tombstone each", async () => {
    const who = await party();
    const [one, two] = [await store(who), await store(who)];
    expect(await erase("--event", one.eventId)).toMatchObject({ kind: "event", events: 1, destroyed_keys: [] });
    expect([await read(one.eventId), await read(two.eventId)]).toEqual([undefined, two.text]);
    expect(await post(one.request)).toMatchObject({ status: 200, json: { event_id: one.eventId } });
    expect((await post(changed(one))).status).toBe(409);
    expect(await erase("--action", who.actionId)).toMatchObject({ kind: "action", events: 1 });
    expect(await listed(who.account)).toEqual([]);
    expect(await post(two.request)).toMatchObject({ status: 200, json: { event_id: two.eventId } });
    expect((await keysOf(who.account)).length).toBe(1);
  });

  test("an account under one purpose: what is under another stays", async () => {
    const file = join(folder, "two.yaml");
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

/** What the receipt of an erasure says. */
async function receiptOf(erasureId: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await drs("receipt", "get", erasureId);
  expect(code, stderr).toBe(0);
  return JSON.parse(Buffer.from(stdout.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
}

describe("what a hold keeps", () => {
  test("goes where it can't be opened, and that is told; what can be is kept", async () => {
    const who = await party();
    const [broken, whole] = [await store(who), await store(who)];
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    const placed = objects((await drs("hold", "add", "--account", who.account, ...why, "--json")).stdout)[0];
    await owner.query("set session_replication_role = replica");
    await owner.query("update event set payload = '\\x00' where event_id = $1", [broken.eventId]);
    await owner.query("reset session_replication_role");
    const out = join(folder, "unreadable");
    expect((await drs("account", "export", "--account", who.account, "--out", out, "--reason", "r")).code).toBe(0);
    const exported = objects(await readFile(join(out, "events.ndjson"), "utf8"));
    expect(exported.find(({ event_id }) => event_id === broken.eventId)).toMatchObject({ unreadable: true });
    const run = await drs("erase", "run", "--account", who.account, "--reason", "r", "--yes", "--json");
    expect(run.code).toBe(3);
    expect(objects(run.stdout)[0]).toMatchObject({ events: 1, held: 1, unreadable: 1 });
    expect([await read(broken.eventId), await read(whole.eventId)]).toEqual([undefined, whole.text]);
    await drs("hold", "lift", String(placed?.["hold_id"]), "--reason", "settled", "--yes");
    expect((await drs("retention", "run")).code).toBe(0);
  });

  test("keeps nobody from refusing what comes later", async () => {
    const who = await party();
    const held = await store(who);
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    const placed = objects((await drs("hold", "add", "--event", held.eventId, ...why, "--json")).stdout)[0];
    const purpose = await purposeOf(held.eventId);
    const reason = ["--reason", "r", "--yes"];
    expect((await drs("erase", "run", "--account", who.account, "--purpose", purpose, ...reason)).code).toBe(3);
    for (const table of ["session_token", "action"]) {
      await owner.query(`delete from ${table} where account = $1`, [who.account]);
    }
    expect((await drs("erase", "run", "--account", who.account, "--refuse-later", ...reason)).code).toBe(3);
    const refused = "select from refused_account where account_mac = $1";
    expect((await owner.query(refused, [system.names.subjectOf("account", who.account)])).rowCount).toBe(1);
    await drs("hold", "lift", String(placed?.["hold_id"]), "--reason", "settled", "--yes");
    expect((await drs("retention", "run")).code).toBe(0);
  });

  test("waits for its end: exit 3, then gone with it", async () => {
    const who = await party();
    const [held, free] = [await store(who), await store(who)];
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    const placed = objects((await drs("hold", "add", "--event", held.eventId, ...why, "--json")).stdout)[0];
    const run = await drs("erase", "run", "--account", who.account, "--reason", "r", "--yes", "--json");
    expect(run.code).toBe(3);
    expect(objects(run.stdout)[0]).toMatchObject({ events: 1, held: 1, still_held: 1 });
    expect(run.stderr).toMatch(/hold keeps 1 event/);
    expect([await read(held.eventId), await read(free.eventId)]).toEqual([held.text, undefined]);
    for (const named of [
      ["--account", who.account],
      ["--account", who.account, "--refuse-later"],
      ["--account", who.account, "--purpose", await purposeOf(held.eventId)],
      ["--event", held.eventId],
    ]) {
      const again = await drs("erase", "run", ...named, "--reason", "r", "--yes");
      expect([again.code, again.stderr.includes("hold keeps 1 event")], named.join(" ")).toEqual([3, true]);
    }
    const plan = objects((await drs("erase", "plan", "--event", held.eventId, "--json")).stdout)[0];
    expect(plan).toMatchObject({ events: 0, held: 0, still_held: 1 });
    expect((await drs("retention", "run")).code).toBe(0);
    expect(await read(held.eventId)).toBe(held.text);
    const ends = async (sequence: number): Promise<unknown> =>
      system.pool.query("select record_ended_hold($1, gen_random_uuid(), '\\x00', now(), $2)", [
        sequence,
        placed?.["hold_id"],
      ]);
    const { rows: head } = await owner.query<{ next: number }>(
      "select max(sequence)::int + 1 as next from journal_entry",
    );
    const next = head[0]?.next ?? 0;
    await expect(ends(next), "it stands").rejects.toMatchObject({ code: "23001" });
    await drs("hold", "lift", String(placed?.["hold_id"]), "--reason", "settled", "--yes");
    const lifted = objects((await drs("erase", "plan", "--event", held.eventId, "--json")).stdout)[0];
    expect(lifted, "no hold keeps it any more").toMatchObject({ held: 0, still_held: 0, released: 1 });
    await expect(ends(next + 1), "its copy is there").rejects.toMatchObject({ code: "23001" });
    const another = await drs("hold", "add", "--account", who.account, ...why);
    expect(another, "no hold brings it back").toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/erased but for its row/),
    });
    await owner.query("create table aside as table held_event");
    await owner.query("delete from held_event");
    await expect(ends(next + 2), "the next entry has another number").rejects.toMatchObject({ code: "23001" });
    await owner.query("insert into held_event select * from aside");
    await owner.query("drop table aside");
    expect(await read(held.eventId)).toBeUndefined();
    expect((await drs("retention", "run")).code).toBe(0);
    expect((await owner.query("select from held_event")).rowCount).toBe(0);
    expect(await tablesWith(who.account)).toEqual(["audit_entry"]);
    const [end] = objects((await drs("erase", "list", "--json")).stdout);
    expect(end).toMatchObject({ kind: "hold", destroyed_keys: [placed?.["hold_id"]] });
    const [refusal, begun] = objects((await drs("erase", "list", "--account", who.account, "--json")).stdout);
    expect(refusal).toMatchObject({ kind: "account", events: 0, held: 0 });
    expect(begun).toMatchObject({ kind: "account", held: 1, still_held: 0 });
    expect(begun?.["completed_at"]).not.toBeNull();
    const final = await receiptOf(String(begun?.["erasure_id"]));
    expect(final).toMatchObject({ completed_at: expect.any(String), finished_at: begun?.["finished_at"] });
    expect(Object.values(final["backups"] as object), "it knows now when backups hold nothing").not.toContain(null);
  });
});

describe("killed", () => {
  /** The command, killed when it was seen to wait for a lock that is held meanwhile. */
  async function eraseAndKill(account: string, lock: string): Promise<void> {
    const holder = await connectAsOwner(environment);
    await holder.query("begin");
    await holder.query(lock, lock.includes("$1") ? [account] : []);
    const args = ["erase", "run", "--account", account, "--reason", "killed", "--yes"];
    const child = spawn(process.execPath, [DRS, ...args], {
      env: { ...process.env, ...environment },
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    // Workers wait for each other by advisory locks.
    const waiting = `${AWAITED_LOCKS} and locktype <> 'advisory'`;
    await until(async () => (await owner.query(`select ${waiting}`)).rowCount !== 0);
    child.kill("SIGKILL");
    await ended;
    // Without its client, the statement that waits would go on.
    await owner.query(`select pg_terminate_backend(pid) ${waiting}`);
    await until(async () => (await owner.query(`select ${waiting}`)).rowCount === 0);
    await holder.query("rollback");
    await holder.end();
  }

  /** What the command waits for at each of its steps, and what is seen of it then. */
  const STEPS: readonly (readonly [string, string, { readonly inDatabase: boolean; readonly ledger: number }])[] = [
    [
      "when the journal has it and the database does not",
      "select from account_key where account = $1 for update",
      { inDatabase: false, ledger: 1 },
    ],
    ["before its tombstones stand", "lock table tombstone in exclusive mode", { inDatabase: true, ledger: 1 }],
    [
      "before its ledger is deleted",
      "select from idempotency_key where account = $1 for update",
      { inDatabase: true, ledger: 1 },
    ],
    [
      "before its events are deleted",
      "select from event where account = $1 for update",
      { inDatabase: true, ledger: 1 },
    ],
  ];

  test.each(STEPS)("%s, it is finished by the next, once", async (_, lock, { inDatabase, ledger }) => {
    const who = await party();
    const stored = await store(who);
    const [journalled, head] = [await entries(), (await owner.query("select from erasure")).rowCount ?? 0];
    await eraseAndKill(who.account, lock);
    expect(await entries(), "it is in the journal").toBe(journalled + 1);
    expect((await owner.query("select from erasure")).rowCount).toBe(head + (inDatabase ? 1 : 0));
    expect((await owner.query("select from idempotency_key where account = $1", [who.account])).rowCount).toBe(ledger);
    expect(await listed(who.account)).toEqual([]);
    expect((await drs("retention", "run")).code).toBe(0);
    expect(await tablesWith(who.account)).toEqual(["audit_entry"]);
    const [erasure] = objects((await drs("erase", "list", "--json")).stdout);
    expect(erasure).toMatchObject({ events: 1, idempotency_keys: 1, finished_at: expect.any(String) });
    expect([erasure?.["actor"], erasure?.["reason"]], "of the order, whoever finished it").toEqual([
      expect.stringMatching(new RegExp(`^cli:${userInfo().username} \\(`)),
      "killed",
    ]);
    const audited = objects((await drs("audit", "list", "--limit", "0", "--json")).stdout).filter(
      ({ detail }) => (detail as { subject_mac?: string } | null)?.subject_mac === erasure?.["subject_mac"],
    );
    expect(audited.map(({ outcome }) => outcome).toSorted()).toEqual(["begun", "done"]);
    expect((await drs("receipt", "get", String(erasure?.["erasure_id"]))).code).toBe(0);
    expect(await read(stored.eventId)).toBeUndefined();
    expect(await entries()).toBe(journalled + 1);
  });

  test("when the journal has it and the database does not, a server that runs carries it out", async () => {
    const who = await party();
    await store(who);
    const server = await startServer({ ...serving, DRS_RETENTION_INTERVAL: "1s" });
    await eraseAndKill(who.account, "select from account_key where account = $1 for update");
    await until(async () => (await tablesWith(who.account)).length === 1);
    await server.stop();
  });

  test("at any moment, an erasure is finished by whoever comes next, once", async () => {
    const who = await party();
    for (let count = 0; count < 60; count++) await store(who);
    const args = [DRS, "erase", "run", "--account", who.account, "--reason", "r", "--yes"];
    const kills = rounds(3, 8);
    for (let kill = 0; kill < kills; kill++) {
      const child = spawn(process.execPath, args, { env: { ...process.env, ...environment }, stdio: "ignore" });
      const ended = new Promise((resolve) => child.once("close", resolve));
      await new Promise((resolve) => setTimeout(resolve, 500 + (kill * 480) / kills));
      child.kill("SIGKILL");
      await ended;
    }
    // The next process: a server that starts, or a command.
    const run = await drs("erase", "run", "--account", who.account, "--reason", "r", "--yes", "--json");
    expect(run.code, run.stderr).toBe(0);
    expect(await listed(who.account)).toEqual([]);
    expect((await owner.query("select from event where account = $1", [who.account])).rowCount).toBe(0);
    const rows = objects<{ sequence: number }>((await drs("erase", "list", "--account", who.account, "--json")).stdout);
    const again = await owner.query<{ events: number }>(
      "select sum(events)::int as events from erasure where kind = 'account' and sequence >= $1",
      [Math.min(...rows.map(({ sequence }) => sequence))],
    );
    expect(again.rows[0]?.events).toBe(60);
    expect(await tablesWith(who.account)).toEqual(["audit_entry"]);
  }, 60_000);
});

describe("the register", () => {
  test.each([
    ["nothing named", ["--reason", "r"]],
    ["two things", ["--account", "a", "--event", randomUUID(), "--reason", "r"]],
    ["no reason", ["--account", "a"]],
    ["a purpose without its account", ["--purpose", "default", "--reason", "r"]],
  ])("%s is wrong usage", async (_, args) => {
    expect(await drs("erase", "run", ...args, "--yes")).toMatchObject({ code: 2, stdout: "" });
  });

  test("a receipt that can't be written stops it before anything is erased", async () => {
    const who = await party();
    const stored = await store(who);
    const nowhere = ["--receipt", join(folder, "nowhere", "receipt.jws")];
    const run = await drs("erase", "run", "--account", who.account, "--reason", "r", "--yes", ...nowhere);
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("Nothing is erased")]);
    expect(await read(stored.eventId)).toBe(stored.text);
  });

  test("under a purpose is listed of its account, too", async () => {
    const who = await party();
    const { eventId } = await store(who);
    await erase("--account", who.account, "--purpose", await purposeOf(eventId));
    const found = objects((await drs("erase", "list", "--account", who.account, "--json")).stdout);
    expect(found).toMatchObject([{ kind: "purpose", events: 1 }]);
  });

  test("a journal that was changed behind its head stops every command, the doctor too", async () => {
    const entry = join(folder, "journal", "000000", "000000001.json");
    const text = await readFile(entry, "utf8");
    await writeFile(entry, text.replace(/"at":"2/, '"at":"3'));
    const broken = await drs("doctor", "--json");
    await writeFile(entry, text);
    expect(broken).toMatchObject({ code: 1, stdout: "" });
    expect(broken.stderr).toContain("entry 1 of the erasure journal was changed: restore the journal");
    expect((await drs("doctor")).code).toBe(0);
  });

  test("what nothing is known of is not erased, and nobody is not asked", async () => {
    const unknown = await drs("erase", "run", "--account", "nobody-at-all", "--reason", "r", "--yes");
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    const who = await party();
    const stored = await store(who);
    const asked = await drs("erase", "run", "--account", who.account, "--reason", "r");
    expect(asked).toMatchObject({ code: 2, stdout: "" });
    expect(asked.stderr).toContain("--yes");
    const dry = await drs("erase", "run", "--account", who.account, "--reason", "r", "--dry-run", "--json");
    expect(objects(dry.stdout)[0]).toMatchObject({ events: 1, dry_run: true });
    expect(await read(stored.eventId)).toBe(stored.text);
  });

  test("the journal names nobody, and the audit has each order", async () => {
    const files = await readdir(join(folder, "journal"), { recursive: true });
    const texts = await Promise.all(
      files.filter((name) => name.endsWith(".json")).map((name) => readFile(join(folder, "journal", name), "utf8")),
    );
    expect(texts.length).toBeGreaterThan(5);
    for (const text of texts) expect(text).not.toMatch(/erased-\d/);
    const orders = objects((await drs("audit", "list", "--limit", "1000", "--json")).stdout).filter(
      ({ operation }) => operation === "erase.run",
    );
    expect(new Set(orders.map(({ outcome }) => outcome))).toEqual(new Set(["begun", "done"]));
    expect(JSON.stringify(orders)).not.toMatch(/erased-\d/);
  });
});

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

describe("a receipt", () => {
  test("and the list of erasures have the same instant", async () => {
    const { account } = await party();
    const { erasure_id } = await erase("--account", account);
    const [listed] = objects((await drs("erase", "list", "--account", account, "--json")).stdout);
    expect((await receiptOf(String(erasure_id)))["finished_at"]).toBe(listed?.["finished_at"]);
  });

  test("holds by the right key alone, and by no bit less", async () => {
    const who = await party();
    await store(who);
    const file = join(folder, "signed.jws");
    const key = join(folder, "key.pem");
    const erasure = await erase("--account", who.account, "--receipt", file);
    await writeFile(key, (await drs("receipt", "key")).stdout);
    const verified = await drs("receipt", "verify", file, "--public-key", key, "--json");
    expect(verified.stderr).toBe("");
    expect(objects(verified.stdout)[0]).toMatchObject({
      receipt: "erasure",
      erasure_id: erasure["erasure_id"],
      events: 1,
      destroyed_keys: erasure["destroyed_keys"],
      reason: "request 17",
      policy_version: expect.any(Number),
      backups: { payloads_unreadable_after: expect.any(String), attributes_gone_after: expect.any(String) },
    });
    expect(verified.stdout).not.toContain(who.account);
    const text = (await readFile(file, "utf8")).trim();
    const lastOf = (characters: string): string =>
      text.slice(0, -1) + (characters[characters.indexOf(text.at(-1) ?? "") ^ 1] ?? "");
    const bad = join(folder, "bad.jws");
    const changed = [lastOf(BASE64URL), ` ${text}`, `\ufeff${text}`, `${text}==`, `${text}.`, text.slice(0, -1), ""];
    for (let at = 0; at < text.length; at += 29) {
      const flipped = BASE64URL[BASE64URL.indexOf(text[at] ?? "") ^ 1] ?? "A";
      changed.push(text.slice(0, at) + flipped + text.slice(at + 1));
    }
    for (const one of changed) {
      await writeFile(bad, one);
      expect((await drs("receipt", "verify", bad, "--public-key", key)).code, one).toBe(1);
    }
    // The same key has signed something else.
    const seed = await system.secrets.find("receipts/1");
    const head = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed ?? Buffer.alloc(0)]);
    const signing = createPrivateKey({ key: head, format: "der", type: "pkcs8" });
    const said = Buffer.from('{"receipt":"erasure"}');
    await writeFile(bad, await new CompactSign(said).setProtectedHeader({ alg: "Ed25519" }).sign(signing));
    expect((await drs("receipt", "verify", bad, "--public-key", key)).stderr).toContain("no receipt");
    expect((await drs("retention", "run")).code).toBe(0);
    const run = objects((await drs("retention", "status", "--json")).stdout)[0]?.["runs"] as { run_id: string }[];
    const ofRun = objects((await drs("receipt", "get", run[0]?.run_id ?? "", "--json")).stdout)[0];
    await writeFile(bad, `${String(ofRun?.["receipt"])}\n`);
    const expiry = objects((await drs("receipt", "verify", bad, "--public-key", key, "--json")).stdout)[0];
    expect(expiry).toMatchObject({
      receipt: "expiry",
      actor: expect.stringMatching(/^cli:/),
      reason: expect.any(String),
      destroyed_keys: expect.any(Array),
      held: expect.any(Number),
      backups: expect.any(Object),
    });
  });
});
