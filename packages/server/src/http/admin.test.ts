import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { send } from "../../../../e2e/support/client.ts";
import { type AdminOptions, createAdminServer } from "./admin.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function ask(path: string, options: Partial<AdminOptions> = {}, method = "GET") {
  const server = createAdminServer({
    onFault: () => {},
    readiness: async () => [],
    metrics: async () => ({ type: "text/plain; version=0.0.4", text: "drs_up 1\n" }),
    ...options,
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return send({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, path, method });
}

it("says that it lives, whatever else is wrong", async () => {
  const readiness = () => Promise.reject(new Error("broken"));
  expect(await ask("/livez", { readiness })).toMatchObject({ status: 200, text: "ok\n" });
});

it("says that it is ready, or what is missing, a line each", async () => {
  expect(await ask("/readyz")).toMatchObject({ status: 200, text: "ok\n" });
  const readiness = async () => ["database: can't be reached", "disk: full"];
  expect(await ask("/readyz?verbose", { readiness })).toMatchObject({
    status: 503,
    text: "database: can't be reached\ndisk: full\n",
  });
});

it("hands out metrics under their media type", async () => {
  expect(await ask("/metrics")).toMatchObject({
    status: 200,
    text: "drs_up 1\n",
    headers: { "content-type": "text/plain; version=0.0.4" },
  });
});

it("answers a probe that breaks with 500, and goes on", async () => {
  const metrics = () => Promise.reject(new Error("a telling message"));
  const answer = await ask("/metrics", { metrics });
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain("telling");
});

it.each(["/", "/livez/", "/api/v1/device-signal-events", "/metricsx"])("knows no %s", async (path) => {
  expect(await ask(path)).toMatchObject({ status: 404, headers: { "content-type": "application/problem+json" } });
});

it("answers HEAD without a body", async () => {
  expect(await ask("/livez", {}, "HEAD")).toMatchObject({ status: 200, text: "" });
});
