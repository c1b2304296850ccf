/**
 * Tests of a server that gets more requests and bytes at once than it accepts: it answers 503 or 429, and its memory
 * stays bounded.
 */
import { readFile } from "node:fs/promises";
import { Agent, type ClientRequest, request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { authorized, freshKey, PATH, send, sendRaw, transport } from "../support/client.ts";
import { runWithBreakGlass } from "../support/command.ts";
import { until } from "../support/embedded.ts";
import { type Credentials, issueCredentials, type ServerProcess } from "../support/server.ts";
import { expectRetryLater, inFlight, post, ServerScene, untilInFlight } from "../support/server-scene.ts";
import { SlowRequest } from "../support/slow-request.ts";

const { stage } = new ServerScene();

describe("an overloaded server", () => {
  /** The head of a request. The test sends no body after it. */
  const head = ({ url }: ServerProcess, who: Credentials, ...more: string[]): string => {
    const lines = Object.entries(authorized(who)).map(([name, value]) => `${name}: ${value}`);
    return [`POST ${PATH} HTTP/1.1`, `Host: ${new URL(url).host}`, ...lines, ...more, "", ""].join("\r\n");
  };

  test("answers 503 to too many requests before it reads their bodies, and accepts requests again when the others have ended", async () => {
    const { server, who } = await stage({ DRS_MAX_REQUESTS: "2" });
    const slow = [new SlowRequest(server, who), new SlowRequest(server, who)];
    await untilInFlight(server, 2);

    expectRetryLater(await sendRaw(server.url, head(server, who, "Content-Length: 5000")), 503, "overloaded");
    const invited = await sendRaw(server.url, head(server, who, "Content-Length: 5000", "Expect: 100-continue"));
    expectRetryLater(invited, 503, "overloaded");
    const key = freshKey();
    expectRetryLater(await post(server, who, key), 503, "overloaded");
    // A client without a session does not learn that the server is overloaded.
    expect((await send({ url: server.url })).status).toBe(401);

    for (const request of slow) expect((await request.finish()).status).toBe(201);
    await untilInFlight(server, 0);
    expect((await post(server, who, key)).status).toBe(201);
    expect(await inFlight(server)).toBe(0);
  });

  test("answers 503 if requests have too many bytes; a body without an announced length counts as one of the maximum size", async () => {
    const { server, who } = await stage({ DRS_MAX_BUFFER_BYTES: String(1024 * 1024) });
    const body = JSON.stringify(transport(who));
    const large = `${body}${" ".repeat(262_144 - body.length)}`;
    const slow = Array.from({ length: 4 }, () => new SlowRequest(server, who, { body: large }));
    await untilInFlight(server, 4);
    expectRetryLater(await post(server, who), 503, "overloaded");
    slow[0]?.hangUp();
    await untilInFlight(server, 3);

    // The freed budget is enough for one body of the maximum size or for several small ones. When a small body has
    // taken a part, the rest is too small for a body without an announced length.
    const small = new SlowRequest(server, who);
    await untilInFlight(server, 4);
    for (const unknown of ["Transfer-Encoding: chunked", "Content-Length: 500\r\nContent-Encoding: gzip"]) {
      expectRetryLater(await sendRaw(server.url, head(server, who, unknown)), 503, "overloaded");
    }
    expect((await post(server, who)).status).toBe(201);
    expect((await small.finish()).status).toBe(201);
    for (const request of slow.slice(1)) expect((await request.finish()).status).toBe(201);
    expect((await post(server, who)).status).toBe(201);
  });

  test("stores nothing if a client disconnects during its upload, and the idempotency key stays unused", async () => {
    const { server, who, environment } = await stage();
    const key = freshKey();
    for (let n = 0; n < 3; n++) {
      const request = new SlowRequest(server, who, { key });
      await until(async () => (await inFlight(server)) === 1);
      request.hangUp();
      await until(async () => (await inFlight(server)) === 0);
    }
    expect((await runWithBreakGlass(environment, "event", "list", "--json")).stdout).toBe("");
    expect((await post(server, who, key)).status).toBe(201);
    expect(server.stderr()).not.toContain('"error"');
  });

  test("gives one account only a part of the permits, and serves other accounts", async () => {
    const { server, who, other } = await stage({ DRS_MAX_REQUESTS: "40", DRS_THROTTLE_RATE: "0" });
    const slow = Array.from({ length: 32 }, () => new SlowRequest(server, who));
    await untilInFlight(server, 32);
    expectRetryLater(await post(server, who), 429, "too-many-requests");
    expect((await post(server, other)).status).toBe(201);
    for (const { status } of await Promise.all(slow.map((request) => request.finish()))) expect(status).toBe(201);
    await untilInFlight(server, 0);
    expect((await post(server, who)).status).toBe(201);
  });

  test("has bounded memory under any uploads, of any account and at any speed", async () => {
    const limits = { DRS_THROTTLE_RATE: "0", DRS_MAX_BUFFER_BYTES: String(16 * 1024 * 1024) };
    const { server, environment } = await stage(limits);
    const senders = await Promise.all(
      Array.from({ length: 8 }, (_, n) => issueCredentials(environment, `sender ${n}`)),
    );
    const [who] = senders as [Credentials];
    const resident = async (): Promise<number> => {
      const status = await readFile(`/proc/${server.process.pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
    };
    for (let n = 0; n < 50; n++) await post(server, who);
    const before = await resident();
    let peak = before;
    const watch = setInterval(() => void resident().then((now) => (peak = Math.max(peak, now))), 20);
    const agent = new Agent({ keepAlive: false, maxSockets: 4_000 });

    // 250 MB of the uploads have a session and an announced length, and each lacks one byte. 400 MB have a session and
    // no announced length. 200 MB have no session.
    const body = `${JSON.stringify(transport(who))}${" ".repeat(262_144)}`.slice(0, 262_143);
    const endless = Array.from({ length: 4 }, () => Buffer.alloc(1024 * 1024, " "));
    const uploads: ClientRequest[] = [];
    for (let n = 0; n < 1_000; n++) {
      const headers = authorized(senders[n % 8] as Credentials);
      uploads.push(upload(server, headers, [body], agent));
      if (n % 10 === 0) uploads.push(upload(server, { ...headers, "Transfer-Encoding": "chunked" }, endless, agent));
      if (n % 20 === 0) uploads.push(upload(server, {}, endless, agent));
      if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 150));
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    clearInterval(watch);
    for (const request of uploads) request.destroy();
    agent.destroy();

    expect(peak - before, `from ${before.toFixed(0)} MB`).toBeLessThan(180);
    await until(async () => (await inFlight(server)) === 0);
    expect((await post(server, who)).status).toBe(201);
  });
});

/** Sends the chunks and then waits, so that the body never ends. */
function upload(
  { url }: ServerProcess,
  headers: Record<string, string>,
  chunks: readonly (string | Buffer)[],
  agent: Agent,
): ClientRequest {
  const { hostname, port } = new URL(url);
  const request = httpRequest({ hostname, port, path: PATH, method: "POST", headers, agent });
  if (!request.hasHeader("Transfer-Encoding")) {
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 1);
    request.setHeader("Content-Length", length);
  }
  request.on("error", () => {});
  for (const chunk of chunks) request.write(chunk);
  return request;
}
