/**
 * Tests of hosts whose other code reads, pauses, decodes or replaces the body before the endpoint reads it. The core
 * reads the body only after a delay, as after an authentication that takes its time. `examples/embedding` repeats the
 * cases with real middleware in real frameworks.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect, type AddressInfo } from "node:net";
import { PassThrough, Readable, Transform } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { createGunzip, gzipSync } from "node:zlib";
import { fastify as createFastify, type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { send } from "../../../../e2e/support/client.ts";
import { HostMisuse } from "../base/errors/host-misuse.ts";
import { type BodyHeaders, readHeaders } from "../ingest/headers.ts";
import type { Ingest } from "../ingest/ingest.ts";
import { readBody } from "../ingest/read-body.ts";
import { answerRejection, EVENTS_PATH, RejectedRequest, rejectRequest } from "../ingest/request.ts";
import { deviceRiskSignals } from "./fastify.ts";
import { nodeHandler } from "./node-handler.ts";
import { createEndpointServer } from "./server.ts";
import { webHandler } from "./web.ts";

const LIMITS = { maxBodyBytes: 262_144, bodyTimeout: 30_000 };
const BODY = Buffer.from(JSON.stringify({ text: "é".repeat(40_000) }));
const PACKED = gzipSync(BODY);

let read: Buffer | undefined;
let error: unknown;
let closeHost: (() => Promise<unknown>) | undefined;

/** Answers as the core of the endpoint does: 500 for an exception, which `onError` gets. */
const core: Ingest = async ({ headers, body }) => {
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  if (headers.all("authorization").length > 0) return answerRejection(rejectRequest("credentials-invalid"));
  try {
    const header = readHeaders(headers);
    const result = header instanceof RejectedRequest ? header : await readBody(body, header, LIMITS);
    if (result instanceof RejectedRequest) return answerRejection(result);
    read = result;
    return { status: 201, headers: {}, body: "" };
  } catch (cause) {
    error = cause;
    return answerRejection(rejectRequest("storage-failed"));
  }
};

beforeEach(() => {
  read = error = undefined;
});

afterEach(async () => {
  await closeHost?.();
  closeHost = undefined;
});

async function serve(listener: RequestListener, checkContinue?: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  if (checkContinue) server.on("checkContinue", checkContinue);
  await once(server, "listening");
  closeHost = async () => {
    server.closeAllConnections();
    server.close();
  };
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serveFastify(prepare: (host: FastifyInstance) => void): Promise<string> {
  const host = createFastify({ forceCloseConnections: true });
  prepare(host);
  await host.register(deviceRiskSignals, { ingest: core });
  closeHost = () => host.close();
  return host.listen({ port: 0, host: "127.0.0.1" });
}

function addHook(host: FastifyInstance, touch: Touch): void {
  host.addHook("onRequest", ({ raw }, _reply, next) => {
    touch(raw);
    next();
  });
}

async function post(url: string, isPacked: boolean): Promise<number> {
  const encoding = isPacked ? { "Content-Encoding": "gzip" } : {};
  const headers = { "Idempotency-Key": "key", "Content-Type": "application/json", ...encoding };
  return (await send({ url, headers, body: isPacked ? PACKED : BODY })).status;
}

function expectStored(status: number): void {
  expect([status, error]).toEqual([201, undefined]);
  expect(read?.equals(BODY)).toBe(true);
}

function expectMisuse(status: number): void {
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toBeInstanceOf(HostMisuse);
  expect(status).toBe(500);
}

type Touch = (request: IncomingMessage) => void;

const HARMLESS: Readonly<Record<string, Touch>> = {
  "listens to data": (request) => void request.on("data", () => {}),
  "resumes the request": (request) => void request.resume(),
  "pauses the request": (request) => void request.pause(),
  "pauses the request at each chunk": (request) => void request.on("data", () => request.pause()),
  "copies the body to a stream without a reader": (request) => void request.pipe(new PassThrough()),
  "waits for the end": (request) => void request.on("end", () => {}).on("close", () => {}),
};

const HARMFUL: Readonly<Record<string, Touch>> = {
  "sets an encoding": (request) => void request.setEncoding("utf8"),
  "resumes the request during the authentication": (request) => void setImmediate().then(() => request.resume()),
  "listens to readable": (request) => void request.on("readable", () => {}),
  "reads the body": (request) => void request.on("readable", () => request.read()),
};

describe.each([true, false])("a host gets a gzip body (%s), and a middleware that", (isPacked) => {
  it.each(Object.entries(HARMLESS))("%s changes nothing", async (_, touch) => {
    const handle = nodeHandler(core);
    const url = await serve((request, response) => {
      touch(request);
      void handle(request, response);
    });
    expectStored(await post(url, isPacked));
  });

  it.each(Object.entries(HARMFUL))("%s is reported as a TypeError, and the client gets 500", async (_, touch) => {
    const handle = nodeHandler(core);
    const url = await serve((request, response) => {
      touch(request);
      void handle(request, response);
    });
    expectMisuse(await post(url, isPacked));
  });

  it("has read the body before is reported as a TypeError, and the client gets 500", async () => {
    const handle = nodeHandler(core);
    const url = await serve((request, response) => {
      request.resume().once("end", () => void handle(request, response));
    });
    expectMisuse(await post(url, isPacked));
  });

  it.each(Object.entries(HARMLESS))("%s changes nothing in a hook of Fastify", async (_, touch) => {
    const url = await serveFastify((host) => addHook(host, touch));
    expectStored(await post(url, isPacked));
  });

  it.each(Object.entries(HARMFUL))("%s is reported as a TypeError in a hook of Fastify", async (_, touch) => {
    const url = await serveFastify((host) => addHook(host, touch));
    expectMisuse(await post(url, isPacked));
  });

  it("passes the body through a stream of a preParsing hook changes nothing", async () => {
    const url = await serveFastify((host) =>
      host.addHook("preParsing", async (_request, _reply, payload) => payload.pipe(new PassThrough())),
    );
    expectStored(await post(url, isPacked));
  });

  it("decompresses the body in a preParsing hook changes nothing", async () => {
    const url = await serveFastify((host) =>
      host.addHook("preParsing", async ({ headers }, _reply, payload) =>
        headers["content-encoding"] === "gzip" ? payload.pipe(createGunzip()) : payload,
      ),
    );
    expectStored(await post(url, isPacked));
  });

  it.each<readonly [string, () => Transform]>([
    ["of texts", () => new PassThrough({ encoding: "utf8" })],
    ["of objects", () => new PassThrough({ readableObjectMode: true })],
    ["that fails", () => new PassThrough({ flush: (done) => done(new Error("broken")) })],
  ])("passes a stream %s in a preParsing hook is reported as a TypeError", async (_, replace) => {
    const url = await serveFastify((host) =>
      host.addHook("preParsing", async (_request, _reply, payload) => payload.pipe(replace())),
    );
    expectMisuse(await post(url, isPacked));
  });

  it("listens to data in a slow hook of Fastify is reported as a TypeError", async () => {
    const url = await serveFastify((host) =>
      host.addHook("onRequest", async ({ raw }) => {
        raw.on("data", () => {});
        await once(raw, "data");
      }),
    );
    expectMisuse(await post(url, isPacked));
  });
});

it.each(["node:http", "Fastify"])(
  "a listener of the host gets the end of a body that is not read: %s",
  async (host) => {
    const ended = Promise.withResolvers<void>();
    const listen: Touch = (request) => void request.on("data", () => {}).on("end", ended.resolve);
    const handle = nodeHandler(core);
    const url =
      host === "Fastify"
        ? await serveFastify((app) => addHook(app, listen))
        : await serve((request, response) => {
            listen(request);
            void handle(request, response);
          });
    const headers = { "Idempotency-Key": "key", Authorization: "Bearer bad", "Content-Type": "application/json" };
    expect((await send({ url, headers, body: "{}" })).status).toBe(401);
    await ended.promise;
  },
);

describe("a middleware that spoils a part of the body is reported as a TypeError, and the client gets 500:", () => {
  it("it sets an encoding at the first chunk", async () => {
    const handle = nodeHandler(core);
    const url = await serve((request, response) => {
      request.once("data", () => request.setEncoding("utf8"));
      void handle(request, response);
    });
    expectMisuse(await post(url, false));
  });

  it("it drops bytes", async () => {
    const dropFirst = (): Transform =>
      new Transform({ transform: (chunk: Buffer, _encoding, done) => done(null, chunk.subarray(1)) });
    const url = await serveFastify((host) =>
      host.addHook("preParsing", async (_request, _reply, payload) => payload.pipe(dropFirst())),
    );
    expectMisuse(await post(url, false));
  });
});

it("a client that sends no gzip is rejected, although a preParsing hook decompresses", async () => {
  const url = await serveFastify((host) =>
    host.addHook("preParsing", async (_request, _reply, payload) => payload.pipe(createGunzip())),
  );
  const answer = await send({ url, headers: { "Idempotency-Key": "key", "Content-Encoding": "gzip" }, body: "{}" });
  expect(answer.json["type"]).toBe("urn:problem:device-risk-signals:body-corrupt");
});

describe("a host of the Fetch standard", () => {
  const request = (body: RequestInit["body"]): Request =>
    new Request("http://localhost/", {
      method: "POST",
      headers: { "Idempotency-Key": "key", "Content-Type": "application/json" },
      body: body ?? null,
      duplex: "half",
    });

  it.each<readonly [string, (request: Request) => unknown]>([
    ["has read the body", (one) => one.text()],
    ["reads the body", (one) => one.body?.getReader()],
  ])("that %s is reported as a TypeError, and the client gets 500", async (_, touch) => {
    const one = request("{}");
    await touch(one);
    expectMisuse((await webHandler(core)(one)).status);
  });

  it("that passes a stream of texts is reported as a TypeError, and the client gets 500", async () => {
    expectMisuse((await webHandler(core)(request(ReadableStream.from(["{}"]) as ReadableStream))).status);
  });

  it("that decompresses the body, of which the length is not known, changes nothing", async () => {
    const packed = new Blob([gzipSync(BODY)]).stream().pipeThrough(new DecompressionStream("gzip"));
    const one = request(packed);
    one.headers.set("Content-Encoding", "gzip");
    expectStored((await webHandler(core)(one)).status);
  });

  it("whose client says gzip and sends a text is rejected, if it said how long the text is", async () => {
    const one = request(BODY);
    one.headers.set("Content-Encoding", "gzip");
    one.headers.set("Content-Length", String(Buffer.byteLength(BODY)));
    expect((await webHandler(core)(one)).status).toBe(400);
    expect(error).toBeUndefined();
  });

  it("that decompresses a text that is no object is not reported", async () => {
    const packed = gzipSync("[1]");
    const one = request(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
    one.headers.set("Content-Encoding", "gzip");
    one.headers.set("Content-Length", String(packed.length));
    await webHandler(core)(one);
    expect(error).toBeUndefined();
  });

  it.each([
    ["without a reason", undefined],
    ["without a code", new Error("broken")],
    ["of its own use of Node", Object.assign(new TypeError("no bytes"), { code: "ERR_INVALID_ARG_TYPE" })],
  ])("that passes a stream that fails %s is reported as a TypeError, and the client gets 500", async (_, failure) => {
    const transform = (): never => {
      throw failure;
    };
    const failing = new Blob([BODY]).stream().pipeThrough(new TransformStream({ transform }));
    expectMisuse((await webHandler(core)(request(failing))).status);
  });

  it("whose client sends no gzip is rejected, although a middleware decompresses", async () => {
    const packed = new Blob([BODY]).stream().pipeThrough(new DecompressionStream("gzip"));
    const one = request(packed);
    one.headers.set("Content-Encoding", "gzip");
    expect((await webHandler(core)(one)).status).toBe(400);
    expect(error).toBeUndefined();
  });

  it("that reads a clone changes nothing", async () => {
    const one = request(BODY);
    void one.clone().text();
    expectStored((await webHandler(core)(one)).status);
  });

  const impatient: Ingest = async ({ body }) => {
    const result = await readBody(body, { encoding: "identity" } as BodyHeaders, { ...LIMITS, bodyTimeout: 10 });
    return answerRejection(result as RejectedRequest);
  };

  it("whose client sends nothing gets its body back after the answer", async () => {
    const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
    const one = request(new ReadableStream({ cancel }));
    expect((await webHandler(impatient)(one)).status).toBe(408);
    await cancelled;
    await setImmediate();
    expect(one.body?.locked).toBe(false);
  });

  it("whose client sends the rest after the answer is not blocked", async () => {
    const rest = Array.from({ length: 100 }, () => Buffer.alloc(1_000));
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const { promise: taken, resolve: take } = Promise.withResolvers<void>();
    const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
      await answered;
      const chunk = rest.pop();
      if (chunk) return controller.enqueue(chunk);
      controller.close();
      take();
    };
    expect((await webHandler(impatient)(request(new ReadableStream({ pull })))).status).toBe(408);
    answer();
    await taken;
  });

  it("whose client disconnects is no misuse", async () => {
    const broken = Readable.toWeb(
      Readable.from([Buffer.from("{")]).on("end", function end(this: Readable) {}),
    ) as ReadableStream;
    const cut = broken.pipeThrough(
      new TransformStream({
        transform() {
          throw Object.assign(new Error("aborted"), { code: "ECONNRESET" });
        },
      }),
    );
    expect((await webHandler(core)(request(cut))).status).toBe(400);
    expect(error).toBeUndefined();
  });
});

async function firstLine(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  const [data] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return data.toString().split("\r\n", 1)[0] ?? "";
}

describe("Expect: 100-continue in a host that passes such requests on", () => {
  const head = (authorization: string): string =>
    `POST ${EVENTS_PATH} HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nExpect: 100-continue\r\n${authorization}Content-Length: 2\r\n\r\n`;

  it.each(["node:http", "Fastify"])("answers bad credentials without inviting the body: %s", async (host) => {
    const handle = nodeHandler(core);
    const listener: RequestListener = (request, response) => void handle(request, response);
    const url =
      host === "Fastify"
        ? await serveFastify((app) => void app.server.on("checkContinue", (one, reply) => app.routing(one, reply)))
        : await serve(listener, listener);
    expect(await firstLine(url, head("Authorization: Bearer bad\r\n"))).toBe("HTTP/1.1 401 Unauthorized");
    expect(await firstLine(url, head(""))).toBe("HTTP/1.1 100 Continue");
  });
});

it("Expect: 100-continue with a length over the limit is answered finally by the standalone server", async () => {
  const server = createEndpointServer({ ingest: core, proxyHops: 0, requestTimeout: 30_000, onError: () => {} });
  closeHost = async () => void server.close();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const head = (length: number): string =>
    `POST ${EVENTS_PATH} HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
  expect(await firstLine(url, head(LIMITS.maxBodyBytes + 1))).toBe("HTTP/1.1 400 Bad Request");
  expect(await firstLine(url, head(LIMITS.maxBodyBytes))).toBe("HTTP/1.1 100 Continue");
});

it("an upload over HTTP/2 that Fastify answers early ends, and its client continues on the same connection", async () => {
  const host = createFastify({ http2: true, forceCloseConnections: true });
  await host.register(deviceRiskSignals, { ingest: core });
  closeHost = () => host.close();
  const client = connectHttp2(await host.listen({ port: 0, host: "127.0.0.1" }));
  const upload = async (bytes: Buffer, headers: Record<string, string> = {}): Promise<unknown> => {
    const stream = client.request({ ":method": "POST", ":path": EVENTS_PATH, "idempotency-key": "key", ...headers });
    const closed = once(stream, "close");
    stream.end(bytes);
    const [answer] = (await once(stream, "response")) as [Record<string, unknown>];
    stream.resume();
    await closed;
    return answer[":status"];
  };
  for (let round = 0; round < 3; round++) {
    expect(await upload(Buffer.alloc(5_000_000), { authorization: "Bearer bad" }), "not read").toBe(401);
    expect(await upload(Buffer.alloc(5_000_000)), "read to the limit").toBe(400);
  }
  expectStored((await upload(BODY)) as number);
  client.destroy();
});
