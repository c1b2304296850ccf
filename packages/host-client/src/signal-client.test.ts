import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
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
  silence,
  stored,
  TOKEN,
} from "./sending.fixture.ts";
import type { ClientOptions, SendResult } from "./index.ts";

const START = Date.parse("2026-03-01T12:00:00Z");

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Sends one event under fake time. Also returns how long this took. */
async function send(
  answers: readonly (Reply | Answering)[],
  options: Partial<ClientOptions> = {},
  collected = event(),
) {
  const { client, requests } = clientWith(answers, options);
  const result = client.send({ action: ACTION, event: collected });
  result.catch(() => {});
  await vi.runAllTimersAsync();
  return { result: await result, requests, tookMs: Date.now() - START };
}

const page: Reply = { status: 200, headers: { "Content-Type": "text/html" }, body: "<html>Sign in</html>" };
const busy = problem(503, "overloaded");

describe("send by the client", () => {
  it("sends one request when it succeeds", async () => {
    const { result, requests } = await send([stored]);
    expect(result).toEqual({ outcome: "stored", eventId: "e-1", attempts: 1 });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.url).toBe("https://api.example/api/v1/device-signal-events");
    expect(requests[0]?.init).toMatchObject({
      method: "POST",
      redirect: "manual",
      headers: {
        Authorization: `Bearer ${TOKEN}`,
        "Idempotency-Key": expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        "Content-Type": "application/json",
      },
    });
  });

  it.each<[string, Reply | Answering]>([
    ["a network failure", failure],
    ["silence", silence],
    ["a captive portal's page", page],
    ["a captive portal's 403", { ...page, status: 403 }],
    ["408", problem(408, "request-timeout")],
    ["429", problem(429, "too-many-requests")],
    ["500", problem(500, "storage-failed")],
    ["503", busy],
    ["a body that broke on the way", problem(400, "body-corrupt")],
    ["an answer that breaks off", async () => ({ ...response(stored), text: () => Promise.reject(new Error("cut")) })],
    ["an answer that never ends", async () => ({ ...response(stored), text: () => new Promise<string>(() => {}) })],
    [
      "a fetch that throws",
      () => {
        throw new Error("thrown");
      },
    ],
  ])("sends again after %s", async (_, answer) => {
    const { result, requests } = await send([answer, answer, replayed]);
    expect(result).toEqual({ outcome: "replayed", eventId: "e-1", attempts: 3 });
    expect(requests).toHaveLength(3);
  });

  it.each<[string, Reply, Partial<SendResult>]>([
    ["409", problem(409, "idempotency-conflict"), { outcome: "refused", reason: "conflict" }],
    ["403", problem(403, "action-refused"), { outcome: "refused", reason: "rejected", code: "action-refused" }],
    ["400", problem(400, "collected-at-stale"), { outcome: "refused", code: "collected-at-stale" }],
    ["404", problem(404, "not-found"), { outcome: "refused", reason: "rejected", status: 404 }],
    ["415", problem(415, "media-type-unsupported"), { outcome: "refused", status: 415 }],
  ])("does not send again after %s", async (_, answer, expected) => {
    const { result, requests } = await send([answer, stored]);
    expect(result).toMatchObject({ ...expected, attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  it("sends the same key and the same bytes in each attempt and in each later call, whichever error came before", async () => {
    const error = fc.constantFrom<Reply | Answering>(failure, silence, page, busy, problem(429, "x"), {
      status: 401,
    });
    const text = fc.string({ unit: "binary" });
    await fc.assert(
      fc.asyncProperty(fc.array(error, { maxLength: 12 }), text, fc.nat(), async (errors, value, number) => {
        const collected = event(new Date().toISOString());
        const data = { value, number, small: number / 7 };
        (collected.probes as Record<string, unknown>)["custom"] = { status: "success", data };
        const { client, requests } = clientWith([...errors, stored]);
        let outcome = "later";
        while (outcome === "later") {
          const result = client.send({ action: ACTION, event: collected });
          await vi.runAllTimersAsync();
          ({ outcome } = await result);
          data.number++;
        }
        expect(outcome).toBe("stored");
        expect(requests.length).toBeGreaterThan(errors.length);
        const first = requests[0]?.init;
        expect(JSON.parse(first?.body ?? "")).toMatchObject({
          observations: { probes: { custom: { data: { value, number } } } },
        });
        for (const { init } of requests) {
          expect(init.body).toBe(first?.body);
          expect(init.headers["Idempotency-Key"]).toBe(first?.headers["Idempotency-Key"]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("reports why it stopped sending", async () => {
    const reasons = await Promise.all(
      [failure, page, busy].map(async (answer) => {
        const { client } = clientWith([answer], { maxAttempts: 1 });
        return client.send({ action: ACTION, event: event() });
      }),
    );
    expect(reasons).toMatchObject([
      { outcome: "later", reason: "network", attempts: 1 },
      { outcome: "later", reason: "unintelligible", status: 200 },
      { outcome: "later", reason: "busy", status: 503, code: "overloaded" },
    ]);
    expect((await send([silence], { maxAttempts: 1, timeoutMs: 700 })).result).toMatchObject({ reason: "timeout" });
  });

  it("reveals neither token nor payload in any failure", async () => {
    for (const answer of [failure, page, busy]) {
      const { result } = await send([answer], { maxAttempts: 1 });
      expect(JSON.stringify(result)).not.toMatch(/secret|observation/);
    }
  });
});

describe("pauses between attempts", () => {
  it("grow, vary at random, and are bounded in number", async () => {
    const { result, requests, tookMs } = await send([busy], { maxAttempts: 8, maxDelayMs: 10_000 });
    expect(result).toMatchObject({ outcome: "later", reason: "busy", attempts: 8 });
    expect(requests).toHaveLength(8);
    expect(tookMs).toBe((1_000 + 2_000 + 4_000 + 8_000 + 10_000 + 10_000 + 10_000) / 2);
  });

  it.each([
    ["seconds", "20"],
    ["a date", new Date(START + 20_000).toUTCString()],
  ])("are at least what Retry-After says in %s", async (_, value) => {
    const { tookMs } = await send([problem(503, "draining", { "Retry-After": value }), stored]);
    expect(tookMs).toBe(20_500);
  });

  it("are not longer than maxDelayMs: a longer Retry-After is returned to the caller", async () => {
    const { result, requests, tookMs } = await send([problem(429, "too-many-requests", { "Retry-After": "61" })]);
    expect(result).toMatchObject({ outcome: "later", reason: "busy", retryAfterMs: 61_000, attempts: 1 });
    expect([requests.length, tookMs]).toEqual([1, 0]);
  });

  it("begin with a wait of maxDelayMs if Retry-After asks for exactly that", async () => {
    const { requests } = await send([problem(429, "too-many-requests", { "Retry-After": "60" }), stored]);
    expect(requests).toHaveLength(2);
  });
});

describe("send, as time passes,", () => {
  it("gives up when the event has expired", async () => {
    const collected = event(new Date(START - 86_400_000 + 5_000).toISOString());
    const { result, requests } = await send([busy], { maxAttempts: 1_000 }, collected);
    expect(result).toEqual({ outcome: "refused", reason: "expired", errors: [], attempts: requests.length });
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.length).toBeLessThan(8);
  });

  it("sends no request for an expired event", async () => {
    const collected = event(new Date(START - 86_400_000).toISOString());
    const { result, requests } = await send([stored], {}, collected);
    expect(result).toMatchObject({ outcome: "refused", reason: "expired", attempts: 0 });
    expect(requests).toHaveLength(0);
    const longer = await send([stored], { freshnessMs: 90_000_000 }, { ...collected });
    expect(longer.result).toMatchObject({ outcome: "stored" });
  });

  it("makes a limited number of attempts if the clock stops or runs back", async () => {
    const { result } = await send([
      (init) => {
        vi.setSystemTime(START - Math.random() * 1e9);
        return failure(init, "");
      },
    ]);
    expect(result).toMatchObject({ outcome: "later", reason: "network", attempts: 5 });
  });

  it("bounds a fetch that never answers, and aborts it", async () => {
    const { result, requests, tookMs } = await send([silence], { timeoutMs: 3_000, maxAttempts: 2 });
    expect(result).toMatchObject({ outcome: "later", reason: "timeout", attempts: 2 });
    expect(tookMs).toBe(2 * 3_000 + 500);
    expect(requests.map(({ init }) => init.signal?.aborted)).toEqual([true, true]);
  });

  it("bounds a token that never arrives, and sends no request when it arrives too late", async () => {
    const { client, requests } = clientWith([stored], {
      timeoutMs: 3_000,
      maxAttempts: 1,
      token: () => new Promise((resolve) => setTimeout(() => resolve(TOKEN), 5_000)),
    });
    const result = client.send({ action: ACTION, event: event() });
    await vi.runAllTimersAsync();
    expect(await result).toMatchObject({ outcome: "later", reason: "timeout" });
    expect(requests).toHaveLength(0);
  });
});

describe("the session token", () => {
  const unauthorized = problem(401, "credentials-invalid");

  it("is refreshed once after a 401, without a pause before the next request", async () => {
    const token = vi.fn(async ({ refresh }: { refresh: boolean }) => (refresh ? "new" : "old"));
    const { result, requests, tookMs } = await send([unauthorized, stored], { token, maxAttempts: 1 });
    expect(result).toMatchObject({ outcome: "stored", attempts: 2 });
    expect(requests.map(({ init }) => init.headers["Authorization"])).toEqual(["Bearer old", "Bearer new"]);
    expect(token.mock.calls).toEqual([[{ refresh: false }], [{ refresh: true }]]);
    expect(tookMs).toBe(0);
  });

  it("is not sent if the event expires during the refresh", async () => {
    const token = async ({ refresh }: { refresh: boolean }): Promise<string> => {
      if (refresh) vi.setSystemTime(START + 86_400_000);
      return TOKEN;
    };
    const { result, requests } = await send([unauthorized, stored], { token });
    expect(result).toMatchObject({ outcome: "refused", reason: "expired" });
    expect(requests).toHaveLength(1);
  });

  it("is not refreshed twice in one send", async () => {
    const token = vi.fn(async () => TOKEN);
    const again = await send([unauthorized, busy, unauthorized, stored], { token });
    expect(again.result).toMatchObject({ outcome: "later", reason: "signed-out", status: 401, attempts: 3 });
    expect(token).toHaveBeenCalledTimes(3);
    const twice = await send([unauthorized]);
    expect(twice.result).toMatchObject({ outcome: "later", reason: "signed-out", code: "credentials-invalid" });
    expect(twice.requests).toHaveLength(2);
  });

  it.each([[undefined], [null], [""]])("%j means that no user is signed in", async (token) => {
    const { result, requests } = await send([stored], { token: async () => token });
    expect(result).toMatchObject({ outcome: "later", reason: "signed-out" });
    expect(requests).toHaveLength(0);
  });

  it("is requested again after a pause if it was not available", async () => {
    const token = vi.fn(async () => TOKEN).mockRejectedValueOnce(new Error("offline"));
    expect((await send([stored], { token })).result).toMatchObject({ outcome: "stored", attempts: 2 });
    const never = await send([stored], { token: () => Promise.reject(new Error(TOKEN)) });
    expect(never.result).toMatchObject({ outcome: "later", reason: "no-token", attempts: 5 });
  });

  it.each(["with space", "line\nbreak", "é", 7])("%j is misuse, and not quoted", async (token) => {
    const { client } = clientWith([stored], { token: async () => token as string });
    const error: unknown = await client.send({ action: ACTION, event: event() }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toBe("token must return visible ASCII");
  });
});

describe("the caller's signal", () => {
  it.each([
    ["the request", silence, 10],
    ["a pause", busy, 100],
  ])("ends %s", async (_, answer, ms) => {
    const controller = new AbortController();
    const { client, requests } = clientWith([answer]);
    const result = client.send({ action: ACTION, event: event(), signal: controller.signal });
    await vi.advanceTimersByTimeAsync(ms);
    controller.abort();
    expect(await result).toMatchObject({ outcome: "later", reason: "aborted", attempts: 1 });
    await vi.runAllTimersAsync();
    expect(requests).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("prevents every request if it was aborted before the call", async () => {
    const { client, requests } = clientWith([stored]);
    const result = await client.send({ action: ACTION, event: event(), signal: AbortSignal.abort() });
    expect(result).toMatchObject({ outcome: "later", reason: "aborted" });
    expect(requests).toHaveLength(0);
  });
});

describe("misuse of the client", () => {
  it("makes send reject, and sends no request", async () => {
    const { client, requests } = clientWith([stored]);
    await expect(client.send({ action: ACTION, event: undefined as never })).rejects.toThrow(TypeError);
    await expect(client.send(undefined as never)).rejects.toThrow(TypeError);
    expect(requests).toHaveLength(0);
  });

  it.each([[{}], [7], [""], [{ aborted: false, addEventListener: () => {} }]])(
    "includes the signal %j, which is rejected before any request",
    async (wrong) => {
      const { client, requests } = clientWith([silence]);
      const signal = wrong as AbortSignal;
      const sending = { action: ACTION, event: event(), signal };
      await expect(client.send(sending)).rejects.toThrow("removeEventListener must be a function");
      await expect(client.deliver(client.prepare(sending), { signal })).rejects.toThrow(TypeError);
      expect([requests.length, vi.getTimerCount()]).toEqual([0, 0]);
    },
  );
});

describe("an event that is too large", () => {
  const page = { status: 413, body: "<html><h1>413 Request Entity Too Large</h1></html>" };
  const broken: Answering = async () => ({ ...response(page), text: () => Promise.reject(new Error("closed")) });

  it.each([
    ["a page of a proxy", page],
    ["an empty answer", { status: 413 }],
    ["a page that ends early", broken],
    ["another system's JSON", { status: 413, body: { type: "about:blank", error: "too large" } }],
  ])("is finally rejected by %s", async (_, answer) => {
    const { result, requests } = await send([answer, stored]);
    expect(result).toEqual({ outcome: "refused", reason: "rejected", status: 413, errors: [], attempts: 1 });
    expect(requests).toHaveLength(1);
  });
});

describe("a fetch that breaks its contract", () => {
  const headers = new Headers();
  const text = async (): Promise<string> => "";
  it.each([
    [undefined, "status of its response must be a number"],
    [null, "headers.get of its response must be a function"],
    ["", "text of its response must be a function"],
    [{ headers, text }, "status of its response must be a number"],
    [{ status: 201, headers: { "retry-after": "1" }, text }, "headers.get of its response must be a function"],
    [{ status: 201, headers, json: async () => ({}) }, "text of its response must be a function"],
    [{ status: 201, headers, text: async () => ({ event_id: "e" }) }, "text() of its response must return a text"],
    [{ status: 503, headers, text: () => undefined }, "text() of its response must return a text"],
  ])("with %j is misuse that names the function, and is not repeated", async (answer, problem) => {
    const { client, requests } = clientWith([async () => answer as never]);
    const sent = client.send({ action: ACTION, event: event() }).catch((caught: unknown) => caught);
    await vi.runAllTimersAsync();
    const error = await sent;
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(/^fetch: /);
    expect((error as Error).message).toContain(problem);
    expect([requests.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});

it("a request may be kept as JSON and delivered later", async () => {
  const { client, requests } = clientWith([stored]);
  const request = client.prepare({ action: ACTION, event: event() });
  const kept = JSON.parse(JSON.stringify(request)) as typeof request;
  expect(await client.deliver(kept)).toMatchObject({ outcome: "stored" });
  expect(requests[0]?.init.body).toBe(request.body);
});
