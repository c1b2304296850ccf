import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { send, sendRaw } from "../../../../e2e/support/client.ts";
import { type AdminOptions, createAdminServer } from "./admin.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listening(options: Partial<AdminOptions> = {}): Promise<string> {
  const server = createAdminServer({
    hosts: [],
    onError: () => {},
    readiness: async () => ({ ready: true, lines: [] }),
    metrics: async () => ({ type: "text/plain; version=0.0.4", text: "drs_up 1\n" }),
    api: (_request, response) => response.writeHead(401).end(),
    ...options,
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ask = async (path: string, options: Partial<AdminOptions> = {}, method = "GET") =>
  send({ url: await listening(options), path, method });

it("the admin listener answers /livez with 200 even if everything else fails", async () => {
  const readiness = () => Promise.reject(new Error("broken"));
  expect(await ask("/livez", { readiness })).toMatchObject({ status: 200, text: "ok\n" });
});

it("the admin listener answers /readyz with ok, or with a line for each problem", async () => {
  expect(await ask("/readyz")).toMatchObject({ status: 200, text: "ok\n" });
  const readiness = async () => ({ ready: false, lines: ["database: can't be reached", "disk: full"] });
  expect(await ask("/readyz?verbose", { readiness })).toMatchObject({
    status: 503,
    text: "database: can't be reached\ndisk: full\n",
  });
});

it("the admin listener serves metrics under their media type", async () => {
  expect(await ask("/metrics")).toMatchObject({
    status: 200,
    text: "drs_up 1\n",
    headers: { "content-type": "text/plain; version=0.0.4" },
  });
});

it("the admin listener answers a failing probe with 500 and hides its message", async () => {
  const metrics = () => Promise.reject(new Error("a telling message"));
  const answer = await ask("/metrics", { metrics });
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain("telling");
});

it.each(["/", "/livez/", "/api/v1/device-signal-events", "/metricsx"])(
  "the admin listener answers 404 at %s",
  async (path) => {
    expect(await ask(path)).toMatchObject({ status: 404, headers: { "content-type": "application/problem+json" } });
  },
);

it("the admin listener answers HEAD without a body", async () => {
  expect(await ask("/livez", {}, "HEAD")).toMatchObject({ status: 200, text: "" });
});

describe("a foreign host name in a request to the admin listener", () => {
  const HOSTS = { hosts: ["metrics.internal"] };

  it.each([
    "127.0.0.1:8081",
    "10.1.2.3",
    "[::1]:8081",
    "[2001:db8::1]",
    "localhost",
    "LOCALHOST:8081",
    "drs.localhost",
    "metrics.internal:8081",
    "Metrics.Internal.",
  ])("is not any of the own names and addresses: %s", async (host) => {
    const url = await listening(HOSTS);
    expect(await send({ url, path: "/livez", method: "GET", headers: { Host: host } })).toMatchObject({ status: 200 });
  });

  it.each([
    "attacker.example",
    "attacker.example:8081",
    "127.0.0.1.attacker.example",
    "localhost.attacker.example",
    "metrics.internal.attacker.example",
    "xmetrics.internal",
    "[::1].attacker.example",
    "",
  ])("is rejected on every path: %j", async (host) => {
    const url = await listening(HOSTS);
    for (const path of ["/livez", "/readyz", "/metrics", "/other"]) {
      const answer = await send({ url, path, method: "GET", headers: { Host: host } });
      expect(answer.status, path).toBe(421);
      expect(answer.text).not.toContain("attacker");
    }
  });

  it("is recognised in an absolute request target", async () => {
    const url = await listening(HOSTS);
    const target = (host: string): string =>
      `GET http://${host}/livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    expect((await sendRaw(url, target("attacker.example"))).status).toBe(421);
    expect((await sendRaw(url, target("127.0.0.1"))).status).toBe(200);
  });

  it("is rejected if the request has two Host lines or none, but an HTTP/1.0 request may have none", async () => {
    const url = await listening();
    const twice = "GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    expect((await sendRaw(url, twice)).status).toBe(400);
    expect((await sendRaw(url, "GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n")).status).toBe(400);
    expect((await sendRaw(url, "GET /livez HTTP/1.0\r\n\r\n")).status).toBe(200);
  });
});
