import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DAY_MS, gate, type Items, keysOf, START, start } from "./outbox.fixture.ts";
import { event, failure, problem, stored } from "./sending.fixture.ts";

beforeEach(() => vi.useFakeTimers({ now: START }));
afterEach(() => vi.useRealTimers());

describe("flush of the outbox", () => {
  it("sends kept events, after a start the oldest first, and stops at an event that has to wait", async () => {
    const items: Items = new Map();
    const before = start(items, [failure]);
    for (const hour of [3, 1, 2]) await before.send(event(new Date(START - hour * 3_600_000).toISOString()));
    const [third, first, second] = keysOf(before.requests);
    const busy = problem(503, "overloaded", { "Retry-After": "120" });
    const app = start(items, [stored, busy, stored, stored]);
    const report = { stored: 1, replayed: 0, dropped: 0, left: 2, stopped: "busy", retryAfterMs: 120_000 };
    expect(await app.outbox.flush()).toEqual(report);
    expect(keysOf(app.requests)).toEqual([third, second]);
    expect(await app.outbox.flush()).toMatchObject({ stored: 2, left: 0 });
    // The event that had to wait moves to the end, so that it does not delay the others.
    expect(keysOf(app.requests)).toEqual([third, second, first, second]);
  });

  it("counts the events that were dropped during this flush, and no earlier ones", async () => {
    const items: Items = new Map();
    const before = start(items, [failure]);
    for (let n = 0; n < 2; n++) await before.send();
    const rejected = problem(403, "action-refused");
    const app = start(items, [rejected, failure, rejected]);
    const report = { stored: 0, replayed: 0, dropped: 1 };
    expect(await app.outbox.flush()).toEqual({ ...report, left: 1, stopped: "network" });
    expect(await app.outbox.flush()).toEqual({ ...report, left: 0 });
  });

  it("called twice at once sends each event once", async () => {
    const items: Items = new Map();
    const before = start(items, [failure]);
    for (let n = 0; n < 5; n++) await before.send();
    const { answer, open } = gate();
    const app = start(items, [answer]);
    const both = Promise.all([app.outbox.flush(), app.outbox.flush()]);
    await vi.advanceTimersByTimeAsync(10);
    open();
    const [one, two] = await both;
    expect(one).toMatchObject({ stored: 5, left: 0 });
    expect(two).toBe(one);
    expect(new Set(keysOf(app.requests)).size).toBe(5);
    expect(app.requests).toHaveLength(5);
  });

  it("and send, called at the same time for one event, share one request", async () => {
    const items: Items = new Map();
    const { answer, open } = gate();
    const app = start(items, [failure, answer]);
    const collected = event();
    await app.send(collected);
    const both = Promise.all([app.outbox.flush(), app.send(collected), app.send(collected)]);
    await vi.advanceTimersByTimeAsync(10);
    open();
    expect(await both).toMatchObject([{ stored: 1 }, { outcome: "stored" }, { outcome: "stored" }]);
    expect(app.requests).toHaveLength(2);
  });

  it("does not delay a new event if the event that the flush is sending expires", async () => {
    const items: Items = new Map();
    const { answer, open } = gate();
    const app = start(items, [failure, answer, stored]);
    await app.send();
    const flushing = app.outbox.flush();
    await vi.advanceTimersByTimeAsync(10);
    vi.setSystemTime(START + DAY_MS);
    const sending = app.send();
    await vi.advanceTimersByTimeAsync(0);
    expect(app.requests).toHaveLength(3);
    expect(await sending).toMatchObject({ outcome: "stored" });
    open();
    expect(await flushing).toMatchObject({ stored: 1 });
  });

  it("changes no entry and counts no round when no user is signed in", async () => {
    const items: Items = new Map();
    const app = start(items, [{ status: 401 }]);
    expect(await app.send()).toMatchObject({ outcome: "later", reason: "signed-out", queued: true });
    const [text] = items.values();
    expect(await app.outbox.flush()).toMatchObject({ left: 1, stopped: "signed-out" });
    expect([...items.values()]).toEqual([text]);
  });

  it("ends with the caller's signal", async () => {
    const items: Items = new Map();
    await start(items, [failure]).send();
    const controller = new AbortController();
    const { answer } = gate();
    const app = start(items, [answer]);
    const report = app.outbox.flush({ signal: controller.signal });
    await vi.advanceTimersByTimeAsync(10);
    controller.abort();
    expect(await report).toMatchObject({ left: 1, stopped: "aborted" });
    expect(items.size).toBe(1);
  });
});
