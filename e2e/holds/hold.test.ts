/**
 * Tests of holds on an account, an action or an event: what a hold keeps, and how it is placed, reviewed and lifted.
 */
import { mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { objects, type Printed } from "../support/command.ts";
import { until } from "../support/embedded.ts";
import { HoldScene, HOLD_OPTIONS } from "../support/hold-scene.ts";
import type { PastEvent } from "../support/past-event.ts";

const DAY_MS = 86_400_000;

const scene = new HoldScene();
const {
  advance,
  applyPeriod,
  drs,
  expired,
  hold,
  holds,
  lift,
  listed,
  newAccount,
  read,
  rows,
  run,
  secretExists,
  store,
} = scene;

/** The id of each event of the account, and whether a hold covers it. Expects the list and the export to agree. */
async function marksOf(account: string): Promise<unknown[]> {
  const marks = (text: string): unknown[] => objects(text).map(({ event_id, held }) => [event_id, held]);
  const out = await mkdtemp(join(scene.folder, "export-"));
  await drs("account", "export", "--account", account, "--out", out, "--reason", "a test of marks");
  const listing = marks((await drs("event", "list", "--account", account, "--json")).stdout);
  expect(marks(await readFile(join(out, "events.ndjson"), "utf8"))).toEqual(listing);
  return listing;
}

describe("a hold", () => {
  test.each([
    ["--account", ({ account }: PastEvent): string => account],
    ["--action", ({ actionId }: PastEvent): string => actionId],
    ["--event", ({ eventId }: PastEvent): string => eventId],
  ])("by %s keeps exactly the events that it covers, and no others", async (option, value) => {
    const held = await expired({ account: newAccount(), actionType: "held", sdkVersion: "9.9" });
    const other = await expired({ account: newAccount() });
    const id = await hold(option, value(held));
    for (const round of ["before the drop", "after the window"]) {
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

  test("can be placed on an account that has a token and no event yet", async () => {
    const account = newAccount();
    expect(await drs("hold", "add", "--account", account, ...HOLD_OPTIONS)).toMatchObject({ code: 1, stdout: "" });
    await drs("token", "issue", "--account", account);
    await hold("--account", account);
    const event = await expired({ account });
    await run();
    expect(await read(event)).toBe(event.exact);
  });

  test("keeps single rows where the period is shorter than a partition", async () => {
    const [held, other] = [await store(0, { account: newAccount() }), await store(0, { account: newAccount() })];
    await hold("--event", held.eventId);
    await applyPeriod("PT1S");
    await until(async () => (await listed()).length === 1);
    await run();
    expect(await rows("event")).toBe(1);
    expect([await read(held), await read(other)]).toEqual([held.exact, undefined]);
    await applyPeriod("PT1H");
  });
});

describe("lifting a hold", () => {
  test("deletes the copies that only this hold kept, and its secret", async () => {
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

  test("keeps what another hold covers, as long as that hold lasts", async () => {
    const both = await expired({ account: newAccount() });
    const one = await expired({ account: both.account });
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
  /** Ends the replay window of every deleted event. */
  async function passWindow(): Promise<void> {
    await advance(31 * DAY_MS);
    await run();
  }

  const again = ({ account, idempotencyKey }: PastEvent): Promise<PastEvent> => store(0, { account, idempotencyKey });

  test("exists as long as the held copy, and then for the replay window", async () => {
    const event = await expired({ account: newAccount() });
    const id = await hold("--account", event.account);
    await run();
    await passWindow();
    await expect(again(event), "under the hold").rejects.toThrow("the key was taken");
    await lift(id);
    expect(await run()).toMatchObject({ copies: 1 });
    await expect(again(event), "within the replay window").rejects.toThrow("the key was taken");
    expect(await rows(`idempotency_key where account = '${event.account}'`), "the key is a tombstone").toBe(0);
    await passWindow();
    await expect(again(event), "after the window").resolves.toBeDefined();
  });

  test("exists as long as the held copy, even after an erasure", async () => {
    const event = await expired({ account: newAccount() });
    const id = await hold("--account", event.account);
    await run();
    expect((await drs("erase", "run", "--event", event.eventId, "--reason", "request", "--yes")).code).toBe(3);
    await passWindow();
    await expect(again(event), "under the hold").rejects.toThrow("the key was taken");
    await advance(20 * DAY_MS);
    await lift(id);
    expect(await run()).toMatchObject({ copies: 1 });
    await advance(20 * DAY_MS);
    await run();
    await expect(again(event), "within the replay window").rejects.toThrow("the key was taken");
    await passWindow();
    await expect(again(event), "after the window").resolves.toBeDefined();
  });
});

test("lifting a hold reports how many events are deleted, and asks for a confirmation if there are any", async () => {
  const account = newAccount();
  const [erased, fresh] = [await expired({ account }), await store(0, { account })];
  const first = await hold("--account", account);
  const second = await hold("--event", erased.eventId);
  const lift = (id: string, ...more: readonly string[]): Promise<Printed> =>
    drs("hold", "lift", id, "--reason", "settled", "--json", ...more);
  expect(objects((await lift(first)).stdout)[0], "another hold keeps it").toMatchObject({ events_released: 0 });
  expect(await lift(second)).toMatchObject({ code: 2, stdout: "" });
  expect(await read(erased)).toBe(erased.exact);
  expect(objects((await lift(second, "--yes")).stdout)[0]).toMatchObject({ events_released: 1 });
  expect([await read(erased), await read(fresh)]).toEqual([undefined, fresh.exact]);
});

test("an overdue review is reported until the hold is reviewed", async () => {
  const event = await store(0, { account: newAccount() });
  const id = await hold("--event", event.eventId);
  const soon = new Date(scene.system.clock.now() + DAY_MS).toISOString().slice(0, 10);
  const review = (date: string): Promise<Printed> =>
    drs("hold", "review", id, "--review", date, "--approver", "K. Roe", "--reason", "it continues");
  expect((await review(soon)).code).toBe(0);
  expect((await drs("doctor")).code).toBe(0);
  await advance(DAY_MS);
  await run();
  const examined = await drs("doctor", "--json");
  expect(examined.code).toBe(1);
  expect(objects(examined.stdout).find(({ what }) => what === "holds")).toMatchObject({ ok: false });
  expect((await holds())[0]).toMatchObject({ hold_id: id, review_overdue: true });
  expect(await review("2999-12-31")).toMatchObject({ code: 0, stderr: "" });
  expect((await holds())[0]).toMatchObject({ review_on: "2999-12-31", approver: "K. Roe", review_overdue: false });
  // The clock has jumped since the latest checkpoint, and no worker runs.
  expect((await drs("audit", "checkpoint")).code).toBe(0);
  expect((await drs("doctor")).code).toBe(0);
  const entries = objects((await drs("audit", "list", "--json")).stdout).map(({ operation }) => operation);
  expect(entries).toEqual(expect.arrayContaining(["hold.add", "hold.review"]));
});

test("a serving connection can't place or lift a hold, nor delete a copy", async () => {
  const event = await expired({ account: newAccount() });
  const id = await hold("--event", event.eventId);
  await run();
  await hold("--account", event.account);
  await lift(id);
  await scene.system.pool.query("select record_destroyed_hold_secret($1)", [id]);
  const { rows: lifted } = await scene.owner.query("select secret_destroyed_at from legal_hold where hold_id = $1", [
    id,
  ]);
  expect(lifted, "another hold still needs its copy").toEqual([{ secret_destroyed_at: null }]);
  for (const text of [
    "update legal_hold set lifted_at = now()",
    "delete from legal_hold",
    "insert into legal_hold (hold_id) values (gen_random_uuid())",
    "delete from held_event",
    "update held_event set account = 'x'",
  ]) {
    await expect(scene.system.pool.query(text), text).rejects.toMatchObject({ code: "42501" });
  }
});

test.each([
  ["nothing", HOLD_OPTIONS],
  ["two things", ["--account", "a", "--action", "b", ...HOLD_OPTIONS]],
  ["no reason", ["--account", "a", "--approver", "x", "--review", "2999-01-31"]],
  ["a review in the past", ["--account", "a", "--reason", "r", "--approver", "x", "--review", "2020-01-31"]],
  ["a review that is no date", ["--account", "a", "--reason", "r", "--approver", "x", "--review", "2999-02-30"]],
])("a hold on %s is wrong usage", async (_, args) => {
  expect(await drs("hold", "add", ...args)).toMatchObject({ code: 2, stdout: "" });
});

test.each([
  ["--action", "nowhere"],
  ["--event", "0190a0b0-0000-7000-8000-000000000000"],
])("a hold on an unknown subject (%s) is rejected", async (option, value) => {
  const refused = await drs("hold", "add", option, value, ...HOLD_OPTIONS);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("Nothing is known");
});

test("a dry run of hold add places no hold", async () => {
  const event = await expired({ account: newAccount() });
  const tried = await drs("hold", "add", "--event", event.eventId, ...HOLD_OPTIONS, "--dry-run", "--json");
  expect(objects(tried.stdout)[0]).toMatchObject({ events: 1, dry_run: true });
  expect((await holds()).filter(({ lifted_at }) => lifted_at === null)).toEqual([]);
});

test("an event that a hold covers is marked in lists, in its own output and in the export", async () => {
  const held = await store(0, { account: newAccount() });
  const fresh = await store(0, { account: held.account });
  await hold("--event", held.eventId);
  expect(await marksOf(held.account)).toEqual([
    [fresh.eventId, false],
    [held.eventId, true],
  ]);
  expect(objects((await drs("event", "get", held.eventId, "--json")).stdout)[0]).toMatchObject({ held: true });
});
