/** Erasure: nothing of it is read again, late retries are answered, and what is committed meanwhile is whole. */
import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountSecretName } from "../packages/server/src/seal/sealer.ts";
import type { System } from "../packages/server/src/operations/system.ts";
import { authorized, type Reply, send, transport } from "./support/client.ts";
import { command, objects, type Printed } from "./support/command.ts";
import { startDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { applyPeriod } from "./support/policy.ts";
import { type Credentials, type ServerProcess, startServer } from "./support/server.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let serving: Record<string, string>;
let system: System;
let owner: pg.Client;
let servers: ServerProcess[];
let folder: string;
let accounts = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-erasure-"));
  database = await startDatabase();
  environment = {
    ...(await database.environment()),
    DRS_ERASURE_JOURNAL: join(folder, "journal"),
    DRS_KEY_BACKUP_RETENTION: "7d",
    DRS_BACKUP_RETENTION: "30d",
  };
  system = await openTestSystem(environment);
  const connectionString = environment["DRS_DATABASE_URL"];
  owner = new pg.Client({ connectionString, options: "-c search_path=drs -c timezone=UTC" });
  await owner.connect();
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

function secretExists(keyId: string): Promise<boolean> {
  const digest = createHash("sha256").update(accountSecretName(keyId)).digest("hex");
  return stat(join(environment["DRS_KEY_DIR"] ?? "", "secrets", digest.slice(0, 2), digest)).then(
    () => true,
    () => false,
  );
}

/** Every table but those that an erasure is to leave: which of them still hold the text. */
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

describe("an account", () => {
  test("is gone: events, ledger, tokens, actions, its keys; others stay, and retries are answered", async () => {
    const [who, other] = [await party(), await party()];
    const mine = [await store(who), await store(who), await store(who)];
    const theirs = await store(other);
    const keys = await keysOf(who.account);
    expect(await Promise.all(keys.map(secretExists))).toEqual([true]);
    const plan = objects((await drs("erase", "plan", "--account", who.account, "--json")).stdout)[0];
    expect(plan).toEqual({ events: 3, held: 0, idempotency_keys: 3, tokens: 1, actions: 1 });
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

    // Its token is gone; with a new one, late retries are what they were.
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

  test("at once with its ingestion on two servers: what is left is whole, what was answered before is gone", async () => {
    const who = await party();
    const other = await party();
    const before = [await store(who), await store(who)];
    const answered: { eventId: string; text: string; at: number }[] = [];
    let statuses: number[] = [];
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
    statuses = [];
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
    await applyPeriod(environment, folder, "P30D").catch(() => {});
  });
});

describe("what a hold keeps", () => {
  test("waits for its end: exit 3, then gone with it", async () => {
    const who = await party();
    const [held, free] = [await store(who), await store(who)];
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    const placed = objects((await drs("hold", "add", "--event", held.eventId, ...why, "--json")).stdout)[0];
    const run = await drs("erase", "run", "--account", who.account, "--reason", "r", "--yes", "--json");
    expect(run.code).toBe(3);
    expect(objects(run.stdout)[0]).toMatchObject({ events: 1, held: 1, still_held: 1 });
    expect(run.stderr).toMatch(/hold keeps 1 events/);
    expect([await read(held.eventId), await read(free.eventId)]).toEqual([held.text, undefined]);
    expect((await drs("erase", "run", "--account", who.account, "--reason", "r", "--yes")).code).toBe(3);
    expect((await drs("retention", "run")).code).toBe(0);
    expect(await read(held.eventId)).toBe(held.text);
    await drs("hold", "lift", String(placed?.["hold_id"]), "--reason", "settled", "--yes");
    expect(await read(held.eventId)).toBeUndefined();
    expect((await drs("retention", "run")).code).toBe(0);
    expect((await owner.query("select from held_event")).rowCount).toBe(0);
    expect(await tablesWith(who.account)).toEqual(["audit_entry"]);
    const [end, begun] = objects((await drs("erase", "list", "--json")).stdout);
    expect(end).toMatchObject({ kind: "hold" });
    expect(begun).toMatchObject({ kind: "account", held: 1, still_held: 0 });
  });
});

describe("killed", () => {
  test("at any moment, an erasure is finished by whoever comes next, once", async () => {
    const who = await party();
    for (let count = 0; count < 60; count++) await store(who);
    const { spawn } = await import("node:child_process");
    const cli = join(import.meta.dirname, "../packages/server/bin/drs.js");
    const args = [cli, "erase", "run", "--account", who.account, "--reason", "r", "--yes"];
    for (let kill = 0; kill < 8; kill++) {
      const child = spawn(process.execPath, args, { env: { ...process.env, ...environment }, stdio: "ignore" });
      const ended = new Promise((resolve) => child.once("close", resolve));
      await new Promise((resolve) => setTimeout(resolve, 500 + kill * 60));
      child.kill("SIGKILL");
      await ended;
    }
    // Whoever is next: a server that starts, or a command.
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

describe("a receipt", () => {
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
    const bad = join(folder, "bad.jws");
    for (let at = 0; at < text.length; at += 29) {
      const flipped = text[at] === "A" ? "B" : "A";
      // The last character of a part may hold bits that say nothing.
      if (text[at] === "." || text[at + 1] === "." || at === text.length - 1) continue;
      await writeFile(bad, text.slice(0, at) + flipped + text.slice(at + 1));
      expect((await drs("receipt", "verify", bad, "--public-key", key)).code, `character ${at}`).toBe(1);
    }
    expect((await drs("retention", "run")).code).toBe(0);
    const run = objects((await drs("retention", "status", "--json")).stdout)[0]?.["runs"] as { run_id: string }[];
    const ofRun = await drs("receipt", "get", run[0]?.run_id ?? "");
    await writeFile(bad, ofRun.stdout);
    expect((await drs("receipt", "verify", bad, "--public-key", key, "--json")).stdout).toContain('"receipt":"expiry"');
  });
});
