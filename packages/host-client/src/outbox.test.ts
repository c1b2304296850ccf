import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createOutbox, type Dropped, type OutboxOptions, type OutboxStorage } from "./index.ts";
import {
  ACTION,
  type Answering,
  clientWith,
  event,
  failure,
  problem,
  replayed,
  type Reply,
  response,
  stored,
  TOKEN,
} from "./sending.fixture.ts";

const START = Date.parse("2026-03-01T12:00:00Z");
const DAY_MS = 86_400_000;

beforeEach(() => vi.useFakeTimers({ now: START }));
afterEach(() => vi.useRealTimers());

type Items = Map<string, string>;

/** An app from start to end: what it wrote stays in `items`. */
function start(
  items: Items,
  answers: readonly (Reply | Answering)[],
  options: Partial<OutboxOptions> = {},
  storage: Partial<OutboxStorage> = {},
) {
  const { client, requests } = clientWith(answers, { maxAttempts: 1 });
  const dropped: Dropped[] = [];
  const outbox = createOutbox({
    client,
    storage: {
      getItem: async (name) => items.get(name) ?? null,
      setItem: async (name, value) => void items.set(name, value),
      removeItem: async (name) => void items.delete(name),
      ...storage,
    },
    onDropped: (one) => dropped.push(one),
    ...options,
  });
  const send = (collected = event()) => outbox.send({ action: ACTION, event: collected });
  return { outbox, requests, dropped, send };
}

const keysOf = (requests: readonly { init: { headers: Record<string, string> } }[]): (string | undefined)[] =>
  requests.map(({ init }) => init.headers["Idempotency-Key"]);

/** An answer that is held back until `open` is called. */
function gate(): { answer: Answering; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { answer: async () => (await opened, response(stored)), open };
}

describe("an event in the outbox", () => {
  it("is in the storage with key and bytes before the first attempt, and removed once it is stored", async () => {
    const items: Items = new Map();
    let kept: string[] = [];
    const app = start(items, [
      async () => {
        kept = [...items.values()];
        return response(stored);
      },
    ]);
    expect(await app.send()).toEqual({ outcome: "stored", eventId: "e-1", attempts: 1, queued: false });
    expect(kept).toHaveLength(1);
    expect(kept[0]).toContain(JSON.stringify(app.requests[0]?.init.body));
    expect(kept[0]).toContain(keysOf(app.requests)[0]);
    expect(kept[0]).not.toContain(TOKEN);
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

  it("is written once however often its object is sent", async () => {
    const items: Items = new Map();
    const app = start(items, [failure, failure, stored]);
    const collected = event();
    await app.send(collected);
    await app.send(collected);
    expect(items.size).toBe(1);
    expect(await app.send(collected)).toMatchObject({ outcome: "stored", queued: false });
    expect(new Set(keysOf(app.requests)).size).toBe(1);
  });

  it("has an item of its own, however many are sent at once", async () => {
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

  it("is dropped, reported and not sent when it expired meanwhile", async () => {
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
    expect(rounds).toBeLessThan(600);
    expect(app.dropped).toMatchObject([{ reason: "exhausted", action: ACTION }]);
  });
});

describe("flush of the outbox", () => {
  it("sends kept events, the oldest first after a start, and stops at one that has to wait", async () => {
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
    // The one that had to wait comes last: it can't keep the others waiting.
    expect(keysOf(app.requests)).toEqual([third, second, first, second]);
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

  it("and send, called at once, send an event one at a time", async () => {
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

  it("delays no new event while the one that it sends expires", async () => {
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

describe("the limit of the outbox", () => {
  it("leaves out the newest event, which is sent all the same with queued: false", async () => {
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

  it("counts bytes", async () => {
    const items: Items = new Map();
    const app = start(items, [failure], { maxBytes: 1_000 });
    for (let n = 0; n < 5; n++) await app.send();
    expect(items.size).toBeGreaterThan(0);
    expect([...items.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)).toBeLessThanOrEqual(1_000);
  });

  it("does not count expired events, which are dropped for new ones", async () => {
    const items: Items = new Map();
    const app = start(items, [failure], { maxEvents: 1 });
    await app.send(event(new Date(START - DAY_MS + 1_000).toISOString()));
    vi.setSystemTime(START + 1_000);
    expect(await app.send()).toMatchObject({ queued: true });
    expect(app.dropped).toMatchObject([{ reason: "expired" }]);
  });

  it("loses no kept event when it is lowered", async () => {
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
    ["with rounds that no event gets to", (text: string) => text.replace("[1,1,", "[1,500,")],
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

  it("that can't be read does not write it, so its items stay", async () => {
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

  it("that can be read only in part does not write it, because its content is unknown", async () => {
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

  it("that can't be written keeps no event, and sends the event", async () => {
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

  it("that fails to remove gets a replay after the next start, and overwrites no place", async () => {
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

  it("that never answers does not wait after the caller's signal is aborted", async () => {
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

  it("that answers too late does not write an event that was sent without it", async () => {
    const items: Items = new Map();
    const slowly = (name: string) =>
      new Promise<string | undefined>((resolve) => setTimeout(() => resolve(items.get(name)), 7_000));
    const app = start(items, [stored], {}, { getItem: slowly });
    const sending = app.send();
    await vi.runAllTimersAsync();
    expect(await sending).toMatchObject({ outcome: "stored", queued: false });
    expect(items.size).toBe(0);
  });

  it("has one instance for each name", async () => {
    const items: Items = new Map();
    await start(items, [failure], { name: "account-1" }).send();
    const other = start(items, [stored], { name: "account-2" });
    expect(await other.outbox.flush()).toMatchObject({ stored: 0, left: 0 });
    expect(await start(items, [stored], { name: "account-1" }).outbox.flush()).toMatchObject({ stored: 1 });
  });
});

describe("clear of the outbox", () => {
  it("removes every item of this name, the one moved aside included", async () => {
    const items: Items = new Map([
      ["other", "stays"],
      ["device-risk-signals.7", "junk"],
    ]);
    const app = start(items, [failure]);
    await app.send();
    await app.outbox.clear();
    expect([...items]).toEqual([["other", "stays"]]);
    expect(await app.outbox.flush()).toMatchObject({ left: 0 });
  });

  it("ends sends in progress, so that no event is sent with the next user's token", async () => {
    let token = "one";
    const { client, requests } = clientWith([problem(503, "overloaded"), stored], { token: async () => token });
    const { outbox, send } = start(new Map(), [], { client });
    const sending = send();
    await vi.advanceTimersByTimeAsync(0);
    await outbox.clear();
    token = "two";
    await vi.runAllTimersAsync();
    expect(await sending).toMatchObject({ outcome: "later", reason: "aborted", queued: false });
    expect(requests).toHaveLength(1);
    expect(await send()).toMatchObject({ outcome: "stored" });
  });

  it("ends a flush, and a send that is about to be written", async () => {
    const items: Items = new Map();
    await start(items, [failure]).send();
    const { answer } = gate();
    const app = start(items, [answer]);
    const flushing = app.outbox.flush();
    await vi.advanceTimersByTimeAsync(10);
    const sending = app.send();
    await app.outbox.clear();
    expect(await flushing).toMatchObject({ left: 0, stopped: "aborted" });
    expect(await sending).toMatchObject({ reason: "aborted", queued: false });
    expect([app.requests.length, items.size]).toEqual([1, 0]);
  });

  it("leaves no listener behind, nor does a send", async () => {
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
    const app = start(new Map(), [stored]);
    await app.outbox.send({ action: ACTION, event: event(), signal });
    expect(add).toHaveBeenCalled();
    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("while an event is in progress leaves no item behind and keeps events that come later", async () => {
    const items: Items = new Map();
    const { answer, open } = gate();
    const app = start(items, [answer, failure]);
    const sending = app.send();
    await vi.advanceTimersByTimeAsync(10);
    await app.outbox.clear();
    expect(await app.send()).toMatchObject({ queued: true });
    open();
    expect(await sending).toMatchObject({ outcome: "later", reason: "aborted" });
    expect(items.size).toBe(1);
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
  ])("%s causes the loss of no event", async (_, onDropped) => {
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
  it("is reported, all of it at once", () => {
    const wrong = { client: {}, storage: { getItem: 7 }, name: "", maxEvents: 101, maxBytes: 0 };
    expect(() => createOutbox(wrong as unknown as OutboxOptions)).toThrow(
      /prepare.*deliver.*getItem.*setItem.*removeItem.*onDropped.*name.*maxEvents.*maxBytes/,
    );
    expect(() => createOutbox(undefined as unknown as OutboxOptions)).toThrow(TypeError);
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

it("every event that is sent is stored or reported, over errors, restarts and full storages", async () => {
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
