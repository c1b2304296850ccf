/** Tests of the host client against the real endpoint over a failing network. Each event is stored once. */
import type { RawSignalEvent } from "@device-risk-signals/contract";
import {
  type Action,
  type ClientOptions,
  createOutbox,
  createSignalClient,
  type Dropped,
  type SendResult,
  type SignalClient,
} from "@device-risk-signals/host-client";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { transport } from "./support/client.ts";
import { runWithBreakGlass, objects } from "./support/command.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { type NetworkError, NETWORK_ERRORS, type FaultyProxy, startFaultyProxy } from "./support/faulty-proxy.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./support/server.ts";

/** Much longer than an answer takes, even on a busy machine. */
const TIMEOUT_MS = 2_000;

let database: TestDatabase;
let environment: Record<string, string>;
let server: ServerProcess;
let proxy: FaultyProxy;
let who: Credentials;
let other: Credentials;
let client: pg.Client;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = { ...(await database.environment()), DRS_THROTTLE_RATE: "0" };
  who = await issueCredentials(environment, "one");
  other = await issueCredentials(environment, "two");
  server = await startServer(environment);
  proxy = await startFaultyProxy({ target: () => server.url, slowMs: 2 * TIMEOUT_MS });
  client = await connectAsOwner(environment);
});

afterEach(() => vi.useRealTimers());

afterAll(async () => {
  await proxy.close();
  await client.end();
  await server.stop();
  await database.close();
});

function signals(options: Partial<ClientOptions> = {}): SignalClient {
  return createSignalClient({
    baseUrl: proxy.url,
    fetch,
    token: async () => who.token,
    sdkVersion: "1.2.3",
    platform: "android",
    appVersion: "7.1.0",
    timeoutMs: TIMEOUT_MS,
    baseDelayMs: 5,
    maxDelayMs: 1_500,
    ...options,
  });
}

const action = (): Action => ({ id: who.actionId, type: who.actionType });
const collect = (at = new Date()): RawSignalEvent => transport(who, at).observations as unknown as RawSignalEvent;

async function stored(key: string): Promise<{ event_id: string; account: string }[]> {
  const text = "select event_id, account from event where idempotency_key = $1";
  return (await client.query<{ event_id: string; account: string }>(text, [key])).rows;
}

/** Sends as an app does: calls `send` again until the result is not `later`. */
async function sendUntilSettled(sender: SignalClient, event: RawSignalEvent): Promise<SendResult> {
  for (;;) {
    const result = await sender.send({ action: action(), event });
    if (result.outcome !== "later") return result;
  }
}

/** Checks that the database has one event with this idempotency key, under the id in the result. */
async function expectStoredOnce(key: string, result: unknown): Promise<void> {
  const rows = await stored(key);
  expect(rows).toHaveLength(1);
  expect(result).toMatchObject({ eventId: rows[0]?.event_id });
}

describe("each send stores one event", () => {
  const outcomes: Record<NetworkError, "stored" | "replayed"> = {
    "cut before the server": "stored",
    "cut within the request": "stored",
    "cut after the commit": "replayed",
    "cut within the answer": "replayed",
    silence: "stored",
    slow: "replayed",
    "429": "stored",
    "503 with Retry-After": "stored",
    "captive portal": "stored",
    redirect: "stored",
  };

  test.each(NETWORK_ERRORS)("despite the network error: %s", async (error) => {
    const sender = signals();
    const event = collect();
    const { key, body } = sender.prepare({ action: action(), event });
    proxy.plan(key, [error]);
    const result = await sender.send({ action: action(), event });
    expect(result).toMatchObject({ outcome: outcomes[error], attempts: 2 });
    expect(proxy.seen.filter((seen) => seen.key === key)).toEqual([
      { error, key, body },
      { error: undefined, key, body },
    ]);
    await expectStoredOnce(key, result);
  });

  test("after any sequence of errors, and over several calls", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...NETWORK_ERRORS), { maxLength: 6 }), async (errors) => {
        const sender = signals({ timeoutMs: 150, maxAttempts: 3, maxDelayMs: 20 });
        const event = collect();
        const { key, body } = sender.prepare({ action: action(), event });
        proxy.plan(key, errors);
        const result = await sendUntilSettled(sender, event);
        expect(["stored", "replayed"]).toContain(result.outcome);
        const attempts = proxy.seen.filter((seen) => seen.key === key);
        expect(attempts.length).toBeGreaterThan(errors.length);
        expect(attempts.every((seen) => seen.body === body)).toBe(true);
        await expectStoredOnce(key, result);
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });

  test("despite many sends at the same time, even of the same event", async () => {
    const sender = signals();
    const events = Array.from({ length: 40 }, () => collect());
    const sent = await Promise.all(
      [...events, ...events, ...events].map(async (event, index) => {
        const { key } = sender.prepare({ action: action(), event });
        const error = NETWORK_ERRORS[index % NETWORK_ERRORS.length] as NetworkError;
        if (index < events.length) proxy.plan(key, [error]);
        return { key, result: await sendUntilSettled(sender, event) };
      }),
    );
    const created = sent.filter(({ result }) => result.outcome === "stored");
    expect(created.length).toBeLessThanOrEqual(events.length);
    for (const { key, result } of sent) {
      expect(["stored", "replayed"]).toContain(result.outcome);
      await expectStoredOnce(key, result);
    }
  });

  test("and `drs event list` lists them, and `drs event get --raw` returns their exact bytes", async () => {
    const sender = signals();
    const before = objects(
      (await runWithBreakGlass(environment, "event", "list", "--account", "one", "--json")).stdout,
    );
    const events = NETWORK_ERRORS.map(() => collect());
    const ids: string[] = [];
    for (const [index, event] of events.entries()) {
      const { key } = sender.prepare({ action: action(), event });
      proxy.plan(key, [NETWORK_ERRORS[index] as NetworkError]);
      const result = await sender.send({ action: action(), event });
      ids.push("eventId" in result ? result.eventId : "none");
    }
    const count = (await client.query<{ count: string }>("select count(*) from event")).rows[0]?.count;
    const distinct = await client.query<{ count: string }>("select count(distinct idempotency_key) from event");
    expect(distinct.rows[0]?.count).toBe(count);
    const listed = await runWithBreakGlass(
      environment,
      "event",
      "list",
      "--account",
      "one",
      "--limit",
      "100000",
      "--json",
    );
    expect(objects(listed.stdout)).toHaveLength(Number(count));
    expect(before.length).toBeLessThanOrEqual(Number(count) - events.length);
    const raw = await runWithBreakGlass(environment, "event", "get", ids[0] ?? "", "--raw", "--reason", "test");
    expect(raw.stdout).toBe(JSON.stringify(events[0]));
  });
});

describe("the result of a send", () => {
  test("names a permanent rejection with its code and places, and nothing is stored", async () => {
    const sender = signals({ sdkVersion: "\u0000" });
    const event = collect();
    const { key } = sender.prepare({ action: action(), event });
    expect(await sender.send({ action: action(), event })).toEqual({
      outcome: "refused",
      reason: "rejected",
      status: 400,
      code: "request-invalid",
      errors: [{ pointer: "/sdk_version", code: "character-not-allowed" }],
      attempts: 1,
    });
    expect(await stored(key)).toEqual([]);
  });

  test("says that the server rejected the action of another account", async () => {
    const result = await signals().send({ action: { id: other.actionId, type: other.actionType }, event: collect() });
    expect(result).toMatchObject({ outcome: "refused", status: 403, code: "action-refused", attempts: 1 });
  });

  test("is a conflict if two payloads are sent with one idempotency key", async () => {
    const sender = signals();
    const first = sender.prepare({ action: action(), event: collect() });
    expect(await sender.deliver(first)).toMatchObject({ outcome: "stored" });
    const second = { ...first, body: first.body.replace("7.1.0", "7.2.0") };
    expect(await sender.deliver(second)).toMatchObject({
      outcome: "refused",
      reason: "conflict",
      code: "idempotency-conflict",
    });
    expect(await stored(first.key)).toHaveLength(1);
  });

  test("says that an event is too old for the server, although the event is not too old by the device's slow clock", async () => {
    const event = collect(new Date(Date.now() - 90_000_000));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 80_000_000 });
    expect(await signals().send({ action: action(), event })).toMatchObject({
      outcome: "refused",
      reason: "rejected",
      code: "collected-at-stale",
      attempts: 1,
    });
  });

  test("is stored after one refresh of an expired token, and signed out if the new token is also rejected", async () => {
    const token = async ({ refresh }: { refresh: boolean }): Promise<string> => (refresh ? who.token : "drs_old");
    const event = collect();
    const { key } = signals().prepare({ action: action(), event });
    const result = await signals({ token }).send({ action: action(), event });
    expect(result).toMatchObject({ outcome: "stored", attempts: 2 });
    await expectStoredOnce(key, result);
    const refused = await signals({ token: async () => "drs_old" }).send({ action: action(), event: collect() });
    expect(refused).toMatchObject({ outcome: "later", reason: "signed-out", code: "credentials-invalid", attempts: 2 });
  });

  test("says that the network is not reachable", async () => {
    const unreachable = signals({ baseUrl: "http://127.0.0.1:1", maxAttempts: 2 });
    expect(await unreachable.send({ action: action(), event: collect() })).toMatchObject({
      outcome: "later",
      reason: "network",
      attempts: 2,
    });
  });
});

describe("the outbox", () => {
  const items = new Map<string, string>();
  const dropped: Dropped[] = [];
  /** Starts the app again. Only the storage remains from the previous run. */
  const startApp = (options: Partial<ClientOptions> = {}) =>
    createOutbox({
      client: signals({ maxAttempts: 1, ...options }),
      storage: {
        getItem: async (name) => items.get(name) ?? null,
        setItem: async (name, value) => void items.set(name, value),
        removeItem: async (name) => void items.delete(name),
      },
      onDropped: (one) => dropped.push(one),
    });

  test("stores each event once over restarts of app and server, even if the connection is cut after the commit", async () => {
    const events = Array.from({ length: 12 }, () => collect());
    const keys = events.map((event) => signals().prepare({ action: action(), event }).key);
    const impatient = { timeoutMs: 400 };
    let app = startApp(impatient);
    for (const [index, event] of events.entries()) {
      const error = NETWORK_ERRORS[index % NETWORK_ERRORS.length] as NetworkError;
      proxy.plan(keys[index] ?? "", [error, error]);
      expect(await app.send({ action: action(), event })).toMatchObject({ outcome: "later", queued: true });
      if (index % 4 === 3) app = startApp(impatient);
    }
    expect(items.size).toBe(12);
    await server.kill();
    expect(await startApp().flush()).toMatchObject({ stored: 0, left: 12 });
    server = await startServer(environment);

    let report = await startApp(impatient).flush();
    for (let starts = 0; report.left > 0 && starts < 50; starts++) report = await startApp(impatient).flush();
    expect(report.left).toBe(0);
    expect(items.size).toBe(0);
    expect(dropped).toEqual([]);
    for (const key of keys) expect(await stored(key)).toHaveLength(1);
  });

  test("stores each event once when it is flushed twice at the same time", async () => {
    const offline = startApp({ baseUrl: "http://127.0.0.1:1" });
    const events = Array.from({ length: 8 }, () => collect());
    for (const event of events) await offline.send({ action: action(), event });
    const app = startApp();
    const before = proxy.seen.length;
    const [one, two] = await Promise.all([app.flush(), app.flush()]);
    expect([one.stored, one.left, two]).toEqual([8, 0, one]);
    expect(proxy.seen.length - before).toBe(8);
    for (const event of events) {
      expect(await stored(signals().prepare({ action: action(), event }).key)).toHaveLength(1);
    }
  });
});
