/**
 * Tests that a restored database obeys the orders in the erasure journal. Held events stay, whichever orders were given after the
 * backup.
 */
import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accountSecretName, holdSecretName } from "../packages/server/src/crypto/sealer.ts";
import { partitionSecretName } from "../packages/server/src/crypto/partition-secrets.ts";
import { drsOfRun } from "./support/bundle-drs.ts";
import { runWithBreakGlass, objects, PRIVACY } from "./support/command.ts";
import { until } from "./support/embedded.ts";
import { AWAITED_LOCKS, connectAsOwner, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { secretExists, secretFile } from "./support/key-directory.ts";
import { openTestSystem } from "./support/parties.ts";
import { type EventIn, Past, type PastEvent } from "./support/past-event.ts";
import { applyPeriod } from "./support/policy.ts";

type Environment = Record<string, string>;

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-restored-"));
  database = await sharedDatabase();
});

afterAll(async () => {
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A database with a separate journal, whose events are kept for a period. */
async function installation(period: string): Promise<Environment> {
  const own = await mkdtemp(join(folder, "installation-"));
  const environment = { ...(await database.environment()), DRS_ERASURE_JOURNAL: join(own, "journal") };
  await applyPeriod(environment, own, period);
  return environment;
}

let backups = 0;

/** @returns a function that resets the database, and if wanted the keys, to this moment. */
async function backUp(environment: Environment, what: "database" | "database and keys"): Promise<() => Promise<void>> {
  const name = new URL(environment["DRS_DATABASE_URL"] ?? "").pathname.slice(1);
  const keys = environment["DRS_KEY_DIR"] ?? "";
  const copy = `${keys}.backup`;
  const backup = `${name}_${backups++}`;
  await asSuperuser(`create database ${backup} template ${name}`);
  if (what === "database and keys") await cp(keys, copy, { recursive: true });
  return async () => {
    await asSuperuser(`drop database ${name} with (force)`);
    await asSuperuser(`create database ${name} template ${backup}`);
    if (what === "database") return;
    await rm(keys, { recursive: true });
    await rename(copy, keys);
  };
}

async function asSuperuser(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url("postgres") });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

const start = async (environment: Environment): Promise<void> => (await openTestSystem(environment)).close();

async function storeAll(environment: Environment, hoursAgo: number, ...events: EventIn[]): Promise<PastEvent[]> {
  const system = await openTestSystem(environment);
  const past = new Past(system);
  const stored: PastEvent[] = [];
  try {
    for (const event of events) stored.push(await past.store(hoursAgo, event));
    return stored;
  } finally {
    await past.close();
    await system.close();
  }
}

async function store(environment: Environment, account: string, hoursAgo = 1): Promise<PastEvent> {
  const [event] = await storeAll(environment, hoursAgo, { account });
  return event as PastEvent;
}

/** Runs a command that must exit with this code. @returns the first object that it printed. */
async function run(
  environment: Environment,
  code: number,
  ...args: readonly string[]
): Promise<Record<string, unknown>> {
  const done = await runWithBreakGlass(environment, ...args, "--json");
  expect(done.code, `${args.join(" ")}: ${done.stderr}`).toBe(code);
  return objects(done.stdout)[0] ?? {};
}

const WHY = ["--reason", "dispute 4711", "--approver", "J. Doe", "--review", "2999-01-31"];
const hold = async (environment: Environment, ...subject: readonly string[]): Promise<string> =>
  String((await run(environment, 0, "hold", "add", ...subject, ...WHY))["hold_id"]);
const lift = (environment: Environment, id: string): Promise<object> =>
  run(environment, 0, "hold", "lift", id, "--reason", "it is resolved", "--yes");
const erase = (environment: Environment, code: number, ...subject: readonly string[]): Promise<object> =>
  run(environment, code, "erase", "run", ...subject, "--reason", "request 17", "--yes");

async function read(environment: Environment, { eventId }: PastEvent): Promise<string | undefined> {
  const { code, stdout } = await runWithBreakGlass(environment, "event", "get", eventId, "--raw", ...PRIVACY);
  return code === 0 ? stdout : undefined;
}

/** Checks that the key store has none of the hold's secrets. @returns the number of secrets that the hold has had. */
async function expectNoSecrets(environment: Environment, holdId: string): Promise<number> {
  const owner = await connectAsOwner(environment);
  const text = "select unnest(hold_id || later_secrets) as id from legal_hold where hold_id = $1";
  const { rows } = await owner.query<{ id: string }>(text, [holdId]);
  await owner.end();
  for (const { id } of rows) {
    const exists = await secretExists(environment, holdSecretName(id));
    expect(exists, "a secret of the ended hold").toBe(false);
  }
  return rows.length;
}

/** Key ids of accounts. */
async function keysOf(environment: Environment, ...accounts: readonly string[]): Promise<readonly string[]> {
  const owner = await connectAsOwner(environment);
  const text = "select key_id as id from account_key where account = any ($1)";
  const { rows } = await owner.query<{ id: string }>(text, [accounts]);
  await owner.end();
  return rows.map(({ id }) => id);
}

const entryFile = (environment: Environment, sequence: number, within = "000000"): string =>
  join(environment["DRS_ERASURE_JOURNAL"] ?? "", within, `${String(sequence).padStart(9, "0")}.json`);
const lossFile = (environment: Environment, sequence: number): string => entryFile(environment, sequence, "losses");

async function acceptLoss(environment: Environment, sequence: number): Promise<void> {
  const args = ["--entry", String(sequence), "--reason", "a disk failed", "--yes"];
  const { code, stderr } = await runWithBreakGlass(environment, "erase", "accept-loss", ...args);
  expect(code, stderr).toBe(0);
}

test("a second hold on an account that is erased finds it by the copy of the first", async () => {
  const environment = await installation("P1Y");
  const event = await store(environment, "alice");
  const first = await hold(environment, "--account", "alice");
  await erase(environment, 3, "--account", "alice");
  const restore = await backUp(environment, "database");
  await hold(environment, "--account", "alice");
  await lift(environment, first);
  await restore();
  await run(environment, 0, "retention", "run");
  expect(await read(environment, event)).toBe(event.exact);
});

test("the replayed end of one hold keeps what another hold covers", async () => {
  const environment = await installation("PT1H");
  const event = await store(environment, "bob", 40);
  const restore = await backUp(environment, "database and keys");
  const lasting = await hold(environment, "--account", "bob");
  await run(environment, 0, "retention", "run");
  // The replay copies under the lowest id, so this must be the id of the hold that ends.
  let ended = await hold(environment, "--event", event.eventId);
  while (ended > lasting) {
    await lift(environment, ended);
    ended = await hold(environment, "--event", event.eventId);
  }
  await erase(environment, 3, "--event", event.eventId);
  await lift(environment, ended);
  await run(environment, 0, "retention", "run");
  expect(await read(environment, event)).toBe(event.exact);
  await restore();
  await run(environment, 0, "retention", "run");
  expect(await read(environment, event)).toBe(event.exact);
  expect(await expectNoSecrets(environment, ended), "its own, and one of the replay").toBe(2);
});

test.each(["after", "before"])(
  "a hold placed %s the backup ends again, although its secret is destroyed",
  async (when) => {
    const environment = await installation("P1Y");
    const event = await store(environment, "carol");
    const before = when === "before" && (await hold(environment, "--account", "carol"));
    const restore = await backUp(environment, "database");
    const ended = before || (await hold(environment, "--account", "carol"));
    await erase(environment, 3, "--account", "carol");
    await lift(environment, ended);
    await run(environment, 0, "retention", "run");
    expect(await expectNoSecrets(environment, ended)).toBe(1);
    await restore();
    await run(environment, 0, "erase", "replay");
    await run(environment, 0, "retention", "run");
    expect(await expectNoSecrets(environment, ended), "one of the replay").toBe(2);
    expect(await read(environment, event)).toBeUndefined();
    await run(environment, 0, "doctor");
  },
);

test("the replayed end of a hold leaves the tombstones of its copies, and its receipt counts them", async () => {
  const environment = await installation("PT1H");
  await store(environment, "dora", 40);
  const ended = await hold(environment, "--account", "dora");
  await run(environment, 0, "retention", "run");
  const restore = await backUp(environment, "database");
  await lift(environment, ended);
  await run(environment, 0, "retention", "run");
  await restore();
  await run(environment, 0, "erase", "replay");
  await run(environment, 0, "retention", "run");
  const listed = objects((await runWithBreakGlass(environment, "erase", "list", "--json")).stdout);
  expect(listed.find(({ sequence }) => sequence === 3)).toMatchObject({ copies: 1, destroyed_keys: [ended] });
  const owner = await connectAsOwner(environment);
  expect((await owner.query("select from tombstone")).rowCount).toBe(1);
  await owner.end();
});

test("a hold whose end the journal has lost ends again, although its secret is destroyed", async () => {
  const environment = await installation("P1Y");
  const event = await store(environment, "carol");
  const ended = await hold(environment, "--account", "carol");
  const restore = await backUp(environment, "database");
  await erase(environment, 3, "--account", "carol");
  await lift(environment, ended);
  await run(environment, 0, "retention", "run");
  await rm(entryFile(environment, 4));
  await restore();
  await acceptLoss(environment, 4);
  await run(environment, 0, "erase", "replay");
  await run(environment, 0, "retention", "run");
  expect(await expectNoSecrets(environment, ended), "one of the replay").toBe(2);
  expect(await read(environment, event)).toBeUndefined();
  await run(environment, 0, "doctor");
});

test("after an accepted loss a database that was restored alone serves, and the lost erasure can be repeated", async () => {
  const environment = await installation("P1Y");
  const names = ["a1", "a2", "a3"];
  const events: PastEvent[] = [];
  for (const name of names) events.push(await store(environment, name));
  const restore = await backUp(environment, "database");
  for (const name of names) await erase(environment, 0, "--account", name);
  const file = entryFile(environment, 2);
  await rename(file, `${file}.away`);
  await restore();
  await run(environment, 1, "erase", "replay");
  await acceptLoss(environment, 2);
  await run(environment, 0, "erase", "replay");
  await erase(environment, 0, "--account", "a2");
  for (const event of events) expect(await read(environment, event)).toBeUndefined();
  await run(environment, 0, "doctor");
});

test("after an accepted loss an older key store is refused, and the one that destroyed the keys is accepted", async () => {
  const environment = await installation("P1Y");
  await store(environment, "a1");
  const keys = environment["DRS_KEY_DIR"] ?? "";
  await cp(keys, `${keys}.older`, { recursive: true });
  for (const name of ["b1", "b2"]) await store(environment, name);
  const restore = await backUp(environment, "database");
  await erase(environment, 0, "--account", "a1");
  await rm(entryFile(environment, 1));
  await acceptLoss(environment, 1);
  await restore();
  await run(environment, 0, "erase", "replay");
  await run(environment, 0, "doctor");

  await rename(keys, `${keys}.newer`);
  await cp(`${keys}.older`, keys, { recursive: true });
  await expect(openTestSystem(environment)).rejects.toThrow(/older than the events/);
  await rm(keys, { recursive: true });
  await rename(`${keys}.newer`, keys);
  await start(environment);
  // Until the erasure is repeated or this loss is accepted, the account has a destroyed key.
  await run(environment, 0, "key", "accept-loss", "--reason", "its erasure was lost", "--yes");
  const event = await store(environment, "a1");
  expect(await read(environment, event)).toBe(event.exact);
});

test("each restore records the loss of an entry with the time at which it was accepted", async () => {
  const environment = await installation("P1Y");
  await store(environment, "a1");
  const restore = await backUp(environment, "database");
  await erase(environment, 0, "--account", "a1");
  await rm(entryFile(environment, 1));
  await acceptLoss(environment, 1);
  const recorded = async (): Promise<unknown> => {
    const owner = await connectAsOwner(environment);
    const { rows } = await owner.query<{ at: Date }>("select loss_accepted_at as at from journal_entry");
    await owner.end();
    return rows[0]?.at.toISOString();
  };
  const { at } = JSON.parse(await readFile(lossFile(environment, 1), "utf8")) as { at: string };
  expect(await recorded()).toBe(at);
  await restore();
  await run(environment, 0, "erase", "replay");
  expect(await recorded()).toBe(at);
});

test("a restored database lacks no secret of a partition that was dropped since, now or later, and reports any other missing secret", async () => {
  const environment = await installation("P3D");
  for (const hoursAgo of [40, 30, 0]) await store(environment, "a1", hoursAgo);
  const restore = await backUp(environment, "database");
  await applyPeriod(environment, folder, "PT35H");
  await run(environment, 0, "retention", "run");
  await restore();
  await start(environment);
  // The restored database destroys as many secrets as the lost one did.
  await store(environment, "a1", 46);
  await applyPeriod(environment, folder, "PT43H");
  await run(environment, 0, "retention", "run");
  await start(environment);
  await run(environment, 0, "doctor");

  const owner = await connectAsOwner(environment);
  const { rows } = await owner.query<{ id: string }>(
    "select partition_id as id from event_partition where transaction_time() - interval '30 hours' between lower_bound and upper_bound",
  );
  await owner.end();
  await rm(secretFile(environment, partitionSecretName(rows[0]?.id ?? "")));
  await expect(openTestSystem(environment)).rejects.toThrow(/older than the events/);
});

test("an erasure is replayed although it covers a held event whose partition was dropped since", async () => {
  const environment = await installation("P3D");
  const [event, held] = (await storeAll(environment, 40, { account: "a1" }, { account: "a2" })) as [
    PastEvent,
    PastEvent,
  ];
  for (const account of ["a1", "a2"]) await hold(environment, "--account", account);
  const restore = await backUp(environment, "database");
  await applyPeriod(environment, folder, "PT35H");
  await run(environment, 0, "retention", "run");
  await erase(environment, 3, "--event", event.eventId);
  await restore();
  await run(environment, 0, "erase", "replay");
  expect(await read(environment, event)).toBeUndefined();

  await applyPeriod(environment, folder, "PT35H");
  await run(environment, 0, "retention", "run");
  const listed = await run(environment, 0, "event", "list", "--account", "a2", ...PRIVACY);
  expect(listed, "the hold keeps the attributes").toMatchObject({ event_id: held.eventId });
});

test("entries that are found after the database recorded its loss of them are applied", async () => {
  const environment = await installation("P1Y");
  const event = await store(environment, "a1");
  const [key = ""] = await keysOf(environment, "a1");
  await store(environment, "a2");
  const restore = await backUp(environment, "database and keys");
  await erase(environment, 0, "--account", "a1");
  const held = await hold(environment, "--account", "a2");
  await lift(environment, held);
  const files = [1, 2].map((sequence) => entryFile(environment, sequence));
  for (const file of files) await rename(file, `${file}.away`);
  await restore();
  for (const sequence of [1, 2]) await acceptLoss(environment, sequence);
  await run(environment, 0, "erase", "replay");
  expect(await read(environment, event)).toBe(event.exact);
  for (const file of files) await rename(`${file}.away`, file);
  await run(environment, 1, "doctor");
  await run(environment, 0, "erase", "replay");
  expect(await read(environment, event)).toBeUndefined();
  expect(await secretExists(environment, accountSecretName(key))).toBe(false);
  const listed = await run(environment, 0, "hold", "list");
  expect(listed, "a later entry lifted it").toMatchObject({ hold_id: held, lifted_at: expect.any(String) });
  await run(environment, 0, "doctor");
});

test("an erasure is applied to a backup of another history, in which its subject has other ids", async () => {
  const environment = await installation("P1Y");
  const restoreEmpty = await backUp(environment, "database");
  const subjects = [
    ["--account", "alice"],
    ["--account", "bob"],
    ["--account", "carol", "--purpose", "default"],
  ];
  const ofAction = { account: "erin", actionId: "act_1" };
  const accounts = ["alice", "bob", "carol"].map((account) => ({ account }));
  const [stays] = await storeAll(environment, 1, { account: "erin" }, ofAction, ...accounts);
  const keys = await keysOf(environment, "alice", "bob", "carol");
  const restoreFull = await backUp(environment, "database");

  await restoreEmpty();
  await storeAll(environment, 1, { account: "alice" }, { account: "carol" });
  for (const subject of [...subjects, ["--action", "act_1"]]) await erase(environment, 0, ...subject, "--unknown");
  await restoreFull();
  await run(environment, 0, "erase", "replay");
  const listed = await runWithBreakGlass(environment, "event", "list", ...PRIVACY, "--json");
  expect(objects(listed.stdout).map(({ event_id }) => event_id)).toEqual([stays?.eventId]);
  for (const key of keys) expect(await secretExists(environment, accountSecretName(key))).toBe(false);
});

test("an older key store destroys again what the database knows of it, if the journal has lost the entry", async () => {
  const environment = await installation("P1Y");
  const keys = environment["DRS_KEY_DIR"] ?? "";
  await store(environment, "alice");
  const [key = ""] = await keysOf(environment, "alice");
  await cp(keys, `${keys}.older`, { recursive: true });
  await erase(environment, 0, "--account", "alice");
  await rm(entryFile(environment, 1));
  await rm(keys, { recursive: true });
  await rename(`${keys}.older`, keys);
  await acceptLoss(environment, 1);
  await run(environment, 0, "erase", "replay");
  expect(await secretExists(environment, accountSecretName(key))).toBe(false);
});

test("an erasure that was killed destroys its secrets before a receipt names them, where the journal has lost it", async () => {
  const environment = await installation("P1Y");
  await store(environment, "alice");
  const [key = ""] = await keysOf(environment, "alice");
  const owner = await connectAsOwner(environment);
  await owner.query("select pg_advisory_lock(7236518)");
  const args = ["erase", "run", "--account", "alice", "--reason", "request 17", "--yes", "--break-glass"];
  const child = spawn(process.execPath, [drsOfRun(), ...args], {
    env: { ...process.env, ...environment },
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await until(async () => (await owner.query(`select ${AWAITED_LOCKS}`)).rowCount === 1);
  child.kill("SIGKILL");
  await ended;
  await owner.query(`select pg_terminate_backend(pid) ${AWAITED_LOCKS}`);
  await owner.query("select pg_advisory_unlock(7236518)");
  expect((await owner.query("select from erasure")).rowCount, "it is in the database").toBe(1);
  await owner.end();
  expect(await secretExists(environment, accountSecretName(key))).toBe(true);

  await rm(entryFile(environment, 1));
  await acceptLoss(environment, 1);
  await start(environment);
  expect(await secretExists(environment, accountSecretName(key))).toBe(false);
  await run(environment, 0, "retention", "run");
  const erasure = { destroyed_keys: [key], finished_at: expect.any(String) };
  expect(await run(environment, 0, "erase", "list")).toMatchObject(erasure);
});

test("accept-loss reports without a question that there is nothing to accept", async () => {
  const environment = await installation("P1Y");
  await store(environment, "a1");
  await erase(environment, 0, "--account", "a1");
  const accept = (...args: readonly string[]): ReturnType<typeof runWithBreakGlass> =>
    runWithBreakGlass(environment, "erase", "accept-loss", "--entry", "1", "--reason", "a disk failed", ...args);
  expect(await accept()).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no loss to accept") });
  await rm(entryFile(environment, 1));
  expect(await accept()).toMatchObject({ code: 2, stderr: expect.stringContaining("confirm with --yes") });
  expect(await accept("--yes")).toMatchObject({ code: 0 });
  expect(await accept()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/loss of entry 1 .* accepted already/),
  });
});

test.each([
  ["hold", ["hold", "add", "--account", "dave", ...WHY], "legal_hold"],
  ["erasure", ["erase", "run", "--account", "dave", "--reason", "request 17", "--yes"], "erasure"],
])("a %s whose commit fails says that the journal has it, and a replay applies it", async (_, args, table) => {
  const environment = await installation("P1Y");
  await store(environment, "dave");
  const owner = await connectAsOwner(environment);
  await owner.query(`create function fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create constraint trigger at_commit after insert on ${table} deferrable initially deferred
      for each row execute function fail()`);
  const failed = await runWithBreakGlass(environment, ...args);
  await owner.query("drop function fail cascade");
  expect(failed).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/SQLSTATE P0001.*\n.*entry 1 of the erasure journal holds this order/),
  });
  await run(environment, 0, "erase", "replay");
  expect((await owner.query(`select from ${table}`)).rowCount).toBe(1);
  await owner.end();
});

test("the serving role can't name the account of a replayed hold", async () => {
  const environment = await installation("P1Y");
  const restore = await backUp(environment, "database");
  await run(environment, 0, "purpose", "list");
  await runWithBreakGlass(environment, "token", "issue", "--account", "erin");
  await hold(environment, "--account", "erin");
  await restore();
  await run(environment, 0, "erase", "replay");
  expect(await run(environment, 0, "hold", "list")).toMatchObject({ account: null, is_unresolved: true });
  const doctor = await runWithBreakGlass(environment, "doctor");
  expect(doctor.stdout).toMatch(
    /^ok {4}holds: 1 hold \(1 unresolved: account or action not known yet\), \d+ cop(y|ies) of held events$/m,
  );
  const owner = await connectAsOwner(environment);
  await owner.query("set role drs_service");
  const changed = owner.query("update legal_hold set account = 'mallory'");
  await expect(changed).rejects.toMatchObject({ code: "42501" });
  await owner.end();
  await runWithBreakGlass(environment, "token", "issue", "--account", "erin");
  await run(environment, 0, "erase", "replay");
  expect(await run(environment, 0, "hold", "list")).toMatchObject({ account: "erin", is_unresolved: false });
});
