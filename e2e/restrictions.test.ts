/**
 * Tests of restrictions and objections (GDPR, articles 18 and 21): what they hide, from whom, and what shows it again.
 */
import { expectHealthyRestore } from "./support/restore-scene.ts";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { System } from "../packages/server/src/runtime/system.ts";
import { authorized, send, transport } from "./support/client.ts";
import { runWithBreakGlass, objects, PRIVACY, type Printed } from "./support/command.ts";
import { connectAsOwner, type OwnerClient } from "./support/database.ts";
import { copyOf, databaseName, useAdministeredCluster } from "./support/database-copy.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { type EventIn, Past, type PastEvent } from "./support/past-event.ts";
import { startServer } from "./support/server.ts";

type Environment = Record<string, string>;

const cluster = useAdministeredCluster();
/** The name is random, because roles belong to the whole cluster and other test files use the same cluster. */
const role = `analyst_${randomUUID().replaceAll("-", "")}`;
const TODAY = new Date().toISOString().slice(0, 10);
/** Codes of the policy's purposes. */
const [FRAUD, SHORT] = [2, 3];

let environment: Environment;
let system: System;
let owner: OwnerClient;
let analyst: pg.Client;
let past: Past;
let accountCount = 0;

/**
 * An environment with a journal and a policy that keeps events for a year, and events of the purpose `short` for a day.
 */
async function installation(): Promise<Environment> {
  const databaseEnvironment = await cluster.database.environment();
  const journal = join(cluster.folder, randomUUID());
  const policy = join(cluster.folder, "policy.json");
  const otherMembers = { title: "t", legal_basis: "l", derived_retention: "P1Y", owner: "o" };
  const purposes = Object.entries({ default: "P1Y", fraud: "P1Y", short: "P1D" }).map(([id, raw_retention]) => {
    return { id, raw_retention, ...otherMembers };
  });
  await writeFile(policy, JSON.stringify({ purposes, actions: { payment: "default" }, unmapped: "short" }));
  const installed = { ...databaseEnvironment, DRS_ERASURE_JOURNAL: journal };
  expect(await runWithBreakGlass(installed, "purpose", "apply", policy, "--yes")).toMatchObject({
    code: 0,
    stderr: "",
  });
  return installed;
}

beforeAll(async () => {
  environment = await installation();
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  await owner.query(`create role ${role} login; grant usage on schema drs to ${role};
    grant select on drs.readable_event to ${role}`);
  analyst = new pg.Client((environment["DRS_DATABASE_URL"] ?? "").replace("postgres@", `${role}@`));
  await analyst.connect();
  past = new Past(system);
});

afterAll(async () => {
  await past?.close();
  await analyst?.end();
  await owner?.query(`drop owned by ${role}; drop role ${role}`);
  await owner?.end();
  await system?.close();
});

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);

/** Runs a command that must exit with this code. @returns the objects that it printed. */
async function run(code: number, args: readonly string[], where = environment): Promise<Record<string, unknown>[]> {
  const done = await runWithBreakGlass(where, ...args, "--json");
  expect(done.code, `${args.join(" ")}: ${done.stderr}`).toBe(code);
  return objects(done.stdout);
}

const newAccount = (): string => `account-${accountCount++}`;
const store = (attributes: EventIn, hoursAgo = 0): Promise<PastEvent> => past.store(hoursAgo, attributes);

const WHY = ["--reason", "the accuracy is disputed", "--approver", "J. Doe"];

async function restrict(account: string, article = "18", more: readonly string[] = [], where = environment) {
  const args = ["restriction", "add", "--account", account, "--article", article, ...WHY, ...more];
  const [placed] = await run(0, args, where);
  return { id: String(placed?.["restriction_id"]), events: placed?.["events"] };
}

const lift = (id: string, where = environment) =>
  run(0, ["restriction", "lift", id, "--informed-on", TODAY, "--reason", "it is resolved", "--yes"], where);

const idsOf = (rows: readonly Record<string, unknown>[]): string[] => rows.map(({ event_id }) => String(event_id));

async function listed(account: string, more: readonly string[] = [], where = environment): Promise<string[]> {
  return idsOf(await run(0, ["event", "list", "--account", account, ...more], where));
}

/** The ids of the account's events that an analyst reads by SQL, newest first. */
async function analysed(account: string): Promise<string[]> {
  const text = "select event_id from drs.readable_event where account = $1 order by received_at desc, event_id desc";
  return idsOf((await analyst.query<{ event_id: string }>(text, [account])).rows);
}

/** Checks that the list and SQL show exactly these events of the account, newest first. */
async function expectShown(account: string, events: readonly PastEvent[]): Promise<void> {
  const ids = events.map(({ eventId }) => eventId);
  expect(await listed(account)).toEqual(ids);
  expect(await analysed(account)).toEqual(ids);
}

describe("a restriction", () => {
  test("hides stored and later events of the account from lists, reads and analysts, and no other account's", async () => {
    const [account, other] = [newAccount(), newAccount()];
    const before = await store({ account }, 2);
    const foreign = await store({ account: other });
    expect(await restrict(account)).toMatchObject({ events: 1 });
    // The event has another purpose, for which the account gets a new account key.
    const after = await store({ account, purpose: FRAUD });
    await expectShown(account, []);
    await expectShown(other, [foreign]);
    const unknown = randomUUID();
    const answers = [after.eventId, unknown].map((id) => drs("event", "get", id, "--raw", "--reason", "a look"));
    const [hidden, absent] = await Promise.all(answers);
    expect(hidden).toMatchObject({ code: 1, stdout: "" });
    expect(hidden?.stderr.replace(after.eventId, unknown), "a hidden event looks like an unknown one").toBe(
      absent?.stderr,
    );

    expect(await run(0, ["event", "list", "--account", account, ...PRIVACY])).toMatchObject([
      { event_id: after.eventId, restricted: true, held: false },
      { event_id: before.eventId, restricted: true },
    ]);
    expect(await run(0, ["event", "get", before.eventId, ...PRIVACY])).toMatchObject([{ restricted: true }]);
    expect(await drs("event", "show", before.eventId, "--reason", "a look")).toMatchObject({ code: 1, stdout: "" });
    expect(await run(0, ["event", "show", before.eventId, ...PRIVACY])).toMatchObject([
      { event: { restricted: true } },
    ]);
    expect((await drs("event", "get", before.eventId, "--raw", ...PRIVACY)).stdout).toBe(before.exact);
    const audited = await run(0, ["audit", "list", "--account", account]);
    expect(audited).toMatchObject([
      { operation: "event.read_raw", reason: "a legal claim", detail: { include_restricted: true, restricted: true } },
      { operation: "event.read_observations", detail: { include_restricted: true, restricted: true } },
      { operation: "event.read", reason: "a legal claim" },
      { operation: "event.list", reason: "a legal claim", detail: { filter: { include_restricted: true }, count: 2 } },
      ...audited.slice(4),
    ]);
    expect(audited.at(-2)).toMatchObject({
      operation: "restriction.add",
      account,
      detail: { events: 1, article: 18, approver: "J. Doe" },
    });
  });

  test("of one purpose hides only the events of this purpose", async () => {
    const account = newAccount();
    const other = await store({ account });
    await store({ account, purpose: FRAUD });
    expect(await restrict(account, "21", ["--purpose", "fraud"])).toMatchObject({ events: 1 });
    await store({ account, purpose: FRAUD });
    await expectShown(account, [other]);
    expect(await listed(account, PRIVACY)).toHaveLength(3);
  });

  test("shows the events again when it is lifted, after the person was informed", async () => {
    const account = newAccount();
    const event = await store({ account });
    const { id } = await restrict(account);
    const lifting = ["restriction", "lift", id, "--reason", "it is resolved"];
    expect(await drs(...lifting, "--yes"), "without --informed-on").toMatchObject({ code: 2 });
    const early = await drs(...lifting, "--informed-on", "2020-01-31", "--yes");
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining(`was placed on ${TODAY}`) });
    const informed = [...lifting, "--informed-on", TODAY];
    const unconfirmed = await drs(...informed);
    expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining("shows 1 event to analysts again.") });
    expect(await run(0, [...informed, "--dry-run"])).toEqual([{ restriction_id: id, events: 1, dry_run: true }]);
    await expectShown(account, []);
    expect(await lift(id)).toEqual([{ restriction_id: id, events: 1, dry_run: false }]);
    await expectShown(account, [event]);
    expect(await run(0, ["restriction", "list", "--account", account])).toMatchObject([
      { restriction_id: id, account, article: 18, active: false, informed_on: TODAY, lift_reason: "it is resolved" },
    ]);
    expect(await run(0, ["audit", "list", "--account", account, "--limit", "3"])).toContainEqual(
      expect.objectContaining({ operation: "restriction.lift", reason: "it is resolved" }),
    );
    expect(await drs(...informed, "--yes"), "twice").toMatchObject({ code: 1 });
  });

  test("that ends does not show events that another restriction hides", async () => {
    const account = newAccount();
    const event = await store({ account, purpose: FRAUD });
    const whole = await restrict(account);
    expect(await restrict(account, "21", ["--purpose", "fraud"])).toMatchObject({ events: 0 });
    expect(await lift(whole.id)).toMatchObject([{ events: 0 }]);
    await expectShown(account, []);
    expect(await listed(account, PRIVACY)).toEqual([event.eventId]);
  });

  test("does not keep expired events; a hold does, and held events stay hidden", async () => {
    const account = newAccount();
    const event = await store({ account, purpose: SHORT }, 30);
    await restrict(account);
    expect(await listed(account, PRIVACY)).toEqual([]);
    await run(0, ["hold", "add", "--account", account, ...WHY, "--review", "2999-01-31"]);
    await expectShown(account, []);
    const [kept] = await run(0, ["event", "list", "--account", account, ...PRIVACY]);
    expect(kept).toMatchObject({ event_id: event.eventId, held: true, restricted: true });
  });

  test("is not placed by a dry run, which also writes no journal entry", async () => {
    const account = newAccount();
    const event = await store({ account });
    expect(await restrict(account, "18", ["--dry-run"])).toMatchObject({ events: 1 });
    await expectShown(account, [event]);
    expect(await run(0, ["restriction", "list", "--account", account])).toEqual([]);
    expect(await run(0, ["erase", "replay"])).toMatchObject([{ restriction_orders: 0 }]);
  });

  test("of an account without events hides its first event", async () => {
    const account = newAccount();
    await makeCredentials(system, account);
    const { id } = await restrict(account);
    await store({ account });
    await expectShown(account, []);
    expect(await run(0, ["restriction", "list"])).toContainEqual(
      expect.objectContaining({ restriction_id: id, account, active: true }),
    );
  });

  test.each([
    ["add without approver and request", ["restriction", "add", "--account", "a", "--article", "18", "--reason", "r"]],
    ["add with another article", ["restriction", "add", "--account", "a", "--article", "17", ...WHY]],
    ["list of restricted events without a reason", ["event", "list", "--include-restricted"]],
    ["get of a restricted event without a reason", ["event", "get", randomUUID(), "--include-restricted"]],
    ["a date that is to come", ["restriction", "lift", randomUUID(), "--informed-on", "2999-01-31", "--reason", "r"]],
  ])("%s is wrong usage", async (_, args) => {
    expect(await drs(...args)).toMatchObject({ code: 2, stdout: "" });
  });

  test("can't be changed by the serving role", async () => {
    for (const text of ["delete from restriction", "update restriction set lifted_at = now()"]) {
      await expect(system.pool.query(text)).rejects.toMatchObject({ code: "42501" });
    }
    const forged = "insert into account_identity (account, account_mac) values ('forged', '')";
    await expect(system.pool.query(forged)).rejects.toMatchObject({ code: "42501" });
  });

  test("that was placed long ago is reported by the doctor, which advises to inform the person", async () => {
    const account = newAccount();
    await store({ account });
    const { id } = await restrict(account);
    const change = "update restriction set placed_at = placed_at - interval '181 days' where restriction_id = $1";
    await owner.query(change, [id]);
    const { stdout } = await drs("doctor");
    expect(stdout).toMatch(
      /^note {2}restrictions: active: \d+; inform the person .*; 1 of article 18 for more than 180/m,
    );
  });
});

describe("a restriction is rejected", () => {
  beforeAll(async () => {
    await store({ account: "known" });
    await restrict("known");
  });

  test.each([
    ["an unknown account", ["--account", "mistyped", "--article", "18", ...WHY], "check the spelling"],
    ["an unknown purpose", ["--account", "known", "--article", "21", "--purpose", "x", ...WHY], "Unknown purpose"],
    ["what is restricted already", ["--account", "known", "--article", "18", ...WHY], "same restriction is active"],
    [
      "an unknown request",
      ["--account", "known", "--article", "21", "--reason", "asked", "--request", randomUUID()],
      "of kind objection",
    ],
  ])("of %s", async (_, args, message) => {
    const rejected = await drs("restriction", "add", ...args);
    expect(rejected).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(message) });
  });
});

describe("an erasure of a restricted account", () => {
  test("ends the restriction and no objection: later, only events of the purpose with the objection are hidden", async () => {
    const account = newAccount();
    await store({ account });
    await restrict(account);
    await restrict(account, "21", ["--purpose", "fraud"]);
    await run(0, ["erase", "run", "--account", account, "--reason", "request 17", "--yes"]);
    expect(await listed(account, PRIVACY)).toEqual([]);
    const later = await store({ account });
    await store({ account, purpose: FRAUD });
    await expectShown(account, [later]);
    expect(await run(0, ["restriction", "list", "--account", account])).toMatchObject([
      { article: 21, purpose: "fraud", active: true, erased: false, account },
      { article: 18, purpose: null, active: false, erased: true, lifted_at: null },
    ]);
  });

  test("hides the events that a hold keeps from analysts", async () => {
    const account = newAccount();
    const event = await store({ account });
    await run(0, ["hold", "add", "--account", account, ...WHY, "--review", "2999-01-31"]);
    await run(3, ["erase", "run", "--account", account, "--reason", "request 17", "--yes"]);
    const later = await store({ account });
    await expectShown(account, [later]);
    expect(await run(0, ["event", "list", "--account", account, ...PRIVACY])).toMatchObject([
      { event_id: later.eventId, restricted: false },
      { event_id: event.eventId, restricted: true, held: true },
    ]);
    const key = ["--idempotency-key", event.idempotencyKey];
    expect(await listed(account, key)).toEqual([]);
    expect(await listed(account, [...key, ...PRIVACY])).toEqual([event.eventId]);
  });
});

test("a request is closed as done after the restriction that it asks for, and an export contains both", async () => {
  const account = newAccount();
  const event = await store({ account });
  const ask = async (kind: string): Promise<string> => {
    const args = ["request", "add", "--account", account, "--kind", kind, "--identity", "signed in"];
    return String((await run(0, args))[0]?.["request_id"]);
  };
  const [request, objection] = [await ask("restriction"), await ask("objection")];
  const done = ["request", "close", request, "--outcome", "done"];
  expect(await drs(...done)).toMatchObject({ code: 1, stderr: expect.stringContaining("led to no restriction") });
  const add = ["restriction", "add", "--account", account, "--article", "18", "--reason", "disputed", "--request"];
  expect(await drs(...add, objection), "a restriction for an objection").toMatchObject({ code: 1 });
  const [placed] = await run(0, [...add, request]);
  const [closed] = await run(0, done);
  expect(closed).toMatchObject({ restriction_id: placed?.["restriction_id"], restriction_active: true, account: null });
  expect(await run(0, ["restriction", "list", "--account", account])).toMatchObject([
    { request_id: request, approver: null },
  ]);

  const out = join(cluster.folder, "export");
  await run(0, ["account", "export", "--account", account, "--out", out, "--reason", "request 18"]);
  const exported = async (name: string): Promise<Record<string, unknown>[]> =>
    objects(await readFile(join(out, name), "utf8"));
  expect(await exported("restrictions.ndjson")).toMatchObject([{ article: 18, purpose: null, reason: "disputed" }]);
  expect(await exported("events.ndjson")).toMatchObject([{ event_id: event.eventId, restricted: true }]);
  expect(await readFile(join(out, "events", `${event.eventId}.json`), "utf8")).toBe(event.exact);
});

test("a restored database has its restrictions again before it serves, and a client notices nothing", async () => {
  const restored = await installation();
  const opened = await openTestSystem(restored);
  const credentials = await makeCredentials(opened, "alice");
  const events = new Past(opened);
  for (const account of ["alice", "bob", "carol"]) await events.store(1, { account });
  await events.close();
  await opened.close();
  const lifted = await restrict("bob", "18", [], restored);
  const restore = await copyOf(cluster.admin, databaseName(restored["DRS_DATABASE_URL"]));
  await restrict("alice", "18", [], restored);
  await runWithBreakGlass(restored, "token", "issue", "--account", "dave");
  await restrict("dave", "21", ["--purpose", "default"], restored);
  await lift(lifted.id, restored);
  const erased = await restrict("carol", "18", [], restored);
  await run(0, ["erase", "run", "--account", "carol", "--reason", "request 17", "--yes"], restored);
  await restore();

  expect(await runWithBreakGlass(restored, "event", "list", "--account", "alice")).toMatchObject({
    code: 4,
    stdout: "",
  });
  const server = await startServer(restored);
  expect(server.stderr()).toContain("the database lacked 4 orders about restrictions: applied again");
  const body = JSON.stringify(transport(credentials));
  const headers = authorized(credentials);
  for (const status of [201, 200]) expect((await send({ url: server.url, headers, body })).status).toBe(status);
  await server.stop();
  expect(await listed("alice", [], restored)).toEqual([]);
  expect(await listed("alice", PRIVACY, restored)).toHaveLength(2);
  expect(await listed("bob", [], restored)).toHaveLength(1);
  const rows = await run(0, ["restriction", "list"], restored);
  expect(rows).toMatchObject([
    { account: null, article: 21, purpose: "default", reason: "the database lacked this entry" },
    { account: "alice", active: true },
    { restriction_id: erased.id, active: false, erased: true },
    { restriction_id: lifted.id, account: "bob", active: false, informed_on: TODAY },
  ]);
  expect(JSON.stringify(rows)).not.toContain("dave");

  // The first event of an account that the backup lacks is hidden, too.
  const restoredSystem = await openTestSystem(restored);
  const laterPast = new Past(restoredSystem);
  await laterPast.store(0, { account: "dave" });
  await laterPast.close();
  await restoredSystem.close();
  expect(await listed("dave", [], restored)).toEqual([]);
  expect(await listed("dave", PRIVACY, restored)).toHaveLength(1);
  await expectHealthyRestore(restored);
});
