import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { gate, type Items, START, start } from "./outbox.fixture.ts";
import { ACTION, clientWith, event, failure, problem, stored } from "./sending.fixture.ts";

beforeEach(() => vi.useFakeTimers({ now: START }));
afterEach(() => vi.useRealTimers());

describe("clear of the outbox", () => {
  it("removes every item of this name, including a corrupt item that was moved aside", async () => {
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

  it("ends a flush, and a send whose event is not written yet", async () => {
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

  it("finds no listener and no timer of a send that has ended", async () => {
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
    const app = start(new Map(), [stored]);
    await app.outbox.send({ action: ACTION, event: event(), signal });
    expect(add).toHaveBeenCalled();
    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("during a send leaves no item of that send, and events that come later are kept", async () => {
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
