import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createOutbox, type OutboxOptions } from "./index.ts";
import { MAX_ROUNDS } from "./outbox-entry.ts";
import { DAY_MS, type Items, keysOf, START, start } from "./outbox.fixture.ts";
import {
  ACTION,
  type Answering,
  event,
  failure,
  problem,
  replayed,
  type Reply,
  response,
  stored,
  TOKEN,
} from "./sending.fixture.ts";

beforeEach(() => vi.useFakeTimers({ now: START }));
afterEach(() => vi.useRealTimers());

describe("an event in the outbox", () => {
  it("is in the storage with key and bytes before the first attempt, and removed once it is stored", async () => {
    const items: Items = new Map();
    let storedItems: string[] = [];
    const app = start(items, [
      async () => {
        storedItems = [...items.values()];
        return response(stored);
      },
    ]);
    expect(await app.send()).toEqual({ outcome: "stored", eventId: "e-1", attempts: 1, queued: false });
    expect(storedItems).toHaveLength(1);
    expect(storedItems[0]).toContain(JSON.stringify(app.requests[0]?.init.body));
    expect(storedItems[0]).toContain(keysOf(app.requests)[0]);
    expect(storedItems[0]).not.toContain(TOKEN);
    expect(items.size).toBe(0);
  });

  it("survives a restart with the same key and bytes", async () => {
    const items: Items = new Map();
    const before = start(items, [failure]);
    expect(await before.send()).toMatchObject({ outcome: "later", reason: "network", queued: true });
    const after = start(items, [replayed]);
    expect(await after.outbox.flush()).toEqual({ stored: 0, replayed: 1, dropped: 0, left: 0 });
    expect(after.requests[0]?.init.body).toBe(before.requests[0]?.init.body);
    expect(keysOf(after.requests)).toEqual(keysOf(before.requests));
    expect(items.size).toBe(0);
  });

  it("is written once, even if the same object is sent several times", async () => {
    const items: Items = new Map();
    const app = start(items, [failure, failure, stored]);
    const collected = event();
    await app.send(collected);
    await app.send(collected);
    expect(items.size).toBe(1);
    expect(await app.send(collected)).toMatchObject({ outcome: "stored", queued: false });
    expect(new Set(keysOf(app.requests)).size).toBe(1);
  });

  it("has an item of its own, even if many events are sent at once", async () => {
    const items: Items = new Map();
    const slowly = <Value>(work: () => Value): Promise<Value> =>
      new Promise((resolve) => setTimeout(() => resolve(work()), 5));
    const app = start(
      items,
      [failure],
      {},
      {
        getItem: (name) => slowly(() => items.get(name)),
        setItem: (name, value) => slowly(() => items.set(name, value)),
      },
    );
    const events = [event(), event(), event()];
    const sending = Promise.all([...events, ...events].map((collected) => app.send(collected)));
    await vi.runAllTimersAsync();
    expect((await sending).every(({ queued }) => queued)).toBe(true);
    expect(items.size).toBe(3);
    expect(new Set(keysOf(app.requests)).size).toBe(3);
  });

  it("is reported to onDropped without its payload when the server rejects it", async () => {
    const items: Items = new Map();
    const app = start(items, [problem(403, "action-refused")]);
    expect(await app.send()).toMatchObject({ outcome: "refused", queued: false });
    expect(app.dropped).toEqual([
      {
        reason: "rejected",
        action: ACTION,
        key: keysOf(app.requests)[0],
        status: 403,
        code: "action-refused",
        errors: [],
      },
    ]);
    expect(items.size).toBe(0);
  });

  it("is dropped, reported and not sent if it expired in the meantime", async () => {
    const items: Items = new Map();
    await start(items, [failure]).send();
    vi.setSystemTime(START + DAY_MS);
    const app = start(items, [stored]);
    expect(await app.outbox.flush()).toMatchObject({ stored: 0, dropped: 1, left: 0 });
    expect(app.dropped).toMatchObject([{ reason: "expired", action: ACTION }]);
    expect([app.requests.length, items.size]).toEqual([0, 0]);
  });

  it("is given up after many rounds when the clock never advances", async () => {
    const items: Items = new Map();
    const app = start(items, [failure]);
    await app.send();
    let rounds = 1;
    while (items.size > 0 && rounds < 1_000) {
      rounds++;
      if (rounds % 100 === 0)
        await start(items, [failure], { onDropped: (one) => app.dropped.push(one) }).outbox.flush();
      else await app.outbox.flush();
    }
    // Every hundredth flush runs in a second instance of the app. The first instance then overwrites the count that the
    // second one wrote.
    expect(rounds - Math.floor(rounds / 100)).toBe(MAX_ROUNDS);
    expect(app.dropped).toMatchObject([{ reason: "exhausted", action: ACTION }]);
  });
});

describe("an onDropped that fails", () => {
  it.each<[string, () => void]>([
    [
      "at once",
      () => {
        throw new Error("logger");
      },
    ],
    ["later", () => Promise.reject(new Error("logger"))],
  ])("%s does not cause the loss of an event", async (_, onDropped) => {
    const items: Items = new Map();
    await start(items, [failure]).send();
    items.set("device-risk-signals.9", "junk");
    vi.setSystemTime(START + DAY_MS);
    const app = start(items, [problem(403, "action-refused"), stored], { onDropped });
    expect(await app.send()).toMatchObject({ outcome: "refused" });
    expect(await app.send()).toMatchObject({ outcome: "stored" });
    expect(app.requests).toHaveLength(2);
  });
});

describe("misuse of the outbox", () => {
  it("is reported with all problems at once", () => {
    const wrong = { client: {}, storage: { getItem: 7 }, name: "", maxEvents: 101, maxBytes: 0 };
    expect(() => createOutbox(wrong as unknown as OutboxOptions)).toThrow(
      /prepare.*deliver.*getItem.*setItem.*removeItem.*onDropped.*name.*maxEvents.*maxBytes/,
    );
    expect(() => createOutbox(undefined as unknown as OutboxOptions)).toThrow(TypeError);
  });

  it("does not include an option that equals its limit", () => {
    expect(() => start(new Map(), [stored], { maxEvents: 100 })).not.toThrow();
  });

  it("makes send and flush reject, and no event is kept", async () => {
    const items: Items = new Map();
    const app = start(items, [stored]);
    await expect(app.outbox.send({ action: ACTION, event: {} as never })).rejects.toThrow(TypeError);
    const signal = {} as AbortSignal;
    await expect(app.outbox.send({ action: ACTION, event: event(), signal })).rejects.toThrow(
      "addEventListener must be a function",
    );
    await expect(app.outbox.flush({ signal })).rejects.toThrow(TypeError);
    expect([items.size, app.requests.length]).toEqual([0, 0]);
  });
});

it("every event that is sent is stored or reported, despite errors, restarts and full storages", async () => {
  const error = fc.constantFrom<Reply | Answering>(failure, stored, problem(503, "x"), problem(403, "action-refused"));
  const step = fc.constantFrom<"send" | "flush" | "restart">("send", "send", "flush", "restart");
  await fc.assert(
    fc.asyncProperty(fc.array(error, { minLength: 1 }), fc.array(step, { maxLength: 40 }), async (errors, steps) => {
      const items: Items = new Map();
      const server = new Set<string>();
      const reported = new Set<string>();
      let requests = 0;
      const answer: Answering = async (init, url) => {
        const next = errors[requests++ % errors.length] as Reply | Answering;
        if (typeof next === "function") return next(init, url);
        if (next.status === 201) server.add(init.headers["Idempotency-Key"] ?? "");
        return response(next);
      };
      const open = () => start(items, [answer], { maxEvents: 3, onDropped: ({ key = "" }) => reported.add(key) });
      let app = open();
      const keys = new Set<string>();
      for (const one of steps) {
        if (one === "restart") app = open();
        else if (one === "flush") await app.outbox.flush();
        else {
          const collected = event();
          const result = await app.send(collected);
          const key = keysOf(app.requests).at(-1) ?? "";
          keys.add(key);
          if ("reason" in result && !result.queued) reported.add(key);
        }
      }
      const last = start(items, [
        async (init) => (server.add(init.headers["Idempotency-Key"] ?? ""), response(stored)),
      ]);
      expect(await last.outbox.flush()).toMatchObject({ left: 0, dropped: 0 });
      expect(new Set([...server, ...reported])).toEqual(keys);
    }),
  );
});
