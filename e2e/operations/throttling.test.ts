/** Tests of rate limits by account, and by address for failed authentication. */
import { Agent, request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { authorized, freshKey, PATH, type Reply, send, transport } from "../support/client.ts";
import { PROCESSES } from "../support/server.ts";
import { expectRetryLater, post, ServerScene } from "../support/server-scene.ts";

const { stage } = new ServerScene();

describe("the throttle", () => {
  test("answers 429 with the time of the next try if an account exceeds its rate, and affects no other account", async () => {
    const { server, who, other } = await stage({ DRS_THROTTLE_RATE: "1", DRS_THROTTLE_BURST: "4" });
    // With several processes the test uses one connection, because a process learns later of the requests that the
    // others got.
    const agent = new Agent({ keepAlive: true, maxSockets: PROCESSES > 1 ? 1 : 4 });
    const body = JSON.stringify(transport(who));
    const onConnection = (key = freshKey()): Promise<Reply> =>
      send({ url: server.url, headers: authorized(who, key), body, agent });
    const replies = await Promise.all(Array.from({ length: 4 }, () => onConnection()));
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    for (const { headers } of replies) expect(headers["ratelimit-policy"]).toBe('"account";q=4;w=4');
    const limits = replies.map(({ headers }) => headers["ratelimit"]);
    // Requests that run one after another may take so long that the account's allowance recovers partly.
    if (PROCESSES > 1) for (const limit of limits) expect(limit).toMatch(/^"account";r=[0-3];t=1$/);
    else expect(new Set(limits)).toEqual(new Set([0, 1, 2, 3].map((left) => `"account";r=${left};t=1`)));

    const key = freshKey();
    let refused = await onConnection(key);
    while (refused.status === 201) refused = await onConnection();
    expectRetryLater(refused, 429, "too-many-requests");
    expect(refused.headers["ratelimit"]).toMatch(/^"account";r=0;t=\d+$/);
    expect(refused.headers["ratelimit-policy"]).toBe('"account";q=4;w=4');

    const others = await post(server, other);
    expect(others.status).toBe(201);
    expect(others.headers["ratelimit"]).toBe('"account";r=3;t=1');
    const invalid = await post(server, other, freshKey(), "{");
    expect(invalid.status).toBe(400);
    expect(invalid.headers["ratelimit"]).toMatch(/^"account";r=[23];t=1$/);

    await new Promise((resolve) => setTimeout(resolve, Number(refused.headers["retry-after"]) * 1_000));
    const retried = freshKey();
    expect((await onConnection(retried)).status).toBe(201);
    agent.destroy();
    const anonymous = await send({ url: server.url });
    expect(anonymous.status).toBe(401);
    for (const name of ["ratelimit", "ratelimit-policy"]) expect(anonymous.headers).not.toHaveProperty(name);
  });

  test("charges a costly request by its decompressed bytes and its members, and the headers show the charge", async () => {
    const { server, who, other } = await stage({ DRS_THROTTLE_RATE: "1", DRS_THROTTLE_BURST: "40" });
    const requestsLeft = (reply: Reply): number => Number(/r=(\d+)/.exec(reply.headers["ratelimit"] ?? "")?.[1]);
    const bodyWith = (data: Record<string, unknown>): string => {
      const request = transport(who);
      request.observations["probes"] = { p: { status: "success", data } };
      return JSON.stringify(request);
    };
    const zipped = (body: string | Buffer): Promise<Reply> =>
      send({ url: server.url, headers: { ...authorized(who), "Content-Encoding": "gzip" }, body: gzipSync(body) });

    const plain = await post(server, who, freshKey(), bodyWith({ text: "x".repeat(15_000) }));
    expect([plain.status, requestsLeft(plain)]).toEqual([201, 39]);
    const large = await zipped(bodyWith({ text: "x".repeat(100_000) }));
    expect([large.status, requestsLeft(large)], "7 for 100 KB").toEqual([201, expect.closeTo(32, -1)]);
    const before = requestsLeft(await post(server, who));
    const bomb = await zipped(Buffer.alloc(1_000_000));
    expect([bomb.status, before - requestsLeft(bomb)], "the cost of as many bytes as the limit allows").toEqual([
      400,
      expect.closeTo(16, -1),
    ]);
    const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`m${index}`, 0]));
    const wide = await post(server, who, freshKey(), bodyWith(members));
    expect([wide.status, requestsLeft(wide)], "a request alone passes even if it costs more than is left").toEqual([
      201, 0,
    ]);
    expect(Number(/t=(\d+)/.exec(wide.headers["ratelimit"] ?? "")?.[1])).toBeGreaterThan(1);

    const next = await post(server, who);
    expectRetryLater(next, 429, "too-many-requests");
    expect((await post(server, other)).status).toBe(201);
  });

  test("charges a costly retry with other bytes for the comparison, and charges nothing for the comparison of the same bytes", async () => {
    const { server, who } = await stage({ DRS_THROTTLE_RATE: "1", DRS_THROTTLE_BURST: "1000" });
    const left = (reply: Reply): number => Number(/r=(\d+)/.exec(reply.headers["ratelimit"] ?? "")?.[1]);
    const request = transport(who);
    request.observations["vendor"] = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`m${index}`, 0]));
    const body = JSON.stringify(request);
    const key = freshKey();
    const replies: Reply[] = [];
    for (const sent of [body, body, `${body} `]) replies.push(await post(server, who, key, sent));
    expect(replies.map(({ status }) => status)).toEqual([201, 200, 200]);
    const [stored = 0, same = 0, other = 0] = replies.map(left);
    expect(stored - same, "20 for its members").toBeLessThanOrEqual(20);
    expect(same - other, "20, and 4 × 19").toBeGreaterThan(85);
  });

  test("lets concurrent requests together cost no more than the account has left", async () => {
    const { server, who } = await stage({ DRS_THROTTLE_RATE: "1", DRS_THROTTLE_BURST: "20" });
    const request = transport(who);
    request.observations["vendor"] = "x".repeat(200_000);
    const body = JSON.stringify(request);
    const replies = await Promise.all(Array.from({ length: 12 }, () => post(server, who, freshKey(), body)));
    const stored = replies.filter(({ status }) => status === 201);
    expect(stored.length).toBeGreaterThanOrEqual(1);
    expect(stored.length, "13 each, in each process").toBeLessThanOrEqual(2 * PROCESSES);
    for (const reply of replies) if (reply.status !== 201) expectRetryLater(reply, 429, "too-many-requests");
  });

  test("is disabled by a rate of 0, and then no header mentions the throttle", async () => {
    const { server, who } = await stage({ DRS_THROTTLE_RATE: "0", DRS_THROTTLE_BURST: "1" });
    const replies = await Promise.all(Array.from({ length: 200 }, () => post(server, who)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    for (const { headers } of replies) {
      for (const name of ["ratelimit", "ratelimit-policy"]) expect(headers).not.toHaveProperty(name);
    }
  });

  test("limits failed authentications by address at any rate, and valid credentials pass", async () => {
    const { server, who } = await stage({ DRS_THROTTLE_RATE: "0" });
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const countOf401 = (replies: readonly Reply[]): number => replies.filter(({ status }) => status === 401).length;
    const headers = { ...authorized(who), Authorization: `Bearer drs_${"x".repeat(43)}` };
    const from = (localAddress: string): Promise<Reply> => {
      const { hostname, port } = new URL(server.url);
      return new Promise((resolve, reject) => {
        const options = { hostname, port, path: PATH, method: "POST", headers, localAddress, agent: false as const };
        const request = httpRequest(options, (response) => {
          response.resume();
          const status = response.statusCode ?? 0;
          resolve({ status, headers: response.headers as Record<string, string>, text: "", json: {} });
        });
        request.on("error", reject).end();
      });
    };
    const started = performance.now();
    const flood = await Promise.all(
      Array.from({ length: 300 }, (_, n) => send({ url: server.url, ...(n % 2 && { headers }), agent })),
    );
    agent.destroy();
    const refused = flood.filter(({ status }) => status === 429);
    expect(countOf401(flood)).toBeGreaterThanOrEqual(50);
    expect(refused.length).toBeGreaterThanOrEqual(20);
    for (const reply of refused) expectRetryLater(reply, 429, "too-many-failures");

    expect((await post(server, who)).status).toBe(201);
    const [elsewhere, here] = await Promise.all([
      Promise.all(Array.from({ length: 30 }, () => from("127.0.0.2"))),
      Promise.all(Array.from({ length: 30 }, () => from("127.0.0.1"))),
    ]);
    expect(new Set(elsewhere.map(({ status }) => status))).toEqual(new Set([401]));
    const seconds = (performance.now() - started) / 1_000;
    // A process learns later of the requests that the others got.
    expect(countOf401([...flood, ...here]), "50 at once and 10 per second").toBeLessThanOrEqual(
      PROCESSES * (50 + 10 * seconds),
    );
  });
});
