/** Tests of calls that a process of the admin API forwards to a worker. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { createAdminClient } from "@device-risk-signals/admin-api";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { AWAITED_LOCKS } from "../../../../../e2e/support/database.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { listAudit } from "../../audit/audit.ts";
import { portsOf } from "../../operations/ports.ts";
import { WorkerCalls } from "../../operations/worker-calls.ts";
import { LOCKS } from "../../store/postgres/locks.ts";
import { createAdminServer } from "../admin.ts";
import { createAdminApi } from "./admin-api.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const folder = useFolder();
const scene = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: `${folder()}/journal` }));
const worker = useAdminListener(() => scene.system);
const ROLES = ["operator", "privacy"] as const;
const RETENTION = "/admin/v1/retention/runs";
/** It waits for the maintenance lock, and then ends with `key-versions-fixed`. */
const ROTATION = "/admin/v1/keys/rotate";

const servers: { readonly close: () => unknown }[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function listenOn(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A process of the admin API that is no worker. @returns its URL */
const startRelay = (workerUrl?: string, errors?: unknown[]): Promise<string> => startApi({ workerUrl }, errors);

async function startApi(
  options: Pick<Parameters<typeof createAdminApi>[0], "workerUrl" | "calls" | "reach">,
  errors: unknown[] = [],
): Promise<string> {
  const api = await createAdminApi({
    ...options,
    ports: portsOf(scene.system, scene.system),
    document: "{}",
    isClearAllowed: true,
    onFalseCredential: () => {},
    onError: (error) => void errors.push(error),
  });
  const ready = async (): Promise<{ ready: boolean; lines: string[] }> => ({ ready: true, lines: [] });
  const metrics = async (): Promise<{ type: string; text: string }> => ({ type: "text/plain", text: "" });
  return listenOn(createAdminServer({ api, hosts: [], onError: () => {}, readiness: ready, metrics }));
}

let token: string;
let relay: string;
beforeAll(async () => {
  token = await worker.token(ROLES);
  relay = await startRelay(worker.url);
});

const post = (url: string, headers: Readonly<Record<string, string>> = {}, body: object = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** Holds the lock for which a rotation of keys waits, until the returned function is called. */
async function holdMaintenance(): Promise<() => Promise<void>> {
  const { owner } = scene;
  await owner.query(`select pg_advisory_lock(${LOCKS.maintenance})`);
  return async () => void (await owner.query(`select pg_advisory_unlock(${LOCKS.maintenance})`));
}
const isWaiting = async (): Promise<boolean> => (await scene.owner.query(`select ${AWAITED_LOCKS}`)).rowCount !== 0;

describe("a process of the admin API without the login of a worker", () => {
  it("answers as the worker does: with JSON, or with lines if the caller accepts them", async () => {
    const plain = await post(`${relay}${RETENTION}`);
    const [entry] = await listAudit(scene.system.pool, () => scene.system.secrets, {
      operation: "call.forward",
      limit: 1,
    });
    expect(entry).toMatchObject({ outcome: "begun", detail: { of: "retention.run", source: "127.0.0.1" } });
    expect([plain.status, plain.headers.get("Content-Type")]).toEqual([200, "application/json; charset=utf-8"]);
    const answer: unknown = await plain.json();
    const lines = await post(`${relay}${RETENTION}`, { Accept: "application/x-ndjson" });
    expect(lines.headers.get("Content-Type")).toContain("application/x-ndjson");
    const last = (await lines.text()).trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toEqual({ status: 200, answer });
  });

  it("answers with the problem of the worker, and its status", async () => {
    const lift = { reason: "dispute 4711" };
    const unknown = "holds/019a0000-0000-7000-8000-000000000000/lift";
    const reply = await post(`${relay}/admin/v1/${unknown}`, {}, lift);
    expect(reply.headers.get("Content-Type")).toBe("application/problem+json; charset=utf-8");
    expect(await reply.json()).toMatchObject({ status: 404, code: "not-found" });
  });

  it("relays a stream, and ends it early if the worker ends", async () => {
    const client = createAdminClient({ url: relay, token });
    const refused = client.call("exportAccount", { account: "customer-1", reason: "request 17" });
    await expect(refused).rejects.toMatchObject({ status: 400 });
    const cut = createTcpServer((socket) => {
      const head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
      socket.once("data", () => socket.write(`${head}5\r\n{"a":\r\n`, () => socket.destroy()));
      socket.on("error", () => {});
    });
    const url = await startRelay(await listenOn(cut));
    const reply = await post(`${url}/admin/v1/accounts/export`, {}, { account: "customer-1", reason: "request 17" });
    await expect(reply.text()).rejects.toThrow("terminated");
  });

  it.each([
    ["no worker is configured", async () => undefined, "DRS_WORKER_URL names none: nothing was done"],
    ["no worker listens", async () => "http://127.0.0.1:9", "No worker can be reached at http://127.0.0.1:9"],
    ["the worker hangs up without an answer", hangUp, "check whether the call took effect before retrying"],
    ["the worker ends before the result", endEarly, "check whether the call took effect before retrying"],
  ])("answers 503 if %s", async (_, workerUrl, detail) => {
    const errors: unknown[] = [];
    const url = await startRelay(await workerUrl(), errors);
    const reply = await post(`${url}${RETENTION}`);
    expect(await reply.json()).toMatchObject({ status: 503, detail: expect.stringContaining(detail) as string });
    expect(reply.headers.get("Retry-After")).toBe("1");
    expect(errors).toHaveLength(1);
  });

  it("sends the credential to the worker alone, even if the target of the request names another host", async () => {
    let connections = 0;
    const other = await listenOn(createTcpServer((socket) => void (connections++, socket.destroy())));
    const { port } = new URL(relay);
    const reply = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1");
      const head = [`POST ${other}${RETENTION} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${token}`];
      socket.write(
        [...head, "Content-Type: application/json", "Content-Length: 2", "Connection: close", "", "{}"].join("\r\n"),
      );
      let answer = "";
      socket.on("data", (chunk) => (answer += chunk.toString())).on("close", () => resolve(answer));
    });
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
    expect(connections).toBe(0);
  });

  it.each([
    ["headers", '{"status":400,"problem":{"status":400},"headers":{"Set-Cookie":"a=b"}}'],
    ["a status that is no number", '{"status":"x","problem":null}'],
    ["an answer with another status", '{"status":204,"answer":{}}'],
    ["a problem without its members", '{"status":409,"problem":{"status":409}}'],
  ])("takes no line with %s for a result", async (_, line) => {
    const url = await startRelay(await answering(`${line}\n`));
    const reply = await post(`${url}${RETENTION}`);
    expect([reply.status, reply.headers.get("Set-Cookie")]).toEqual([503, null]);
  });

  it("passes on the result of a worker without its further members", async () => {
    const problem = { type: "t", title: "t", status: 409, detail: "d" };
    const line = { status: 409, problem, headers: { "Set-Cookie": "a=b" } };
    const url = await startRelay(await answering(`${JSON.stringify(line)}\n`));
    const reply = await post(`${url}${RETENTION}`);
    expect([reply.status, reply.headers.get("Set-Cookie")]).toEqual([409, null]);
  });

  it.each(["101 Switching Protocols", "204 No Content", "302 Found", "502 Bad Gateway"])(
    "takes an answer with the status %s for no answer",
    async (status) => {
      const head = `HTTP/1.1 ${status}\r\nLocation: https://evil.example/\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n`;
      const odd = createTcpServer((socket) => {
        socket.on("error", () => {});
        socket.once("data", () => socket.end(head));
      });
      const url = await startRelay(await listenOn(odd));
      const exported = post(`${url}/admin/v1/accounts/export`, {}, { account: "customer-1", reason: "request 17" });
      for (const reply of [await post(`${url}${RETENTION}`), await exported]) {
        expect(reply.headers.get("Location")).toBeNull();
        expect(await reply.json()).toMatchObject({ status: 503, code: "call-interrupted" });
      }
    },
  );

  it("ends an answer that does not end", async () => {
    const block = "x".repeat(1024 * 1024);
    const endless = createServer((_, response) => {
      response.writeHead(200);
      const write = (): void => {
        while (!response.destroyed && response.write(block));
      };
      response.on("drain", write);
      write();
    });
    const reply = await post(`${await startRelay(await listenOn(endless))}${RETENTION}`);
    expect(await reply.json()).toMatchObject({ status: 503, code: "call-interrupted" });
  });

  it("forwards the credential of its caller and nothing that names the caller, and the worker checks it", async () => {
    const seen: string[] = [];
    const eavesdropper = createTcpServer((socket: Socket) => {
      socket.on("data", (chunk) => seen.push(chunk.toString()));
      socket.on("error", () => {});
      setTimeout(() => socket.destroy(), 50);
    });
    const url = await startRelay(await listenOn(eavesdropper));
    await post(`${url}${RETENTION}`, { "X-Forwarded-For": "10.0.0.1", "X-Person": "ann", Forwarded: "for=ann" });
    const [head = ""] = seen.join("").split("\r\n\r\n");
    const names = head
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(":")[0]?.toLowerCase());
    const sent = ["authorization", "content-type", "accept", "content-length", "host", "connection"];
    expect(names.toSorted()).toEqual(sent.toSorted());
    expect((await post(`${worker.url}${RETENTION}`, { Authorization: "Bearer drs_adm_no" })).status).toBe(401);
    const analyst = await worker.token(["analyst"]);
    expect((await post(`${worker.url}${RETENTION}`, { Authorization: `Bearer ${analyst}` })).status).toBe(403);
    const crossSite = { "Sec-Fetch-Site": "cross-site" };
    expect((await post(`${worker.url}${RETENTION}`, crossSite)).status).toBe(403);
  });
});

describe("the cookie of a session, at the worker and at a process that forwards", () => {
  const origin = "https://console.example";
  const DESTROY = "/admin/v1/keys/none/destroy";
  let urls: Readonly<Record<"worker" | "relay", string>>;

  beforeAll(async () => {
    const worker = await startApi({ calls: new WorkerCalls(scene.system), reach: { origin, prefix: "" } });
    urls = { worker, relay: await startApi({ workerUrl: worker, reach: { origin, prefix: "" } }) };
  });

  async function cookie(minutesAgo: number): Promise<string> {
    const { adminSessions, pool, clock } = scene.system;
    const authenticatedAt = new Date(clock.now() - minutesAgo * 60_000).toISOString();
    const person = { person: "ann", identity: "i", roles: ["operator"], grants: [], authenticatedAt } as const;
    return `__Host-drs-session=${(await adminSessions.start(pool, clock, "console", person)).secret}`;
  }
  const send = (url: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(url, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: "{}" });

  it.each(["worker", "relay"] as const)("is taken from a page of the console only: %s", async (name) => {
    const url = `${urls[name]}${RETENTION}`;
    const Cookie = await cookie(1);
    expect((await send(url, { Cookie, "Sec-Fetch-Site": "same-origin" })).status).toBe(200);
    expect((await send(url, { Cookie, Origin: origin })).status).toBe(200);
    for (const from of [{ "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-site", Origin: origin }, {}]) {
      expect((await send(url, { Cookie, ...from })).status, JSON.stringify(from)).toBe(403);
    }
    expect((await send(url, { Cookie, Origin: "https://evil.example" })).status).toBe(403);
    expect((await send(url, { Origin: origin, Authorization: `Bearer ${token}`, Cookie })).status).toBe(401);
  });

  it.each(["worker", "relay"] as const)("needs a recent sign-in for what destroys: %s", async (name) => {
    const from = { "Sec-Fetch-Site": "same-origin" };
    const late = await send(`${urls[name]}${DESTROY}`, { ...from, Cookie: await cookie(10) });
    expect(await late.json()).toMatchObject({
      status: 403,
      type: expect.stringContaining("step-up-required") as string,
    });
    const recent = await send(`${urls[name]}${DESTROY}`, { ...from, Cookie: await cookie(1) });
    expect(await recent.json()).toMatchObject({ status: 404, code: "not-found" });
  });
});

async function hangUp(): Promise<string> {
  return listenOn(
    createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.destroy());
    }),
  );
}

const endEarly = (): Promise<string> => answering('{"progress":"7 events"}\n');

const answering = (lines: string): Promise<string> =>
  listenOn(
    createServer((_, response) => {
      response.writeHead(200, { "Content-Type": "application/x-ndjson" }).end(lines);
    }),
  );

describe("a call that a worker applies", () => {
  it("continues after its caller has left", async () => {
    const release = await holdMaintenance();
    const stop = new AbortController();
    const left = fetch(`${relay}${ROTATION}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: "{}",
      signal: stop.signal,
    });
    await until(isWaiting);
    stop.abort();
    await expect(left).rejects.toThrow("aborted");
    const count = async (): Promise<number> =>
      Number((await scene.owner.query("select from drs.audit_entry where operation = 'call.end'")).rowCount);
    const before = await count();
    await release();
    await until(async () => (await count()) === before + 1);
  });

  it("ends at its time limit with a problem, and is audited as failed", async () => {
    const { system } = scene;
    const config = { ...system.config, service: { ...system.config.service, callTimeoutMs: 50 } };
    const api = await createAdminApi({
      ports: portsOf(system, system),
      calls: new WorkerCalls({ ...system, config }),
      document: "{}",
      isClearAllowed: true,
      onFalseCredential: () => {},
      onError: () => {},
    });
    const url = await listenOn(createServer(api));
    const release = await holdMaintenance();
    onTestFinished(release);
    const reply = await post(`${url}${ROTATION}`);
    expect(await reply.json()).toMatchObject({ status: 409, code: "call-timed-out" });
    const { rows } = await scene.owner.query(
      "select outcome from drs.audit_entry where operation = 'call.end' order by at desc limit 1",
    );
    expect(rows).toEqual([{ outcome: "failed" }]);
  });

  it("is rejected if the worker applies sixteen", async () => {
    const release = await holdMaintenance();
    const calls = Array.from({ length: 17 }, () => post(`${relay}${ROTATION}`));
    const late = await Promise.any(
      calls.map(async (call) => {
        const reply = await call;
        if (reply.status !== 429) throw new Error(`${reply.status}`);
        return reply;
      }),
    );
    expect(late.headers.get("Retry-After")).toBe("10");
    await release();
    expect((await Promise.all(calls)).filter(({ status }) => status === 409)).toHaveLength(16);
  });

  it("keeps its place while its operation runs, also after its caller has left", async () => {
    const { owner } = scene;
    const exported = {
      account: "customer-1",
      reason: "request 17",
      request_id: "019a0000-0000-7000-8000-00000000000d",
    };
    await owner.query("begin; lock table drs.data_request in access exclusive mode");
    const left = new AbortController();
    const exports = Array.from({ length: 4 }, () =>
      fetch(`${worker.url}/admin/v1/accounts/export`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(exported),
        signal: left.signal,
      }).catch(() => {}),
    );
    await until(async () => Number((await owner.query(`select ${AWAITED_LOCKS}`)).rowCount) >= 4);
    left.abort();
    await Promise.all(exports);
    const release = await holdMaintenance();
    const rotations = Array.from({ length: 13 }, () => post(`${relay}${ROTATION}`));
    const first = await Promise.race(rotations);
    expect(first.status).toBe(429);
    await owner.query("rollback");
    await release();
    expect((await Promise.all(rotations)).filter(({ status }) => status === 409)).toHaveLength(12);
  });

  it("has an Idempotency-Key that is a UUID, or none", async () => {
    const reply = await post(`${relay}${RETENTION}`, { "Idempotency-Key": "1" });
    expect(await reply.json()).toMatchObject({ status: 400, errors: [{ where: "header/Idempotency-Key" }] });
  });

  it("of an erasure that is repeated answers with the first one, and waits for no pass", async () => {
    const path = `${relay}/admin/v1/erasures`;
    const erase = async (key: string, account = "gone"): Promise<unknown> =>
      (await post(path, { "Idempotency-Key": key }, { account, reason: "request 17", unknown: true })).json();
    const key = "019A0000-0000-7000-8000-00000000000A";
    const first = (await erase(key)) as { readonly erasure: object };
    expect(first).toMatchObject({ erasure: { erasure_id: key.toLowerCase() } });
    onTestFinished(await holdMaintenance());
    for (const again of [key, "019a0000-0000-7000-8000-00000000000b"]) {
      expect(await erase(again)).toMatchObject({ is_needed: false, erasure: first.erasure });
    }
  });

  it("has a key that began no erasure of another subject", async () => {
    const erase = (account: string): Promise<Response> =>
      post(
        `${relay}/admin/v1/erasures`,
        { "Idempotency-Key": "019a0000-0000-7000-8000-00000000000c" },
        { account, reason: "request 17", unknown: true },
      );
    expect((await erase("first")).status).toBe(200);
    expect(await (await erase("second")).json()).toMatchObject({ status: 409, code: "state-conflict" });
  });

  it.each(["same", "other"])("has a key that two calls use at the same time, for the %s subject", async (second) => {
    const { owner } = scene;
    const key = { "Idempotency-Key": `019a0000-0000-7000-8000-0000000000${second === "same" ? "1a" : "1b"}` };
    const erase = (account: string): Promise<Response> =>
      post(`${relay}/admin/v1/erasures`, key, { account, reason: "request 17", unknown: true, refuse_later: true });
    await owner.query(`begin; select pg_advisory_xact_lock(${LOCKS.holds})`);
    const calls = [erase(`twice-${second}`), erase(second === "same" ? "twice-same" : "once-other")];
    await until(isWaiting);
    // The other call waits for the same lock, or for the first one.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await owner.query("rollback");
    const statuses = (await Promise.all(calls)).map(({ status }) => status).toSorted();
    expect(statuses).toEqual(second === "same" ? [200, 200] : [200, 409]);
    await expect(scene.system.replay(), "the journal has no entry that can't be applied").resolves.toBeDefined();
  });
});
