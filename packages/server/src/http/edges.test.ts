import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { fastify as createFastify } from "fastify";
import { describe, expect, it } from "vitest";
import { send } from "../../../../e2e/support/client.ts";
import type { Ingest } from "../ingest/ingest.ts";
import { describeEdge, type Edge } from "./edge.contract.ts";
import { deviceRiskSignals } from "./fastify.ts";
import { nodeHandler } from "./node-handler.ts";
import { OPENAPI_PATH } from "./paths.ts";
import { EVENTS_PATH } from "../ingest/request.ts";
import { createEndpointServer } from "./server.ts";
import { webHandler } from "./web.ts";

async function listening(server: Server): Promise<Edge> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const serve = (listener: RequestListener): Promise<Edge> => listening(createServer(listener));

describeEdge(
  "the standalone server",
  (ingest, proxyHops) =>
    listening(createEndpointServer({ ingest, proxyHops, requestTimeout: 30_000, onError: () => {} })),
  { keepsLines: true, knowsPeer: true, isUnshared: true },
);

describeEdge(
  "a listener of node:http",
  (ingest, proxyHops) => {
    const handle = nodeHandler(ingest, { proxyHops });
    return serve((request, response) => void handle(request, response));
  },
  { keepsLines: true, knowsPeer: true, isUnshared: false },
);

async function fastifyWith(ingest: Ingest, proxyHops: number): Promise<Edge> {
  const host = createFastify({ forceCloseConnections: true });
  await host.register(deviceRiskSignals, { ingest, proxyHops });
  const url = await host.listen({ port: 0, host: "127.0.0.1" });
  return { url, close: () => host.close() };
}

describeEdge("the Fastify plugin", fastifyWith, { keepsLines: true, knowsPeer: true, isUnshared: false });

/** Converts a request of `node:http` to a request of the Fetch standard, as hosts of that standard do on Node. */
function webServer(handle: (request: Request) => Promise<Response>): Promise<Edge> {
  return serve((incoming, outgoing) => {
    void (async () => {
      const headers = new Headers();
      for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
        headers.append(incoming.rawHeaders[index] ?? "", incoming.rawHeaders[index + 1] ?? "");
      }
      const { method = "GET" } = incoming;
      const bare = method === "GET" || method === "HEAD";
      const request = new Request(`http://localhost${incoming.url}`, {
        method,
        headers,
        ...(!bare && { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" }),
      });
      const response = await handle(request);
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    })();
  });
}

describeEdge("the Web-standard handler", (ingest) => webServer(webHandler(ingest)), {
  keepsLines: false,
  knowsPeer: false,
  isUnshared: false,
});

describe("a Fastify host with the plugin", () => {
  const rejecting: Ingest = async () => ({
    status: 401,
    headers: { "Content-Type": "application/problem+json" },
    body: "{}",
  });

  it("keeps its own parsers, hooks, limits and errors on its other routes", async () => {
    const host = createFastify({ forceCloseConnections: true, bodyLimit: 100 });
    const hooked: string[] = [];
    host.addContentTypeParser("application/xml", { parseAs: "string" }, (_request, body, done) =>
      done(null, { xml: body }),
    );
    host.addHook("onRequest", async (request) => {
      hooked.push(request.url);
    });
    host.post("/before", async (request) => request.body);
    await host.register(deviceRiskSignals, { ingest: rejecting });
    host.post("/after", async (request) => request.body);
    const url = await host.listen({ port: 0, host: "127.0.0.1" });
    const post = (path: string, type: string, body: string) =>
      send({ url, path, headers: { "Content-Type": type }, body });

    for (const path of ["/before", "/after"]) {
      expect((await post(path, "application/json", '{"a":1}')).json).toEqual({ a: 1 });
      expect((await post(path, "application/xml", "<a/>")).json).toEqual({ xml: "<a/>" });
      expect((await post(path, "application/json", '{"a":')).status).toBe(400);
      expect((await post(path, "text/csv", "a,b")).status).toBe(415);
      expect((await post(path, "application/json", JSON.stringify("x".repeat(200)))).status).toBe(413);
    }
    expect((await post(EVENTS_PATH, "application/json", "x".repeat(200))).status, "the limit is the core's").toBe(401);
    expect(hooked, "the host's hooks also run for the endpoint").toContain(EVENTS_PATH);
    await host.close();
  });

  it("answers with the host's own error handler when the core fails", async () => {
    const host = createFastify({ forceCloseConnections: true });
    host.setErrorHandler(async (error, _request, reply) => reply.code(503).send({ host: String(error) }));
    await host.register(deviceRiskSignals, { ingest: () => Promise.reject(new Error("broken")) });
    const url = await host.listen({ port: 0, host: "127.0.0.1" });
    expect(await send({ url, body: "{}" })).toMatchObject({ status: 503, json: { host: "Error: broken" } });
    await host.close();
  });

  it("answers a malformed media type at the OpenAPI document like any other request", async () => {
    const host = createFastify({ forceCloseConnections: true });
    await host.register(deviceRiskSignals, { ingest: rejecting });
    const url = await host.listen({ port: 0, host: "127.0.0.1" });
    const answer = await send({ url, path: OPENAPI_PATH, headers: { "Content-Type": "json" }, body: "{}" });
    expect(answer).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    await host.close();
  });

  it("serves the endpoint under two prefixes if it is mounted twice", async () => {
    const host = createFastify({ forceCloseConnections: true });
    await host.register(deviceRiskSignals, { ingest: rejecting, prefix: "/a" });
    await host.register(deviceRiskSignals, { ingest: rejecting, prefix: "/b" });
    const url = await host.listen({ port: 0, host: "127.0.0.1" });
    for (const prefix of ["/a", "/b"]) {
      expect((await send({ url, path: prefix + EVENTS_PATH })).status).toBe(401);
      const document = await send({ url, method: "GET", path: prefix + OPENAPI_PATH });
      expect(document.json).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) });
      expect((await send({ url, path: prefix + OPENAPI_PATH })).headers).toMatchObject({ allow: "GET, HEAD" });
    }
    await host.close();
  });
});

describe("the Web-standard handler", () => {
  it("takes the source address from its host", async () => {
    const peers: string[] = [];
    const note: Ingest = async ({ peer }) => {
      peers.push(peer);
      return { status: 200, headers: {}, body: "" };
    };
    const request = () =>
      new Request("http://localhost/", { method: "POST", body: "{}", headers: { "X-Real": "192.0.2.1" } });
    await webHandler(note)(request());
    await webHandler(note, { peerOf: ({ headers }) => headers.get("X-Real") ?? "" })(request());
    await webHandler(note, { peerOf: () => "x".repeat(1_000) })(request());
    expect(peers).toEqual(["unknown", "192.0.2.1", "x".repeat(64)]);
  });

  it("takes a request without a body", async () => {
    const read: Ingest = async ({ body }) => ({ status: 200, headers: {}, body: await body.forEach(() => true) });
    const response = await webHandler(read)(new Request("http://localhost/", { method: "POST" }));
    expect(await response.text()).toBe("end");
  });
});
