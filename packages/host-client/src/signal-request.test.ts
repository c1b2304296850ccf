import { validateTransportRequest, type RawSignalEvent } from "@device-risk-signals/contract";
import { describe, expect, it } from "vitest";
import { ACTION, clientWith, event, stored } from "./sending.fixture.ts";

const { client } = clientWith([stored]);
const other = clientWith([stored], { platform: "ios", appVersion: "8" }).client;

describe("the request of an event", () => {
  it("is the contract's transport request", () => {
    const collected = event();
    const { body, key, action, expiresAt } = client.prepare({ action: ACTION, event: collected });
    expect(JSON.parse(body)).toEqual({
      action_id: "action-1",
      action_type: "payment",
      sdk_version: "1.2.3",
      platform: "android",
      app_version: "7.1.0",
      observations: collected,
    });
    expect(validateTransportRequest(JSON.parse(body))).toMatchObject({ ok: true });
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(action).toEqual(ACTION);
    expect(expiresAt).toBe(Date.parse(collected.collected_at) + 86_400_000);
  });

  it("is made once for an event object, and all clients use it, even if the object changes", () => {
    const collected = event();
    const first = client.prepare({ action: ACTION, event: collected });
    (collected.probes as Record<string, unknown>)["hardware"] = { status: "timeout" };
    expect(client.prepare({ action: { ...ACTION }, event: collected })).toBe(first);
    expect(other.prepare({ action: ACTION, event: collected })).toBe(first);
  });

  it("has another key for each event object, even if two events are equal", () => {
    const [one, two] = [event("2026-01-01T00:00:00Z"), event("2026-01-01T00:00:00Z")];
    const keys = [one, two].map((collected) => client.prepare({ action: ACTION, event: collected }).key);
    expect(new Set(keys).size).toBe(2);
  });

  it.each([
    ["2026-01-31T08:15:00.123456789Z", Date.UTC(2026, 0, 31, 8, 15, 0, 123)],
    ["2026-01-31t08:15:00z", Date.UTC(2026, 0, 31, 8, 15)],
    ["2026-01-31T08:15:00.5+02:00", Date.UTC(2026, 0, 31, 6, 15, 0, 500)],
  ])("is made for an event with collected_at %s", (collectedAt, ms) => {
    expect(client.prepare({ action: ACTION, event: event(collectedAt) }).expiresAt).toBe(ms + 86_400_000);
  });
});

describe("misuse of prepare", () => {
  const misuse = (action: unknown, wrong: unknown): string => {
    try {
      client.prepare({ action, event: wrong } as Parameters<typeof client.prepare>[0]);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      return (error as Error).message;
    }
    return "none";
  };

  it("is reported with all problems at once, and without values", () => {
    const message = misuse({ id: "", type: "secret".repeat(20) }, { collected_at: "secret" });
    expect(message).toMatch(/^send: action\.id .*; action\.type .*; event .*collected_at/);
    expect(message).not.toContain("secret");
  });

  it.each([[undefined], [null], ["text"], [7], [[]], [{}], [{ collected_at: 7 }]])("%j is no event", (wrong) => {
    expect(misuse(ACTION, wrong)).toContain("event must be a raw event");
  });

  it.each([[undefined], [null], ["action-1"]])("%j is no action", (wrong) => {
    expect(misuse(wrong, event())).toContain("action.id must");
  });

  it("includes every event that JSON would change or can't represent", () => {
    const withData = (data: Record<string, unknown>): RawSignalEvent =>
      ({ ...event(), probes: { hardware: { status: "success", data } } }) as unknown as RawSignalEvent;
    const cycle: Record<string, unknown> = {};
    cycle["secret"] = cycle;
    expect(misuse(ACTION, withData({ batteryLevel: Number.NaN }))).toContain("written as JSON");
    expect(misuse(ACTION, withData({ list: [Infinity] }))).toContain("written as JSON");
    expect(misuse(ACTION, withData({ big: 7n }))).toBe("send: event can't be written as JSON");
    expect(misuse(ACTION, withData(cycle))).toBe("send: event can't be written as JSON");
  });

  it("includes one event for two actions", () => {
    const collected = event();
    client.prepare({ action: ACTION, event: collected });
    expect(misuse({ ...ACTION, id: "action-2" }, collected)).toContain("another action");
    expect(misuse({ ...ACTION, type: "login" }, collected)).toContain("another action");
  });
});
