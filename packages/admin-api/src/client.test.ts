import { afterEach, expect, it, vi } from "vitest";
import { createAdminClient } from "./client.ts";
import { adminProblem } from "./problems.ts";
import type { ProgressLine } from "./route.ts";

afterEach(() => {
  vi.useRealTimers();
});

const DONE: ProgressLine = { status: 200, answer: { rows: 7 } };

/** A client of a server that gives these answers, one after another; 0: the network fails. Lists are lines. */
function clientOf(...answers: readonly (readonly [status: number, body: object | readonly ProgressLine[]])[]) {
  const keys: (string | undefined)[] = [];
  const seen: string[] = [];
  const client = createAdminClient({
    url: "https://admin.example",
    token: "t",
    onProgress: (line) => void seen.push(line),
    fetch: async (_, init) => {
      const headers = init?.headers as Readonly<Record<string, string>>;
      expect(headers["Accept"]).toBe("application/x-ndjson");
      const [status, body] = answers[keys.push(headers["Idempotency-Key"]) - 1] ?? [500, {}];
      if (status === 0) throw new TypeError("fetch failed");
      if (Array.isArray(body)) return new Response(body.map((line) => `${JSON.stringify(line)}\n`).join(""));
      return Response.json(body, { status, headers: { "Content-Type": "application/problem+json" } });
    },
  });
  return { client, keys, seen };
}

it("a call that a worker applies reports its progress, and returns the last line", async () => {
  const { client, seen } = clientOf([200, [{ progress: "7 events" }, {}, DONE]]);
  expect(await client.call("runRetention", {})).toEqual({ rows: 7 });
  expect(seen).toEqual(["7 events"]);
});

it("a call that fails later throws the same problem as a call that fails at once", async () => {
  const problem = { ...adminProblem("state-conflict", "A pass is under way."), code: "pass-running" };
  const expected = { status: 409, code: "state-conflict", problem: { code: "pass-running" } };
  for (const answer of [
    [200, [{}, { status: 409, problem }]],
    [409, problem],
  ] as const) {
    const { client } = clientOf(answer);
    await expect(client.call("runRetention", {})).rejects.toMatchObject(expected);
  }
});

it("a call with wrong input throws an error that says what is wrong, and no more", async () => {
  const errors = [
    { where: "body/at", detail: "must not be in the future" },
    { where: "body/store", detail: "is missing" },
  ];
  const { client } = clientOf([400, adminProblem("request-invalid", undefined, errors)]);
  const message = "body/at: must not be in the future\nbody/store: is missing";
  await expect(client.call("runRetention", {})).rejects.toMatchObject({ message, code: "request-invalid" });
  const { client: other } = clientOf([404, adminProblem("not-found", "There is no such hold.")]);
  await expect(other.call("runRetention", {})).rejects.toThrow("There is no such hold.");
  const { client: behindProxy } = clientOf([418, {}]);
  await expect(behindProxy.call("runRetention", {})).rejects.toThrow("the server answered 418");
});

it("an idempotent call is repeated with the same key after an outage, up to a limit", async () => {
  vi.useFakeTimers();
  const unavailable = [503, adminProblem("unavailable")] as const;
  const { client, keys, seen } = clientOf(unavailable, [0, {}], [429, {}], [200, [{ progress: "1" }]], [200, [DONE]]);
  const answer = client.call("runRetention", {});
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await answer).toEqual({ rows: 7 });
  expect([keys.length, new Set(keys).size]).toEqual([5, 1]);
  expect(seen).toContain("Trying again: the answer ended before its result");
  const { client: later, keys: laterKeys } = clientOf(...Array.from({ length: 50 }, () => unavailable));
  const ended = expect(later.call("runRetention", {})).rejects.toMatchObject({ status: 503 });
  await vi.advanceTimersByTimeAsync(120_000);
  await ended;
  expect(laterKeys).toHaveLength(12);
});

it("no other call is repeated, except a dry run", async () => {
  const lift = { hold_id: "019a0000-0000-7000-8000-000000000000", reason: "dispute 4711" };
  const { client, keys } = clientOf([0, {}], [200, [DONE]]);
  await expect(client.call("liftHold", lift)).rejects.toThrow("fetch failed");
  expect(keys).toHaveLength(1);
  vi.useFakeTimers();
  const { client: dry, keys: dryKeys } = clientOf([0, {}], [200, [DONE]]);
  const answer = dry.call("liftHold", { ...lift, dry_run: true });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await answer).toEqual({ rows: 7 });
  expect(dryKeys).toHaveLength(2);
});

it("a call ends if the server rejects the request", async () => {
  const { client, keys } = clientOf([401, {}]);
  await expect(client.call("runRetention", {})).rejects.toMatchObject({ status: 401 });
  expect(keys).toHaveLength(1);
});

it("a call ends if the server is silent for longer than the time limit", async () => {
  const silent = createAdminClient({
    url: "https://admin.example",
    token: "t",
    timeoutMs: 20,
    fetch: (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error));
      }),
  });
  const lift = { hold_id: "019a0000-0000-7000-8000-000000000000", reason: "dispute 4711" };
  await expect(silent.call("liftHold", lift)).rejects.toMatchObject({ name: "TimeoutError" });
});
