/** The server in an operator's hands: greeting, health, throttles, overload, drain, audit, and what is kept quiet. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { Agent, type ClientRequest, request as httpRequest } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { EmbeddedPostgres } from "../packages/server/src/embedded-postgres/embedded-postgres.ts";
import { authorized, freshKey, PATH, type Reply, send, sendRaw, transport } from "./support/client.ts";
import { command, objects } from "./support/command.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { childrenOf, type Home, makeHome, until } from "./support/embedded.ts";
import { type Credentials, credentials, type ServerProcess, startServer } from "./support/server.ts";

const PROBLEM = "urn:problem:device-risk-signals:";
const WHOLE_SECONDS = /^[1-9]\d*$/;

let database: TestDatabase;
const running: ServerProcess[] = [];
const homes: Home[] = [];

beforeAll(async () => {
  database = await sharedDatabase();
});

afterEach(async () => {
  for (const server of running.splice(0)) {
    if (server.process.exitCode === null && server.process.signalCode === null) await server.kill();
  }
  for (const home of homes.splice(0)) await home.remove();
});

afterAll(() => database.close());

/** A server that stops at the end of its test. */
async function serve(environment: Record<string, string>): Promise<ServerProcess> {
  const server = await startServer(environment);
  running.push(server);
  return server;
}

/** A home that is deleted at the end of its test. */
async function temporaryHome(): Promise<Home> {
  const home = await makeHome();
  homes.push(home);
  return home;
}

interface Stage {
  readonly environment: Record<string, string>;
  readonly server: ServerProcess;
  readonly who: Credentials;
  readonly other: Credentials;
}

/** A server on a fresh database, with two accounts. */
async function stage(settings: Record<string, string> = {}): Promise<Stage> {
  const environment = { ...(await database.environment()), ...settings };
  const who = await credentials(environment, "who");
  const other = await credentials(environment, "other");
  return { environment, server: await serve(environment), who, other };
}

const get = (url: string, path: string): Promise<Reply> => send({ url, method: "GET", path });

const post = (server: ServerProcess, who: Credentials, key = freshKey(), body?: string): Promise<Reply> =>
  send({ url: server.url, headers: authorized(who, key), body: body ?? JSON.stringify(transport(who)) });

const problemOf = ({ json }: Reply): string => String(json["type"]).replace(PROBLEM, "");

function expectRetryLater(reply: Reply, status: number, problem: string): void {
  expect([reply.status, problemOf(reply)], reply.text).toEqual([status, problem]);
  expect(reply.headers["retry-after"]).toMatch(WHOLE_SECONDS);
}

/** A request whose body comes when the test says so. */
class SlowRequest {
  readonly reply: Promise<Reply>;
  readonly #request: ClientRequest;
  readonly #body: string;

  constructor(
    server: ServerProcess,
    who: Credentials,
    { key = freshKey(), body = JSON.stringify(transport(who)) } = {},
  ) {
    const { hostname, port } = new URL(server.url);
    this.#body = body;
    this.#request = httpRequest({ hostname, port, path: PATH, method: "POST", agent: false });
    for (const [name, value] of Object.entries(authorized(who, key))) this.#request.setHeader(name, value);
    this.#request.setHeader("Content-Length", Buffer.byteLength(body));
    this.reply = new Promise((resolve, reject) => {
      this.#request.on("error", reject);
      this.#request.on("response", (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => {
          const headers = response.headers as Record<string, string>;
          resolve({ status: response.statusCode ?? 0, headers, text, json: JSON.parse(text) as Reply["json"] });
        });
      });
    });
    this.reply.catch(() => {});
    this.#request.write(body.slice(0, 20));
  }

  finish(): Promise<Reply> {
    this.#request.end(this.#body.slice(20));
    return this.reply;
  }

  hangUp(): void {
    this.#request.destroy();
  }
}

async function inFlight({ adminUrl }: ServerProcess): Promise<number> {
  const { text } = await get(adminUrl, "/metrics");
  return Number(/^drs_requests_in_flight (\d+)$/m.exec(text)?.[1]);
}

describe("the greeting", () => {
  const shell = (script: string): Promise<string> =>
    new Promise((resolve) => execFile("bash", ["-c", script], (_, stdout) => resolve(stdout)));

  let home: Home;
  let server: ServerProcess;

  beforeAll(async () => {
    home = await makeHome();
    server = await startServer(home.environment);
    await until(() => server.stdout().includes("\ncurl "));
  });

  afterAll(async () => {
    await server.stop();
    await home.remove();
  });

  const tokenOf = (text: string): string => /drs_[\w-]{43}/.exec(text)?.[0] ?? "";

  test("has the URL, a token, an action and a curl command", async () => {
    const lines = server.stdout().trimEnd().split("\n");
    expect(lines[0]).toBe(`Device Risk Signals is ready: ${server.url}${PATH}`);
    expect(lines[1]).toMatch(/^Development token \(until \S+\): drs_[\w-]{43}$/);
    expect(lines[2]).toMatch(/^Registered action: act_\S+ \(try\)$/);
    expect(lines.at(-1)).toMatch(/^curl .* -d '\{.*\}'$/);
    const rows = objects((await command(home.environment, "token", "list", "--json")).stdout);
    expect(rows).toMatchObject([{ account: "development" }]);
  });

  test("the curl command, pasted as it is: 201, then 200; with a probe's value changed, 409", async ({ skip }) => {
    if (!(await shell("curl --version"))) skip("no curl here");
    const line = server.stdout().trimEnd().split("\n").at(-1) ?? "";
    const [first, second] = [await shell(line), await shell(line)];
    expect(first).toMatch(/^HTTP\/1\.1 201 .*"created":true\}$/s);
    expect(second).toMatch(/^HTTP\/1\.1 200 .*"created":false\}$/s);
    expect(/"event_id":"[^"]+"/.exec(second)?.[0]).toBe(/"event_id":"[^"]+"/.exec(first)?.[0]);
    const changed = line.replace('"fontsDigest":"', '"fontsDigest":"x');
    expect(changed).not.toBe(line);
    expect(await shell(changed)).toMatch(/^HTTP\/1\.1 409 .*idempotency-conflict/s);
  });

  test("the token is on standard output and nowhere else", async () => {
    const token = tokenOf(server.stdout());
    expect(token).not.toBe("");
    await send({ url: server.url, headers: { Authorization: `Bearer ${token}` } });
    expect(server.stderr()).toContain('"msg":"ready"');
    expect(server.stderr()).not.toContain("drs_");
    const audit = (await command(home.environment, "audit", "list", "--json")).stdout;
    expect(audit).toContain("token.issue");
    for (const text of [audit, (await get(server.adminUrl, "/metrics")).text]) expect(text).not.toContain(token);
  });

  test("there is no token for an external database", async () => {
    const { server, environment } = await stage();
    expect(await server.stop()).toBe(0);
    expect(server.stdout()).toBe(`Device Risk Signals is ready: ${server.url}${PATH}\n`);
    const { stdout } = await command(environment, "token", "list", "--account", "development", "--json");
    expect(stdout).toBe("");
  });

  test("there is none beyond loopback", async () => {
    const other = await temporaryHome();
    const beyond = await serve({
      ...other.environment,
      DRS_HOST: "0.0.0.0",
      DRS_TLS_TERMINATED_BY_PROXY: "true",
    });
    expect(await beyond.stop()).toBe(0);
    const { stdout } = await command(other.environment, "token", "list", "--json");
    expect(beyond.stdout()).toMatch(/^Device Risk Signals is ready: http:\/\/0\.0\.0\.0:\d+\/\S+\n$/);
    expect(stdout).toBe("");
    expect(beyond.adminUrl).toMatch(/^http:\/\/127\.0\.0\.1:/);
  });

  test("health and metrics are on the admin listener, and only there", async () => {
    expect((await send({ url: server.url })).status).toBe(401);
    for (const path of ["/livez", "/readyz"]) {
      expect(await get(server.adminUrl, path)).toMatchObject({ status: 200, text: "ok\n" });
    }
    const metrics = await get(server.adminUrl, "/metrics");
    expect(metrics.status).toBe(200);
    expect(metrics.headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(metrics.text).toMatch(/^drs_requests_total\{status="401",code="[a-z-]+"\} \d+$/m);
    expect(metrics.text).toMatch(/^process_resident_memory_bytes \d+$/m);
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      expect(await get(server.url, path)).toMatchObject({ status: 404, json: { status: 404 } });
    }
    for (const path of [PATH, "/api/v1/openapi.json", "/"]) {
      expect((await send({ url: server.adminUrl, path, body: "{}" })).status).toBe(404);
    }
    expect((await get(server.url, "/api/v1/openapi.json")).json).toHaveProperty("openapi");
  });
});

describe("SIGTERM", () => {
  test("answers what was accepted, refuses what comes, then ends with 0", async () => {
    const { server, who, environment } = await stage();
    const keepAlive = new Agent({ keepAlive: true });
    const onIdleConnection = (): Promise<Reply> =>
      send({ url: server.url, headers: authorized(who), body: JSON.stringify(transport(who)), agent: keepAlive });
    expect((await onIdleConnection()).status).toBe(201);
    const slow = new SlowRequest(server, who);
    await until(async () => (await inFlight(server)) === 1);

    const ended = server.stop();
    await until(async () => (await get(server.adminUrl, "/readyz")).status === 503);
    expect((await get(server.adminUrl, "/readyz")).text).toContain("draining");
    expect((await get(server.adminUrl, "/livez")).status).toBe(200);
    expectRetryLater(await post(server, who), 503, "draining");
    expectRetryLater(await onIdleConnection(), 503, "draining");

    const answer = await slow.finish();
    expect(answer.status, answer.text).toBe(201);
    const finished = Date.now();
    expect(await ended).toBe(0);
    expect(Date.now() - finished).toBeLessThan(2_500);
    keepAlive.destroy();
    await expect(post(server, who)).rejects.toThrow("ECONNREFUSED");

    const { stdout } = await command(environment, "event", "list", "--json");
    expect(objects(stdout)).toHaveLength(2);
    expect(objects(stdout)[0]).toMatchObject({ event_id: answer.json["event_id"] });
    const audit = objects((await command(environment, "audit", "list", "--json")).stdout);
    // Written every second: in one entry, or in two.
    const draining = audit.filter(({ outcome, account }) => outcome === "draining" && account === "who");
    expect(draining.reduce((sum, { occurrences }) => sum + Number(occurrences), 0)).toBe(2);
  });

  test("waits no longer than it was told for a client that does not finish", async () => {
    const { server, who, environment } = await stage({ DRS_DRAIN_TIMEOUT: "1s" });
    const slow = new SlowRequest(server, who);
    await until(async () => (await inFlight(server)) === 1);
    const started = Date.now();
    expect(await server.stop()).toBe(0);
    expect(Date.now() - started).toBeGreaterThanOrEqual(1_000);
    expect(Date.now() - started).toBeLessThan(4_000);
    await expect(slow.reply).rejects.toThrow();
    expect((await command(environment, "event", "list", "--json")).stdout).toBe("");
    expect(server.stderr()).not.toContain('"error"');
  });
});

describe("throttling", () => {
  test("an account past its rate gets 429 and is told when to come back; others are not touched", async () => {
    const { server, who, other } = await stage({ DRS_THROTTLE_RATE: "1", DRS_THROTTLE_BURST: "4" });
    const replies = await Promise.all(Array.from({ length: 4 }, () => post(server, who)));
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    for (const { headers } of replies) expect(headers["ratelimit-policy"]).toBe('"account";q=4;w=4');
    expect(new Set(replies.map(({ headers }) => headers["ratelimit"]))).toEqual(
      new Set([0, 1, 2, 3].map((left) => `"account";r=${left};t=1`)),
    );

    const key = freshKey();
    let refused = await post(server, who, key);
    while (refused.status === 201) refused = await post(server, who);
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
    expect((await post(server, who, retried)).status).toBe(201);
    const anonymous = await send({ url: server.url });
    expect(anonymous.status).toBe(401);
    for (const name of ["ratelimit", "ratelimit-policy"]) expect(anonymous.headers).not.toHaveProperty(name);
  });

  test("a costly request is charged by its decompressed bytes and its members, and the headers say it", async () => {
    const { server, who, other } = await stage({ DRS_THROTTLE_RATE: "1", DRS_THROTTLE_BURST: "40" });
    const left = (reply: Reply): number => Number(/r=(\d+)/.exec(reply.headers["ratelimit"] ?? "")?.[1]);
    const bodyWith = (data: Record<string, unknown>): string => {
      const request = transport(who);
      request.observations["probes"] = { p: { status: "success", data } };
      return JSON.stringify(request);
    };
    const zipped = (body: string | Buffer): Promise<Reply> =>
      send({ url: server.url, headers: { ...authorized(who), "Content-Encoding": "gzip" }, body: gzipSync(body) });

    const plain = await post(server, who, freshKey(), bodyWith({ text: "x".repeat(15_000) }));
    expect([plain.status, left(plain)]).toEqual([201, 39]);
    const large = await zipped(bodyWith({ text: "x".repeat(100_000) }));
    expect([large.status, left(large)], "7 for 100 KB").toEqual([201, expect.closeTo(32, -1)]);
    const before = left(await post(server, who));
    const bomb = await zipped(Buffer.alloc(1_000_000));
    expect([bomb.status, before - left(bomb)], "what the limit costs").toEqual([400, expect.closeTo(16, -1)]);
    const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`m${index}`, 0]));
    const wide = await post(server, who, freshKey(), bodyWith(members));
    expect([wide.status, left(wide)], "more than was left: a lone request passes").toEqual([201, 0]);
    expect(Number(/t=(\d+)/.exec(wide.headers["ratelimit"] ?? "")?.[1])).toBeGreaterThan(1);

    const next = await post(server, who);
    expectRetryLater(next, 429, "too-many-requests");
    expect((await post(server, other)).status).toBe(201);
  });

  test("a costly retry in other bytes is charged for the comparison too, one in the same bytes is not", async () => {
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

  test("requests let in together can't all cost more than there is", async () => {
    const { server, who } = await stage({ DRS_THROTTLE_RATE: "1", DRS_THROTTLE_BURST: "20" });
    const request = transport(who);
    request.observations["vendor"] = "x".repeat(200_000);
    const body = JSON.stringify(request);
    const replies = await Promise.all(Array.from({ length: 12 }, () => post(server, who, freshKey(), body)));
    const stored = replies.filter(({ status }) => status === 201);
    expect(stored.length).toBeGreaterThanOrEqual(1);
    expect(stored.length, "13 each").toBeLessThanOrEqual(2);
    for (const reply of replies) if (reply.status !== 201) expectRetryLater(reply, 429, "too-many-requests");
  });

  test("a rate of 0 is no throttle, and no header speaks of one", async () => {
    const { server, who } = await stage({ DRS_THROTTLE_RATE: "0", DRS_THROTTLE_BURST: "1" });
    const replies = await Promise.all(Array.from({ length: 200 }, () => post(server, who)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    for (const { headers } of replies) {
      for (const name of ["ratelimit", "ratelimit-policy"]) expect(headers).not.toHaveProperty(name);
    }
  });

  test("failed authentication is throttled by address, with any rate; who has credentials passes", async () => {
    const { server, who } = await stage({ DRS_THROTTLE_RATE: "0" });
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
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
    const flood = await Promise.all(
      Array.from({ length: 300 }, (_, n) => send({ url: server.url, ...(n % 2 && { headers }), agent })),
    );
    agent.destroy();
    const refused = flood.filter(({ status }) => status === 429);
    expect(flood.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(50);
    expect(refused.length).toBeGreaterThanOrEqual(20);
    for (const reply of refused) expectRetryLater(reply, 429, "too-many-failures");

    expect((await post(server, who)).status).toBe(201);
    const elsewhere = await Promise.all(Array.from({ length: 30 }, () => from("127.0.0.2")));
    expect(new Set(elsewhere.map(({ status }) => status))).toEqual(new Set([401]));
    const here = await Promise.all(Array.from({ length: 30 }, () => from("127.0.0.1")));
    expect(here.map(({ status }) => status)).toContain(429);
  });
});

describe("overload", () => {
  /** The head of a request whose body never comes. */
  const head = ({ url }: ServerProcess, who: Credentials, ...more: string[]): string => {
    const lines = Object.entries(authorized(who)).map(([name, value]) => `${name}: ${value}`);
    return [`POST ${PATH} HTTP/1.1`, `Host: ${new URL(url).host}`, ...lines, ...more, "", ""].join("\r\n");
  };

  test("too many requests at once: 503 before the body is read, and room again when they are done", async () => {
    const { server, who } = await stage({ DRS_MAX_REQUESTS: "2" });
    const slow = [new SlowRequest(server, who), new SlowRequest(server, who)];
    await until(async () => (await inFlight(server)) === 2);

    expectRetryLater(await sendRaw(server.url, head(server, who, "Content-Length: 5000")), 503, "overloaded");
    const invited = await sendRaw(server.url, head(server, who, "Content-Length: 5000", "Expect: 100-continue"));
    expectRetryLater(invited, 503, "overloaded");
    const key = freshKey();
    expectRetryLater(await post(server, who, key), 503, "overloaded");
    // A client without a session learns nothing of it.
    expect((await send({ url: server.url })).status).toBe(401);

    for (const request of slow) expect((await request.finish()).status).toBe(201);
    expect((await post(server, who, key)).status).toBe(201);
    expect(await inFlight(server)).toBe(0);
  });

  test("too many bytes at once: announced ones count, unannounced ones as the limit", async () => {
    const { server, who } = await stage({ DRS_MAX_BUFFER_BYTES: String(1024 * 1024) });
    const body = JSON.stringify(transport(who));
    const large = `${body}${" ".repeat(262_144 - body.length)}`;
    const slow = Array.from({ length: 4 }, () => new SlowRequest(server, who, { body: large }));
    await until(async () => (await inFlight(server)) === 4);
    expectRetryLater(await post(server, who), 503, "overloaded");
    slow[0]?.hangUp();
    await until(async () => (await inFlight(server)) === 3);

    // The budget allows one at the limit, or small ones; not a small one more without an announced length.
    const small = new SlowRequest(server, who);
    await until(async () => (await inFlight(server)) === 4);
    for (const unknown of ["Transfer-Encoding: chunked", "Content-Length: 500\r\nContent-Encoding: gzip"]) {
      expectRetryLater(await sendRaw(server.url, head(server, who, unknown)), 503, "overloaded");
    }
    expect((await post(server, who)).status).toBe(201);
    expect((await small.finish()).status).toBe(201);
    for (const request of slow.slice(1)) expect((await request.finish()).status).toBe(201);
    expect((await post(server, who)).status).toBe(201);
  });

  test("a client that hangs up midway leaves nothing, and its key free", async () => {
    const { server, who, environment } = await stage();
    const key = freshKey();
    for (let n = 0; n < 3; n++) {
      const request = new SlowRequest(server, who, { key });
      await until(async () => (await inFlight(server)) === 1);
      request.hangUp();
      await until(async () => (await inFlight(server)) === 0);
    }
    expect((await command(environment, "event", "list", "--json")).stdout).toBe("");
    expect((await post(server, who, key)).status).toBe(201);
    expect(server.stderr()).not.toContain('"error"');
  });

  test("one account may hold a part of the places only, and is told so; the others pass", async () => {
    const { server, who, other } = await stage({ DRS_MAX_REQUESTS: "40", DRS_THROTTLE_RATE: "0" });
    const slow = Array.from({ length: 32 }, () => new SlowRequest(server, who));
    await until(async () => (await inFlight(server)) === 32);
    expectRetryLater(await post(server, who), 429, "too-many-requests");
    expect((await post(server, other)).status).toBe(201);
    for (const { status } of await Promise.all(slow.map((request) => request.finish()))) expect(status).toBe(201);
    expect((await post(server, who)).status).toBe(201);
  });

  test("memory is bounded, whatever is uploaded, by whomever, however slowly", async () => {
    const limits = { DRS_THROTTLE_RATE: "0", DRS_MAX_BUFFER_BYTES: String(16 * 1024 * 1024) };
    const { server, environment } = await stage(limits);
    const senders = await Promise.all(Array.from({ length: 8 }, (_, n) => credentials(environment, `sender ${n}`)));
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

    // 250 MB that are announced and almost sent, 400 MB that are not announced, 200 MB without a session.
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

/** Sends the chunks and then waits: the body never ends. */
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

describe("a database that is away", () => {
  let home: Home;
  let standing: EmbeddedPostgres | undefined;

  const start = async (): Promise<EmbeddedPostgres> => {
    standing = await EmbeddedPostgres.open({ dataDir: home.dataDir, asServer: false, onError: () => {} });
    return standing;
  };

  beforeAll(async () => {
    home = await makeHome();
    await start();
  });

  afterAll(async () => {
    await standing?.close();
    await home.remove();
  });

  async function stageHere(): Promise<Stage> {
    const socket = encodeURIComponent(standing?.owner.host ?? "");
    const environment = {
      DRS_DATABASE_URL: `postgresql://postgres@localhost/postgres?host=${socket}`,
      DRS_KEY_DIR: home.keyDir,
      DRS_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
      DRS_THROTTLE_RATE: "0",
      DRS_DEPENDENCY_TIMEOUT: "20s",
    };
    expect((await command(environment, "migrate")).code).toBe(0);
    const [who, other] = [await credentials(environment, "who"), await credentials(environment, "other")];
    return { environment, server: await serve(environment), who, other };
  }

  test("is 503 with Retry-After at once, not ready but alive, and over by itself when it is back", async () => {
    const { server, who, other } = await stageHere();
    expect((await post(server, who)).status).toBe(201);
    await standing?.close();
    await until(async () => (await get(server.adminUrl, "/readyz")).status === 503);
    expect((await get(server.adminUrl, "/readyz")).text).toMatch(/^database: can't be reached \(since .+Z\)\n$/);

    const key = freshKey();
    const away = Date.now();
    for (let n = 0; n < 100; n++) {
      // One whose token is known, and one whose token would have to be looked up.
      expectRetryLater(await post(server, n % 2 ? who : other, key), 503, "unavailable");
    }
    expect(Date.now() - away).toBeLessThan(5_000);
    expect((await get(server.adminUrl, "/livez")).status).toBe(200);
    const errors = server
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"error"'));
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThan(30);
    for (const line of errors) {
      const { code, operation, msg } = JSON.parse(line) as Record<string, string>;
      expect(msg, line).toBe(`${operation} failed`);
      expect(code, line).toMatch(/^(dependency|unexpected)-[a-z]+$/);
    }

    await start();
    await until(async () => (await post(server, who, key)).status < 300);
    expect(await get(server.adminUrl, "/readyz")).toMatchObject({ status: 200 });
    expect((await post(server, other, key)).status).toBe(201);
    expect(await server.stop()).toBe(0);
  });

  test("what the audit holds back is still written when the database comes back during the shutdown", async () => {
    const { environment, server } = await stageHere();
    expect((await send({ url: server.url })).status).toBe(401);
    await standing?.close();
    const ended = server.stop();
    await until(() => server.stderr().includes('"draining"'));
    await start();
    expect(await ended).toBe(0);
    const { stdout } = await command(environment, "audit", "list", "--json");
    expect(stdout).toContain('"outcome":"credentials-missing"');
  });

  test("one that hangs is not ready either, and the requests that waited get their answers", async () => {
    const { server, who } = await stageHere();
    expect((await post(server, who)).status).toBe(201);
    const [postmaster = 0] = await home.postgres();
    const all = [postmaster, ...(await childrenOf(postmaster))];
    for (const pid of all) process.kill(pid, "SIGSTOP");
    try {
      const waiting = post(server, who);
      waiting.catch(() => {});
      await until(async () => (await get(server.adminUrl, "/readyz")).status === 503, 5_000);
      expect((await get(server.adminUrl, "/readyz")).text).toMatch(/^database: does not answer/);
      for (const pid of all) process.kill(pid, "SIGCONT");
      expect((await waiting).status).toBe(201);
      await until(async () => (await get(server.adminUrl, "/readyz")).status === 200);
    } finally {
      // The server ends the backends of connections that it gave up.
      for (const pid of await home.postgres()) process.kill(pid, "SIGCONT");
    }
    expect(await server.stop()).toBe(0);
  });
});

/** A process of PostgreSQL that serves a connection of ours. */
async function servingBackend(postmaster: number): Promise<number> {
  for (const pid of await childrenOf(postmaster)) {
    const title = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (title.startsWith("postgres: drs_app ")) return pid;
  }
  throw new Error("no connection is served");
}

describe("the audit", () => {
  interface Entry {
    readonly actor: string;
    readonly operation: string;
    readonly outcome: string;
    readonly account: string | null;
    readonly event_id: string | null;
    readonly occurrences: number;
    readonly reason: string | null;
    readonly detail: Record<string, unknown> | null;
  }

  const auditOf = async (environment: Record<string, string>, ...filter: string[]): Promise<Entry[]> =>
    objects<Entry>((await command(environment, "audit", "list", "--limit", "0", "--json", ...filter)).stdout);

  test("says who did what to what, with which outcome", async () => {
    const environment = { ...(await database.environment()), DRS_SESSION_BINDING: "record" };
    const who = await credentials(environment, "audited");
    const server = await serve(environment);
    const key = freshKey();
    const body = JSON.stringify(transport(who));
    const eventId = (await post(server, who, key, body)).json["event_id"] as string;
    expect((await post(server, who, key, body)).status).toBe(200);
    expect((await post(server, who, key, body.replace("unreadable", "x"))).status).toBe(409);
    expect((await post(server, who, freshKey(), "{")).status).toBe(400);
    expect((await post(server, { ...who, actionId: "unknown" })).status).toBe(403);
    const mismatch = await post(server, { ...who, sessionId: "another" });
    expect(mismatch.status).toBe(201);
    const read = await command(environment, "event", "get", eventId, "--raw", "--reason", "dispute 4711");
    expect(read.code).toBe(0);
    await server.stop();

    const entries = await auditOf(environment, "--account", "audited");
    const made = entries.filter(({ operation }) => operation === "event.create");
    const other = mismatch.json["event_id"] as string;
    expect(made.map(({ outcome, event_id }) => `${outcome} ${event_id}`).toSorted()).toEqual([
      `accepted ${eventId}`,
      `accepted ${other}`,
      "action-refused null",
      "idempotency-conflict null",
      `replayed ${eventId}`,
      `session-mismatch ${other}`,
      "text-invalid null",
    ]);
    for (const entry of made) expect(entry).toMatchObject({ actor: "endpoint", account: "audited", occurrences: 1 });
    for (const operation of ["token.issue", "action.register", "event.read_raw"]) {
      const found = entries.filter((entry) => entry.operation === operation);
      expect(found).toMatchObject([{ actor: expect.stringMatching(/^cli:\S/) as string, outcome: "done" }]);
    }
    expect(entries.find(({ operation }) => operation === "event.read_raw")).toMatchObject({
      event_id: eventId,
      reason: "dispute 4711",
    });
    expect((await auditOf(environment, "--event", eventId)).map(({ outcome }) => outcome).toSorted()).toEqual(
      ["accepted", "done", "replayed"].toSorted(),
    );
    expect(await auditOf(environment, "--account", "nobody")).toEqual([]);
  });

  test("a flood that nobody stands behind is a count with its sources, written once a minute", async () => {
    const { server, environment, who } = await stage({ DRS_TRUSTED_PROXY_HOPS: "1" });
    const started = Date.now();
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const SENT = 3_000;
    await Promise.all(
      Array.from({ length: SENT }, (_, n) => {
        const headers = {
          "X-Forwarded-For": `192.0.2.${n % 256}`,
          ...(n % 3 && { Authorization: `Bearer drs_${String(n).padStart(43, "x")}` }),
        };
        return send({ url: server.url, headers, agent });
      }),
    );
    agent.destroy();
    expect((await post(server, who)).status).toBe(201);
    const minutes = Math.ceil((Date.now() - started) / 60_000);
    await server.stop();

    const flood = (await auditOf(environment)).filter(({ account, operation }) => {
      return account === null && operation === "event.create";
    });
    expect(flood.reduce((sum, { occurrences }) => sum + occurrences, 0)).toBe(SENT);
    for (const outcome of ["credentials-missing", "credentials-invalid", "too-many-failures"]) {
      const entries = flood.filter((entry) => entry.outcome === outcome);
      expect(entries.length, outcome).toBeLessThanOrEqual(minutes);
    }
    expect(flood.length).toBeGreaterThan(0);
    for (const { detail } of flood) {
      const sources = detail?.["sources"] as Record<string, number>;
      expect(Object.keys(sources).length).toBeLessThanOrEqual(100);
      expect(Object.keys(sources)[0]).toMatch(/^192\.0\.2\.\d+$/);
    }
  });
});

describe("what the operator sees holds nothing of what was sent", () => {
  test("no token, key, header, name or value in the log, the metrics, PostgreSQL's log or the audit", async () => {
    const home = await temporaryHome();
    const environment = { ...home.environment, DRS_THROTTLE_RATE: "0", DRS_LOG_LEVEL: "trace" };
    expect((await command(environment, "migrate")).code).toBe(0);
    const who = await credentials(environment, "quiet");
    const server = await serve(environment);
    let marks = 0;
    const mark = (): string => `MARK${marks++}x`;
    const headers = (key = mark()): Record<string, string> => ({
      ...authorized(who, key),
      "User-Agent": mark(),
      Cookie: mark(),
      Referer: mark(),
      "X-Request-Id": mark(),
      traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    });
    const send201 = async (key: string, body: string): Promise<number> =>
      (await send({ url: server.url, headers: headers(key), body })).status;
    const marked = (): Record<string, unknown> => ({
      ...transport({ ...who, sessionId: mark() }),
      sdk_version: mark(),
      app_version: mark(),
    });
    const observations = {
      ...(marked()["observations"] as Record<string, unknown>),
      client_id: mark(),
      [mark()]: mark(),
      probes: {
        os_integrity: {
          status: "success",
          data: { isEmulator: mark(), abi: mark(), list: [mark(), { [mark()]: mark() }] },
        },
        geolocation: { status: "skipped", reason: mark() },
        fonts: { status: "error", error: mark() },
        [`${mark()} odd`]: { status: "success", data: { [`${mark()} odd`]: mark() } },
      },
    };
    const good = JSON.stringify({ ...marked(), observations });

    const key = mark();
    expect(await send201(key, good)).toBe(201);
    expect(await send201(key, good)).toBe(200);
    expect(await send201(key, good.replace('"skipped","reason":"', '"skipped","reason":"other'))).toBe(409);
    const gzipped = await send({
      url: server.url,
      headers: { ...headers(), "Content-Encoding": "gzip" },
      body: gzipSync(good),
    });
    expect(gzipped.status).toBe(201);
    const refused = [
      good.slice(0, -5),
      `${good}${mark()}`,
      good.replace("{", `{"${mark()}":"${mark()}",`),
      good.replace('"platform":"android"', `"platform":"${mark()}"`),
      good.replace('"status":"error"', `"status":"${mark()}"`),
      good.replace(/"collected_at":"[^"]+"/, `"collected_at":"${mark()}"`),
      good.replace(/"collected_at":"\d{4}/, '"collected_at":"1999'),
      good.replace(`"action_id":"${who.actionId}"`, `"action_id":"${mark()}"`),
      `{"${mark()}":1,"${mark()}":1,"a":"\\ud800"}`,
      mark(),
    ];
    for (const body of refused) expect([400, 403]).toContain(await send201(mark(), body));
    const strange: Record<string, string>[] = [
      { Authorization: `Bearer ${mark()}` },
      { Authorization: `Basic ${mark()}` },
      { ...headers(), "Idempotency-Key": `${mark()} ${mark()}` },
      { ...headers(), "Content-Type": `text/${mark()}` },
      { ...headers(), "Content-Encoding": mark() },
    ];
    for (const sent of strange) {
      const { status } = await send({ url: server.url, headers: sent, path: `${PATH}?${mark()}`, body: good });
      expect([400, 401, 415]).toContain(status);
    }
    expect((await get(server.url, `/${mark()}?${mark()}`)).status).toBe(404);
    expect((await sendRaw(server.url, `GET /${mark()} HTTP/9.9\r\n${mark()}: ${mark()}\r\n\r\n`)).status).toBe(400);
    expect((await sendRaw(server.url, `GET / HTTP/1.1\r\nX: ${mark().repeat(4_000)}\r\n\r\n`)).status).toBe(431);

    // PostgreSQL refuses a row, and would quote it in the detail of its error.
    const refusing = await EmbeddedPostgres.open({ dataDir: home.dataDir, asServer: false, onError: () => {} });
    const owner = new pg.Client(refusing.owner);
    await owner.connect();
    await owner.query("alter table drs.event add constraint picky check (app_version not like '%boom') not valid");
    const picked = good.replace(/"app_version":"[^"]+"/, `"app_version":"${mark()}boom"`);
    expect(await send201(mark(), picked)).toBe(500);
    await owner.end();
    await refusing.close();

    // PostgreSQL dies in the middle of load, and says so in its log.
    const [postmaster = 0] = await home.postgres();
    const load = Array.from({ length: 40 }, () => send201(mark(), good).catch(() => 0));
    process.kill(await servingBackend(postmaster), "SIGSEGV");
    await Promise.all(load);
    await until(async () => (await send201(mark(), good).catch(() => 0)) === 201);
    process.kill(postmaster, "SIGKILL");
    await until(async () => (await send201(mark(), good).catch(() => 0)) === 201);

    const metrics = (await get(server.adminUrl, "/metrics")).text;
    expect(await server.stop()).toBe(0);
    const audit = (await command(environment, "audit", "list", "--limit", "0", "--json")).stdout;
    const places: Record<string, string> = {
      "standard error": server.stderr(),
      "the metrics": metrics,
      "PostgreSQL's log": await readFile(join(home.dataDir, "postgres.log"), "utf8"),
      "the audit": audit,
    };
    expect(places["standard error"]).toContain('"constraint":"picky"');
    expect(places["the metrics"]).toContain('code="idempotency-conflict"');
    expect(places["PostgreSQL's log"]).toContain("violates check constraint");
    expect(places["PostgreSQL's log"]).toContain("was terminated by signal 11");
    expect(audit).toContain("text-invalid");
    expect(marks).toBeGreaterThan(150);
    for (const [name, text] of Object.entries(places)) {
      expect(text.match(/.*MARK\d+x.*/g), name).toBeNull();
      expect(text.includes(who.token), name).toBe(false);
      expect(text.includes("drs_xx"), name).toBe(false);
    }
  });
});
