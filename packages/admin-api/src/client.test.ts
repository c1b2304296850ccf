import { afterEach, expect, it, vi } from "vitest";
import { createAdminClient } from "./client.ts";
import { adminProblem } from "./problems.ts";
import type { Order } from "./routes/orders.ts";

const ORDER: Order = {
  order_id: "019a0000-0000-7000-8000-000000000000",
  operation: "retention.run",
  requested_by: "ann",
  requested_at: "2026-01-31T00:00:00.000Z",
  expires_at: "2026-01-31T01:00:00.000Z",
  state: "waiting",
  started_at: null,
  ended_at: null,
  progress: null,
};

afterEach(() => {
  vi.useRealTimers();
});

/** A client of a server that gives these answers, one after another; 0: the network fails. */
function clientOf(...answers: readonly (readonly [status: number, body: object])[]) {
  const requests: string[] = [];
  const seen: string[] = [];
  const client = createAdminClient({
    url: "https://admin.example",
    token: "t",
    onOrder: ({ state, progress }) => void seen.push([state, progress].join()),
    fetch: async (target) => {
      const [status, body] = answers[requests.push((target as URL).href) - 1] ?? [500, {}];
      if (status === 0) throw new TypeError("fetch failed");
      const type = status >= 400 ? "application/problem+json" : "application/json";
      return Response.json(body, { status, headers: { "Content-Type": type } });
    },
  });
  return { client, requests, seen };
}

const running = { ...ORDER, state: "running", progress: "7 events", answer: null, problem: null } as const;

it("a call whose order takes long reports the states of the order, and returns its final answer", async () => {
  const done = { ...running, state: "done", answer: { rows: 7 } };
  const { client, requests, seen } = clientOf([202, ORDER], [200, running], [200, done]);
  expect(await client.call("runRetention", {})).toEqual({ rows: 7 });
  expect(seen).toEqual(["waiting,", "running,7 events", "done,7 events"]);
  const order = `https://admin.example/admin/v1/orders/${ORDER.order_id}?wait_ms=1000`;
  expect(requests).toEqual(["https://admin.example/admin/v1/retention/runs", order, order]);
});

it("a call whose order fails later throws the problem of the order, as a call does that fails at once", async () => {
  const problem = { ...adminProblem("state-conflict", "A pass is under way."), code: "pass-running" };
  const failed = { ...running, state: "failed", problem };
  const { client } = clientOf([202, ORDER], [200, failed]);
  const expected = { status: 409, code: "state-conflict", problem: { code: "pass-running" } };
  await expect(client.call("runRetention", {})).rejects.toMatchObject(expected);
  const { client: atOnce } = clientOf([409, problem]);
  await expect(atOnce.call("runRetention", {})).rejects.toMatchObject(expected);
});

it("a call that waits for an order tolerates an outage of the server or the network, up to a limit", async () => {
  vi.useFakeTimers();
  const done = { ...running, state: "done", answer: { rows: 7 } };
  const unavailable = [503, adminProblem("unavailable")] as const;
  const { client } = clientOf([202, ORDER], unavailable, [0, {}], [429, {}], [502, {}], [200, done]);
  const answer = client.call("runRetention", {});
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await answer).toEqual({ rows: 7 });
  const { client: later, requests } = clientOf([202, ORDER], ...Array.from({ length: 50 }, () => unavailable));
  const ended = expect(later.call("runRetention", {})).rejects.toMatchObject({ status: 503 });
  await vi.advanceTimersByTimeAsync(120_000);
  await ended;
  expect(requests).toHaveLength(13);
});

it("a call that waits for an order ends if the server rejects a request", async () => {
  const { client, requests } = clientOf([202, ORDER], [401, {}]);
  await expect(client.call("runRetention", {})).rejects.toMatchObject({ status: 401 });
  expect(requests).toHaveLength(2);
});
