import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { countEvents } from "./count-events.ts";
import { findEvents, type Found } from "./find-events.ts";
import type { EventFilter } from "./list-events.ts";

const scene = useTestSystem();

let past: Past;
/** The events of the account `a`, newest first. */
const stored: PastEvent[] = [];

beforeAll(async () => {
  past = new Past(scene.system);
  const attributes = { account: "a", actionId: "act", actionType: "t", sdkVersion: "1.0.0" };
  for (const hoursAgo of [1, 20, 40]) stored.push(await past.store(hoursAgo, attributes));
  await past.store(30, { account: "b", actionId: "other", actionType: "u", sdkVersion: "1.0.0" });
});

afterAll(() => past?.close());

/** @param stepMs the time that each step of a search takes. */
const find = (filter: EventFilter, stepMs = 0): Promise<Found> => {
  let now = 0;
  const clock = { now: () => (now += stepMs) };
  return findEvents(scene.system.pool, clock, { filter, limit: 10, after: undefined, timeMs: 900 });
};

const idsOf = ({ events }: Found): readonly string[] => events.map(({ event_id }) => event_id);

const ids = (events: readonly PastEvent[]): readonly string[] => events.map(({ eventId }) => eventId);

it.each<[string, EventFilter]>([
  ["account", { account: "a", platform: "android", purpose: 1 }],
  ["action", { actionId: "act", sdkVersion: "1.0.0", platform: "android" }],
  ["action type", { actionType: "t" }],
  ["session of an account", { account: "a", sessionId: "session", actionType: "t" }],
])("an index finds events in one step: %s", async (_, filter) => {
  const found = await find(filter, 10_000);
  expect(idsOf(found)).toEqual(ids(stored));
  expect(found.searchedUntil).toBeUndefined();
});

it.each<[string, EventFilter]>([
  ["platform", { platform: "android" }],
  ["purpose", { purpose: 1 }],
  ["action type and platform", { actionType: "t", platform: "android" }],
  ["action type and SDK version", { actionType: "t", sdkVersion: "1.0.0" }],
])("a search ends when its time is over: %s", async (_, filter) => {
  expect((await find(filter, 1_500)).searchedUntil).toBeDefined();
  expect(idsOf(await find(filter)).length).toBeGreaterThan(2);
});

it("a search continues where it ended", async () => {
  const listed: string[] = [];
  let pages = 0;
  for (let to: number | undefined; pages === 0 || to !== undefined; pages++) {
    const page = await find({ purpose: 1, ...(to !== undefined && { to }) }, 90);
    listed.push(...idsOf(page));
    to = page.searchedUntil;
  }
  expect(pages).toBeGreaterThan(3);
  expect(listed).toEqual(idsOf(await find({ purpose: 1 })));
});

describe("a count of events", () => {
  /** @param stepMs the time that each look at the clock takes. */
  const count = (filter: EventFilter, stepMs = 0) => {
    let now = 0;
    const clock = { now: () => (now += stepMs) };
    const end = scene.system.clock.now();
    const buckets = [48, 32, 16].map((hoursAgo) => ({
      from: end - hoursAgo * 3_600_000,
      to: end - (hoursAgo - 16) * 3_600_000,
    }));
    return countEvents(scene.system.pool, clock, { filter, buckets, max: 10, timeMs: 900 });
  };
  const seen = (counts: Awaited<ReturnType<typeof count>>) => counts.map(({ events, more }) => [events, more]);

  it.each<[string, EventFilter]>([
    ["account", { account: "a", platform: "android" }],
    ["action type", { actionType: "t" }],
    ["platform and purpose", { platform: "android", purpose: 1, sdkVersion: "1.0.0", actionType: "t" }],
  ])("has each bucket: %s", async (_, filter) => {
    expect(seen(await count(filter))).toEqual([
      [1, false],
      [1, false],
      [1, false],
    ]);
  });

  it("says of which buckets it had no time", async () => {
    expect(seen(await count({ actionType: "t" }, 500))).toEqual([
      [0, true],
      [0, true],
      [1, false],
    ]);
    const searched = seen(await count({ platform: "android" }, 100));
    expect(searched[0]).toEqual([0, true]);
  });
});

describe("an idempotency key", () => {
  const one = (): PastEvent => stored[1] as PastEvent;

  it("finds the event of its account that the other filters admit", async () => {
    const { account, idempotencyKey, receivedAt } = one();
    const found = async (filter: EventFilter): Promise<readonly string[]> =>
      idsOf(await find({ account, idempotencyKey, ...filter }));
    const admitting = [{}, { actionType: "t" }, { from: receivedAt }, { to: receivedAt + 1 }, { platform: "android" }];
    for (const filter of admitting) expect(await found(filter)).toEqual([one().eventId]);
    const excluding = [{ actionType: "u" }, { from: receivedAt + 1 }, { to: receivedAt }, { account: "b" }];
    for (const filter of excluding) expect(await found(filter)).toEqual([]);
    expect(await found({ idempotencyKey: "unknown" })).toEqual([]);
  });

  it("is looked up in the ledger, and not among the events of the account", async () => {
    const { account, idempotencyKey } = one();
    await scene.owner.query("delete from idempotency_key where key = $1", [idempotencyKey]);
    expect(idsOf(await find({ account, idempotencyKey }))).toEqual([]);
  });
});
