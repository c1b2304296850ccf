/** Legal holds: what they cover outlives its period, exactly and readable, until the last of them is lifted. */
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { destroyHoldSecrets } from "../packages/server/src/lifecycle/holds/destroy-hold-secrets.ts";
import { Secrets } from "../packages/server/src/crypto/secrets.ts";
import { requireKeys } from "../packages/server/src/lifecycle/recovery/installation.ts";
import { holdSecretName } from "../packages/server/src/crypto/sealer.ts";
import { erasurePorts, type System } from "../packages/server/src/app/system.ts";
import { expire } from "../packages/server/src/lifecycle/retention/expire.ts";
import { command, objects, type Printed } from "./support/command.ts";
import { connectAsOwner, type OwnerClient, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { openTestSystem } from "./support/parties.ts";
import { type EventIn, Past, type PastEvent } from "./support/past-event.ts";
import { applyPeriod } from "./support/policy.ts";
import { startServer } from "./support/server.ts";
import { rounds } from "./support/soak.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let system: System;
let owner: OwnerClient;
let past: Past;
let folder: string;
let accounts = 0;
/** A partition that was dropped is not made again: each test has hours of its own. */
let hoursAgo = 46;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-holds-"));
  database = await sharedDatabase();
  environment = { ...(await database.environment()), DRS_ERASURE_JOURNAL: join(folder, "journal") };
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  await applyPeriod(environment, folder, "PT1H");
  past = new Past(system);
});

afterEach(async () => {
  hoursAgo--;
  for (const { hold_id } of (await holds()).filter(({ lifted_at }) => lifted_at === null)) await lift(String(hold_id));
  await run();
});

afterAll(async () => {
  await past?.close();
  await owner?.end();
  await system?.close();
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

const drs = (...args: readonly string[]): Promise<Printed> => command(environment, ...args);
const newAccount = (): string => `account-${accounts++}`;

const WHY = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];

async function hold(...subject: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await drs("hold", "add", ...subject, ...WHY, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return String(objects(stdout)[0]?.["hold_id"]);
}

const lift = (id: string): Promise<Printed> => drs("hold", "lift", id, "--reason", "settled", "--yes");
const holds = async (): Promise<Record<string, unknown>[]> => objects((await drs("hold", "list", "--json")).stdout);

async function run(): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await drs("retention", "run", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout)[0] ?? {};
}

/** Its exact bytes, or `undefined` where it is not to be had. */
async function read({ eventId }: PastEvent): Promise<string | undefined> {
  const { code, stdout } = await drs("event", "get", eventId, "--raw", "--reason", "r");
  return code === 0 ? stdout : undefined;
}

async function listed(...filter: readonly string[]): Promise<unknown[]> {
  const { stdout } = await drs("event", "list", "--limit", "0", "--json", ...filter);
  return objects(stdout).map(({ event_id }) => event_id);
}

/** Events of an account as a list and its export mark them: whether a hold covers each. */
async function marksOf(account: string): Promise<unknown[]> {
  const marks = (text: string): unknown[] => objects(text).map(({ event_id, held }) => [event_id, held]);
  const out = await mkdtemp(join(folder, "export-"));
  await drs("account", "export", "--account", account, "--out", out, "--reason", "a test of marks");
  const listing = marks((await drs("event", "list", "--account", account, "--json")).stdout);
  expect(marks(await readFile(join(out, "events.ndjson"), "utf8"))).toEqual(listing);
  return listing;
}

const rows = async (table: string): Promise<number> => (await owner.query(`select from ${table}`)).rowCount ?? 0;

function secretExists(holdId: string): Promise<boolean> {
  const digest = createHash("sha256").update(holdSecretName(holdId)).digest("hex");
  return stat(join(environment["DRS_KEY_DIR"] ?? "", "secrets", digest.slice(0, 2), digest)).then(
    () => true,
    () => false,
  );
}

/** Past the period of an hour, in a partition that is to be dropped. */
const expired = (attributes: EventIn): Promise<PastEvent> => past.store(hoursAgo, attributes);

describe("a hold", () => {
  test.each([
    ["--account", ({ account }: PastEvent): string => account],
    ["--action", ({ actionId }: PastEvent): string => actionId],
    ["--event", ({ eventId }: PastEvent): string => eventId],
  ])("by %s keeps what it covers, exactly, and nothing else", async (option, value) => {
    const held = await expired({ account: newAccount(), actionType: "held", sdkVersion: "9.9" });
    const other = await expired({ account: newAccount() });
    const id = await hold(option, value(held));
    for (const round of ["before the drop", "after it"]) {
      expect(await read(held), round).toBe(held.exact);
      expect(await read(other), round).toBeUndefined();
      expect(await listed(), round).toEqual([held.eventId]);
      expect(await listed("--account", held.account), round).toEqual([held.eventId]);
      expect(await listed("--action", held.actionId), round).toEqual([held.eventId]);
      expect(await listed("--action-type", "held"), round).toEqual([held.eventId]);
      expect(await listed("--sdk-version", "9.9"), round).toEqual([held.eventId]);
      await run();
    }
    expect([await rows("held_event"), await secretExists(id)]).toEqual([1, true]);
    expect((await holds()).find(({ hold_id }) => hold_id === id)).toMatchObject({ copies: 1, lifted_at: null });
  });

  test("on an account covers what comes later", async () => {
    const first = await expired({ account: newAccount() });
    await hold("--account", first.account);
    const later = await expired({ account: first.account });
    await run();
    expect([await read(first), await read(later)]).toEqual([first.exact, later.exact]);
  });

  test("on an account is placed before its first event, where the account is known", async () => {
    const account = newAccount();
    expect(await drs("hold", "add", "--account", account, ...WHY)).toMatchObject({ code: 1, stdout: "" });
    await drs("token", "issue", "--account", account);
    await hold("--account", account);
    const event = await expired({ account });
    await run();
    expect(await read(event)).toBe(event.exact);
  });

  test("keeps rows of a period that is shorter than a partition is long", async () => {
    const [held, other] = [
      await past.store(0, { account: newAccount() }),
      await past.store(0, { account: newAccount() }),
    ];
    await hold("--event", held.eventId);
    await applyPeriod(environment, folder, "PT1S");
    await until(async () => (await listed()).length === 1);
    await run();
    expect(await rows("event")).toBe(1);
    expect([await read(held), await read(other)]).toEqual([held.exact, undefined]);
    await applyPeriod(environment, folder, "PT1H");
  });
});

describe("lifting a hold", () => {
  test("lets what only it kept go by row, and its secret", async () => {
    const event = await expired({ account: newAccount() });
    const id = await hold("--account", event.account);
    await run();
    const without = await drs("hold", "lift", id, "--reason", "settled");
    expect(without).toMatchObject({ code: 2, stdout: "" });
    expect(without.stderr).toContain("--yes");
    expect((await drs("hold", "lift", id, "--reason", "settled", "--dry-run")).stdout).toMatch(
      /1 event .* Nothing was/,
    );
    expect(await read(event)).toBe(event.exact);
    expect(await lift(id)).toMatchObject({ code: 0 });
    expect(await read(event)).toBeUndefined();
    expect(await listed("--account", event.account)).toEqual([]);
    expect(await run()).toMatchObject({ copies: 1, secrets: 1 });
    expect([await rows("held_event"), await secretExists(id)]).toEqual([0, false]);
    expect(await lift(id)).toMatchObject({ code: 1, stdout: "" });
    expect(await run()).toMatchObject({ copies: 0, secrets: 0 });
  });

  test("keeps what another hold covers, until that ends too", async () => {
    const [both, one] = [
      await expired({ account: newAccount() }),
      await expired({ account: `account-${accounts - 1}` }),
    ];
    const ofAccount = await hold("--account", both.account);
    await run();
    const ofEvent = await hold("--event", both.eventId);
    await lift(ofAccount);
    expect(await run()).toMatchObject({ copies: 1 });
    expect([await read(both), await read(one)]).toEqual([both.exact, undefined]);
    await lift(ofEvent);
    expect(await run()).toMatchObject({ copies: 1 });
    expect(await read(both)).toBeUndefined();
    expect([await secretExists(ofAccount), await secretExists(ofEvent)]).toEqual([false, false]);
  });
});

describe("the idempotency key of a held event", () => {
  /** As if the replay window of everything that was deleted were over. */
  async function passWindow(): Promise<void> {
    await owner.query("update event_partition set dropped_at = dropped_at - interval '31 days'");
    await owner.query("update tombstone set made_at = made_at - interval '31 days'");
    await run();
  }

  const again = ({ account, idempotencyKey }: PastEvent): Promise<PastEvent> =>
    past.store(0, { account, idempotencyKey });

  test("lives as long as a copy is kept, and for the replay window after it", async () => {
    const event = await expired({ account: newAccount() });
    const id = await hold("--account", event.account);
    await run();
    await passWindow();
    await expect(again(event), "under the hold").rejects.toThrow("the key was taken");
    await lift(id);
    expect(await run()).toMatchObject({ copies: 1 });
    await expect(again(event), "within the window").rejects.toThrow("the key was taken");
    expect(await rows(`idempotency_key where account = '${event.account}'`), "as a tombstone").toBe(0);
    await passWindow();
    await expect(again(event), "after it").resolves.toBeDefined();
  });

  test("of an erased one does, too", async () => {
    const event = await expired({ account: newAccount() });
    const id = await hold("--account", event.account);
    await run();
    expect((await drs("erase", "run", "--event", event.eventId, "--reason", "request", "--yes")).code).toBe(3);
    await passWindow();
    await expect(again(event), "under the hold").rejects.toThrow("the key was taken");
    await owner.query("update tombstone set made_at = made_at - interval '20 days'");
    await lift(id);
    expect(await run()).toMatchObject({ copies: 1 });
    await owner.query("update tombstone set made_at = made_at - interval '20 days'");
    await run();
    await expect(again(event), "within the window").rejects.toThrow("the key was taken");
    await passWindow();
    await expect(again(event), "after it").resolves.toBeDefined();
  });
});

describe("expiry and a hold", () => {
  test("exclude each other: what is told as held is there, what is not is gone", async () => {
    for (let round = 0; round < 15; round++, hoursAgo--) {
      const event = await expired({ account: newAccount() });
      const [, added] = await Promise.all([
        drs("retention", "run"),
        new Promise((resolve) => setTimeout(resolve, round * 3)).then(() =>
          drs("hold", "add", "--event", event.eventId, ...WHY),
        ),
      ]);
      await run();
      expect(await read(event)).toBe(added.code === 0 ? event.exact : undefined);
    }
  });

  test("placing one waits for what is being let go of", async () => {
    const event = await expired({ account: newAccount() });
    await owner.query("begin");
    await owner.query("select lock_holds()");
    let placed = false;
    const placing = hold("--event", event.eventId).then(() => (placed = true));
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(placed).toBe(false);
    await owner.query("commit");
    await placing;
    expect(await read(event)).toBe(event.exact);
  });

  test("a partition with a held event that has no copy is not dropped, whoever asks", async () => {
    const event = await expired({ account: newAccount() });
    await hold("--event", event.eventId);
    const [partition] = (
      await owner.query<{ partition_id: string }>(
        "select partition_id from event_partition p where lower_bound <= $1 and $1 < upper_bound",
        [new Date(event.receivedAt).toISOString()],
      )
    ).rows;
    const drop = system.pool.query("select * from drop_expired_partition($1)", [partition?.partition_id]);
    await expect(drop).rejects.toMatchObject({ code: "23001" });
    const deleted = system.pool.query("select delete_expired_events($1, 100) as n", [partition?.partition_id]);
    expect((await deleted).rows).toEqual([{ n: 0 }]);
    expect(await read(event)).toBe(event.exact);
  });

  test("killed at any moment goes on: every held event is there once, all else is gone", async () => {
    const account = newAccount();
    const before = await rows("event");
    const held: PastEvent[] = [];
    for (let count = 0; count < 250; count++) held.push(await past.store(hoursAgo - (count % 5), { account }));
    for (let count = 0; count < 20; count++) await past.store(hoursAgo - (count % 5), { account: newAccount() });
    hoursAgo -= 5;
    await hold("--account", account);
    const serving = { ...environment, DRS_RETENTION_INTERVAL: "1s" };
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
  }, 120_000);

  test("nothing is dropped while a held event can't be copied", async () => {
    const event = await expired({ account: newAccount() });
    await hold("--event", event.eventId);
    await owner.query("alter table held_event add constraint no_room check (false) not valid");
    expect(await drs("retention", "run")).toMatchObject({ code: 1, stdout: "" });
    await owner.query("alter table held_event drop constraint no_room");
    expect([await rows("held_event"), await read(event)]).toEqual([0, event.exact]);
    await run();
    expect([await rows("held_event"), await read(event)]).toEqual([1, event.exact]);
  });
});

test("a held event that can't be opened keeps its partition, and nothing else", async () => {
  const broken = await expired({ account: newAccount() });
  hoursAgo--;
  const other = await expired({ account: newAccount() });
  await hold("--event", broken.eventId);
  await owner.query("set session_replication_role = replica");
  await owner.query("update event set payload = '\\x00' where event_id = $1", [broken.eventId]);
  await owner.query("reset session_replication_role");
  expect(await drs("retention", "run")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/not what was sealed/),
  });
  expect((await owner.query("select from event where event_id = $1", [other.eventId])).rowCount).toBe(0);
  expect((await owner.query("select from event where event_id = $1", [broken.eventId])).rowCount).toBe(1);
  const overdue = "select from event_partition where dropped_at is null and upper_bound + interval '1 hour' <= now()";
  expect((await owner.query(overdue)).rowCount, "only its own partition stays").toBe(1);
  await owner.query("set session_replication_role = replica");
  await owner.query("delete from event where event_id = $1", [broken.eventId]);
  await owner.query("reset session_replication_role");
  await run();
});

test("a key store that lacks a hold's key is an older one", async () => {
  const event = await expired({ account: newAccount() });
  const id = await hold("--event", event.eventId);
  await run();
  await expect(requireKeys(system.pool, system.secrets, false)).resolves.toBeUndefined();
  await system.secrets.destroy(holdSecretName(id));
  await expect(requireKeys(system.pool, system.secrets, false)).rejects.toThrow(/older than the events/);
  await owner.query("delete from held_event");
  await owner.query("update legal_hold set lifted_at = now(), lifted_by = 'test', lift_reason = 'it is lost'");
});

test("a pass reports what is gone and what a hold keeps, and so does the receipt of one after a killed pass", async () => {
  const account = newAccount();
  const kept = await past.store(hoursAgo, { account });
  for (let count = 0; count < 2; count++) await past.store(hoursAgo, { account: newAccount() });
  hoursAgo--;
  await hold("--event", kept.eventId);
  // A pass that is killed before it is recorded has done this.
  const client = await connectAsOwner(environment);
  await expire(client, erasurePorts(system));
  await client.end();
  const told = await run();
  expect(told).toMatchObject({ rows: 2, held: 1, copies: 0 });
  const { rows } = await owner.query<{ receipt: string }>(
    "select receipt from retention_run order by started_at desc limit 1",
  );
  const [, payload = ""] = rows[0]?.receipt.split(".") ?? [];
  expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toMatchObject(told);
  expect(await run()).toMatchObject({ rows: 0, held: 0, destroyed_keys: [] });
});

test("a hold's secret that can't be destroyed is tried again", async () => {
  const event = await expired({ account: newAccount() });
  const id = await hold("--event", event.eventId);
  await run();
  await drs("hold", "lift", id, "--reason", "settled", "--yes");
  await owner.query("delete from held_event");
  const fails = new Secrets(
    { ...system.keyStore, destroy: () => Promise.reject(new Error("away")) },
    system.keyEncryption,
  );
  const { clock, codec, keyStore } = system;
  const ports = { journal: undefined, clock, codec, keyStore };
  await expect(destroyHoldSecrets(owner, { ...ports, secrets: fails })).rejects.toThrow("away");
  const destroyed = async (): Promise<unknown[]> => {
    await destroyHoldSecrets(owner, { ...ports, secrets: system.secrets });
    return (await owner.query("select secret_of from take_retention_effects()")).rows;
  };
  expect(await destroyed()).toEqual([{ secret_of: id }]);
  const unused = await hold("--event", (await past.store(0, { account: newAccount() })).eventId);
  await drs("hold", "lift", unused, "--reason", "settled", "--yes");
  expect(await destroyed(), "a hold that copied nothing has a secret, too").toEqual([{ secret_of: unused }]);
  const lost = await hold("--event", (await past.store(0, { account: newAccount() })).eventId);
  await drs("hold", "lift", lost, "--reason", "settled", "--yes");
  await system.secrets.destroy(holdSecretName(lost));
  expect(await destroyed(), "what was lost is not destroyed").toEqual([]);
});

test("lifting says how many events go, and asks where any do", async () => {
  const account = newAccount();
  const [gone, fresh] = [await expired({ account }), await past.store(0, { account })];
  const first = await hold("--account", account);
  const second = await hold("--event", gone.eventId);
  const lift = (id: string, ...more: readonly string[]): Promise<Printed> =>
    drs("hold", "lift", id, "--reason", "settled", "--json", ...more);
  expect(objects((await lift(first)).stdout)[0], "another hold keeps it").toMatchObject({ events_released: 0 });
  expect(await lift(second)).toMatchObject({ code: 2, stdout: "" });
  expect(await read(gone)).toBe(gone.exact);
  expect(objects((await lift(second, "--yes")).stdout)[0]).toMatchObject({ events_released: 1 });
  expect([await read(gone), await read(fresh)]).toEqual([undefined, fresh.exact]);
});

test("a review that is due shows until it is done", async () => {
  const event = await past.store(0, { account: newAccount() });
  const id = await hold("--event", event.eventId);
  expect((await drs("doctor")).code).toBe(0);
  await owner.query("update legal_hold set review_on = current_date");
  const examined = await drs("doctor", "--json");
  expect(examined.code).toBe(1);
  expect(objects(examined.stdout).find(({ what }) => what === "holds")).toMatchObject({ ok: false });
  expect((await holds())[0]).toMatchObject({ hold_id: id, review_overdue: true });
  const reviewed = ["hold", "review", id, "--review", "2999-12-31", "--approver", "K. Roe", "--reason", "goes on"];
  expect(await drs(...reviewed)).toMatchObject({ code: 0, stderr: "" });
  expect((await holds())[0]).toMatchObject({ review_on: "2999-12-31", approver: "K. Roe", review_overdue: false });
  expect((await drs("doctor")).code).toBe(0);
  const entries = objects((await drs("audit", "list", "--json")).stdout).map(({ operation }) => operation);
  expect(entries).toEqual(expect.arrayContaining(["hold.add", "hold.review"]));
});

test("a serving connection can place, lift and delete nothing", async () => {
  const event = await expired({ account: newAccount() });
  const id = await hold("--event", event.eventId);
  await run();
  await hold("--account", event.account);
  await lift(id);
  await system.pool.query("select record_destroyed_hold_secret($1)", [id]);
  const { rows: told } = await owner.query("select secret_destroyed_at from legal_hold where hold_id = $1", [id]);
  expect(told, "another hold still needs its copy").toEqual([{ secret_destroyed_at: null }]);
  for (const text of [
    "update legal_hold set lifted_at = now()",
    "delete from legal_hold",
    "insert into legal_hold (hold_id) values (gen_random_uuid())",
    "delete from held_event",
    "update held_event set account = 'x'",
  ]) {
    await expect(system.pool.query(text), text).rejects.toMatchObject({ code: "42501" });
  }
});

test.each([
  ["nothing", WHY],
  ["two things", ["--account", "a", "--action", "b", ...WHY]],
  ["no reason", ["--account", "a", "--approver", "x", "--review", "2999-01-31"]],
  ["a review in the past", ["--account", "a", "--reason", "r", "--approver", "x", "--review", "2020-01-31"]],
  ["a review that is no date", ["--account", "a", "--reason", "r", "--approver", "x", "--review", "2999-02-30"]],
])("a hold on %s is wrong usage", async (_, args) => {
  expect(await drs("hold", "add", ...args)).toMatchObject({ code: 2, stdout: "" });
});

test.each([
  ["--action", "nowhere"],
  ["--event", "0190a0b0-0000-7000-8000-000000000000"],
])("a hold on nothing (%s) is refused", async (option, value) => {
  const refused = await drs("hold", "add", option, value, ...WHY);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("Nothing is known");
});

test("a hold that is only tried is not placed", async () => {
  const event = await expired({ account: newAccount() });
  const tried = await drs("hold", "add", "--event", event.eventId, ...WHY, "--dry-run", "--json");
  expect(objects(tried.stdout)[0]).toMatchObject({ events: 1, dry_run: true });
  expect((await holds()).filter(({ lifted_at }) => lifted_at === null)).toEqual([]);
});

test("an event that a hold covers is marked in lists, by itself and in the export", async () => {
  const held = await past.store(0, { account: newAccount() });
  const fresh = await past.store(0, { account: held.account });
  await hold("--event", held.eventId);
  expect(await marksOf(held.account)).toEqual([
    [fresh.eventId, false],
    [held.eventId, true],
  ]);
  expect(objects((await drs("event", "get", held.eventId, "--json")).stdout)[0]).toMatchObject({ held: true });
});
