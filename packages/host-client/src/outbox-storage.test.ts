import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OutboxStorage } from "./index.ts";
import { DAY_MS, type Items, START, start } from "./outbox.fixture.ts";
import { ACTION, event, failure, replayed, stored } from "./sending.fixture.ts";

beforeEach(() => vi.useFakeTimers({ now: START }));
afterEach(() => vi.useRealTimers());

describe("the limit of the outbox", () => {
  it("keeps out the newest event, which is sent nevertheless, with queued: false", async () => {
    const items: Items = new Map();
    const app = start(items, [failure, failure, failure, stored], { maxEvents: 2 });
    await app.send();
    await app.send();
    expect(await app.send()).toMatchObject({ outcome: "later", queued: false });
    expect(items.size).toBe(2);
    expect(await app.send()).toMatchObject({ outcome: "stored", queued: false });
    expect(items.size).toBe(2);
    expect(app.dropped).toEqual([]);
  });

  it("also applies to bytes", async () => {
    const items: Items = new Map();
    const app = start(items, [failure], { maxBytes: 1_000 });
    for (let n = 0; n < 5; n++) await app.send();
    expect(items.size).toBeGreaterThan(0);
    expect([...items.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)).toBeLessThanOrEqual(1_000);
  });

  it("lets in an event that fits exactly", async () => {
    const items: Items = new Map();
    await start(items, [failure]).send();
    const [text = ""] = items.values();
    const maxBytes = Buffer.byteLength(text);
    expect(await start(new Map(), [failure], { maxBytes }).send()).toMatchObject({ queued: true });
    expect(await start(new Map(), [failure], { maxBytes: maxBytes - 1 }).send()).toMatchObject({ queued: false });
  });

  it("does not count expired events, which are dropped for new ones", async () => {
    const items: Items = new Map();
    const app = start(items, [failure], { maxEvents: 1 });
    await app.send(event(new Date(START - DAY_MS + 1_000).toISOString()));
    vi.setSystemTime(START + 1_000);
    expect(await app.send()).toMatchObject({ queued: true });
    expect(app.dropped).toMatchObject([{ reason: "expired" }]);
  });

  it("removes no kept event when it is lowered", async () => {
    const items: Items = new Map();
    const before = start(items, [failure]);
    for (let n = 0; n < 10; n++) await before.send();
    const app = start(items, [failure, stored], { maxEvents: 3 });
    expect(await app.send()).toMatchObject({ queued: false });
    expect(await app.outbox.flush()).toMatchObject({ stored: 10, left: 0 });
  });
});

describe("the outbox over a storage", () => {
  it.each([
    ["cut", (text: string) => text.slice(0, -20)],
    ["altered", (text: string) => text.replace('"', "'")],
    ["of another version", (text: string) => text.replace("[1,", "[2,")],
    ["with a key that is no text", (text: string) => text.replace(/"key":("\w+")/, '"key":[$1]')],
    ["with rounds below 0", (text: string) => text.replace("[1,1,", "[1,-1000000,")],
    ["with more rounds than an event can have", (text: string) => text.replace("[1,1,", "[1,500,")],
    ["with a key that no header can hold", (text: string) => text.replace(/"key":"../, '"key":"\\r\\n')],
    ["that is something else", () => '{"theme":"dark"}'],
  ])("with an entry %s moves it aside, reports it, and continues", async (_, corrupt) => {
    const items: Items = new Map();
    const before = start(items, [failure]);
    await before.send();
    await before.send();
    const [place = "", text = ""] = [...items][0] ?? [];
    items.set(place, corrupt(text));
    const app = start(items, [stored]);
    expect(await app.outbox.flush()).toMatchObject({ stored: 1, dropped: 1, left: 0 });
    expect(app.dropped).toEqual([{ reason: "corrupt", errors: [] }]);
    expect([...items]).toEqual([["device-risk-signals.aside", corrupt(text)]]);
    expect(await start(items, [stored]).outbox.flush()).toEqual({ stored: 0, replayed: 0, dropped: 0, left: 0 });
  });

  it("with arbitrary content does not crash", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.json(), fc.string()), { maxLength: 20 }), async (texts) => {
        const items: Items = new Map(texts.map((text, index) => [`device-risk-signals.${index}`, text]));
        const app = start(items, [stored]);
        expect(await app.outbox.flush()).toMatchObject({ left: 0 });
        expect(await app.send()).toMatchObject({ outcome: "stored" });
      }),
    );
  });

  it("that can't be read writes nothing to it, so that its items stay", async () => {
    const items: Items = new Map();
    await start(items, [failure]).send();
    const kept = [...items];
    let locked = true;
    const app = start(
      items,
      [failure, stored],
      {},
      {
        getItem: (name) => (locked ? Promise.reject(new Error("locked")) : items.get(name)),
      },
    );
    expect(await app.outbox.flush()).toMatchObject({ stopped: "storage", left: 0 });
    expect(await app.send()).toMatchObject({ outcome: "later", queued: false });
    expect([...items]).toEqual(kept);
    locked = false;
    expect(await app.outbox.flush()).toMatchObject({ stored: 1, left: 0 });
  });

  it("that can be read only in part writes nothing to it, because the rest of its content is unknown", async () => {
    const items: Items = new Map();
    const app = start(
      items,
      [failure],
      {},
      {
        getItem: (name) => (name.endsWith(".5") ? Promise.reject(new Error("locked")) : items.get(name)),
      },
    );
    expect(await app.send()).toMatchObject({ queued: false });
    expect(items.size).toBe(0);
  });

  it("that can't be written sends the event without keeping it", async () => {
    const app = start(
      new Map(),
      [stored],
      {},
      {
        setItem: () => {
          throw new Error("full");
        },
      },
    );
    expect(await app.send()).toMatchObject({ outcome: "stored", queued: false });
  });

  it("that fails to remove an item gets a replay after the next start, and overwrites no place", async () => {
    const items: Items = new Map();
    const app = start(items, [stored, failure], {}, { removeItem: () => Promise.reject(new Error("no")) });
    expect(await app.send()).toMatchObject({ outcome: "stored", queued: false });
    expect(await app.send()).toMatchObject({ outcome: "later", queued: true });
    expect(items.size).toBe(2);
    const next = start(items, [replayed, stored]);
    expect(await next.outbox.flush()).toMatchObject({ replayed: 1, stored: 1, left: 0 });
  });

  it("whose corrupt entry can't be moved keeps the entry and continues to work", async () => {
    const items: Items = new Map([["device-risk-signals.0", "junk"]]);
    const app = start(items, [failure], {}, { removeItem: () => Promise.reject(new Error("no")) });
    expect(await app.send()).toMatchObject({ queued: true });
    expect(items.get("device-risk-signals.0")).toBe("junk");
    expect(app.dropped).toMatchObject([{ reason: "corrupt" }]);
  });

  const never = (): Promise<never> => new Promise(() => {});

  it.each<[keyof OutboxStorage]>([["getItem"], ["setItem"], ["removeItem"]])(
    "whose %s never answers sends events all the same",
    async (method) => {
      const app = start(new Map(), [stored], {}, { [method]: never });
      const sending = Promise.all([app.send(), app.send()]);
      await vi.advanceTimersByTimeAsync(15_000);
      expect(await sending).toMatchObject([{ outcome: "stored" }, { outcome: "stored" }]);
      expect(app.requests).toHaveLength(2);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it("that never answers stops waiting when the caller's signal is aborted", async () => {
    const app = start(new Map(), [stored], {}, { getItem: never });
    const controller = new AbortController();
    const { signal } = controller;
    const both = Promise.all([
      app.outbox.send({ action: ACTION, event: event(), signal }),
      app.outbox.flush({ signal }),
    ]);
    await vi.advanceTimersByTimeAsync(10);
    controller.abort();
    const aborted = { outcome: "later", reason: "aborted", queued: false };
    expect(await both).toMatchObject([aborted, { stopped: "aborted", left: 0 }]);
    expect(app.requests).toHaveLength(0);
  });

  it("that never answers ends a flush, and fails a clear", async () => {
    const app = start(new Map(), [stored], {}, { getItem: never, removeItem: never });
    const flushing = app.outbox.flush();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await flushing).toMatchObject({ stopped: "storage", left: 0 });
    const clearing = expect(app.outbox.clear()).rejects.toThrow("timeout");
    await vi.advanceTimersByTimeAsync(5_000);
    await clearing;
  });

  it("that answers too late does not write an event that was sent without the storage", async () => {
    const items: Items = new Map();
    const slowly = (name: string) =>
      new Promise<string | undefined>((resolve) => setTimeout(() => resolve(items.get(name)), 7_000));
    const app = start(items, [stored], {}, { getItem: slowly });
    const sending = app.send();
    await vi.runAllTimersAsync();
    expect(await sending).toMatchObject({ outcome: "stored", queued: false });
    expect(items.size).toBe(0);
  });

  it("has separate events for each name", async () => {
    const items: Items = new Map();
    await start(items, [failure], { name: "account-1" }).send();
    const other = start(items, [stored], { name: "account-2" });
    expect(await other.outbox.flush()).toMatchObject({ stored: 0, left: 0 });
    expect(await start(items, [stored], { name: "account-1" }).outbox.flush()).toMatchObject({ stored: 1 });
  });
});
