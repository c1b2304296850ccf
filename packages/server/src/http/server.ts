/** The standalone endpoint on `node:http` or `node:https`. */
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { http, https } from "../base/node-http.ts";
import type { OnError } from "../base/ports.ts";
import { type ProblemCode, reject } from "@device-risk-signals/contract";
import type { Ingest } from "../ingest/ingest.ts";
import { answerRejection, EVENTS_PATH, RejectedRequest } from "../ingest/request.ts";
import { hasOneHost } from "./host.ts";
import { ingestRequest, writeAnswer } from "./node.ts";
import { OPENAPI_JSON } from "./openapi.ts";
import { answerOpenApi, notFound, OPENAPI_PATH, pathOf } from "./paths.ts";

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface EndpointServerOptions {
  readonly ingest: Ingest;
  readonly proxyHops: number;
  /** Time limit in milliseconds for a request to arrive in full. */
  readonly requestTimeout: number;
  readonly tls?: TlsFiles;
  /** Called with unexpected errors. */
  readonly onError: OnError;
}

const MAX_HEADER_BYTES = 16_384;
/**
 * Number of bytes of a body that are buffered before the body is read. The limit is low because each byte costs a
 * hundred bytes of memory if the client sends chunks of one byte.
 */
const MAX_WAITING_BYTES = 16_384;
const IDLE_MS = 70_000;

export function createEndpointServer(options: EndpointServerOptions): Server {
  const settings: ServerOptions = {
    // guard(drop): slow requests end
    requestTimeout: options.requestTimeout,
    headersTimeout: Math.min(options.requestTimeout, 15_000),
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: MAX_HEADER_BYTES,
    highWaterMark: MAX_WAITING_BYTES,
    // `handle` checks the `Host` of a request, and answers with a problem document.
    requireHostHeader: false,
    noDelay: true,
  };
  const answer = (invite?: () => void): RequestListener => {
    return (request, response) => {
      (request.socket as Connection)[LATEST] = response;
      handle(options, request, response, invite).catch((error: unknown) => {
        options.onError(error, "answer request");
        response.destroy();
      });
    };
  };
  const server = options.tls
    ? https.createServer({ ...settings, ...options.tls }, answer())
    : http.createServer(settings, answer());
  // Closes idle connections, among them those whose client does not read its answer.
  server.setTimeout(IDLE_MS);
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    answer(() => response.writeContinue())(request, response);
  });
  // An unknown expectation is no reason to reject a request (RFC 9110 §10.1.1 leaves the choice to the server).
  server.on("checkExpectation", answer());
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const latest = openResponse(socket);
    // guard(drop): bytes that are no HTTP get a problem document
    if (!latest || (!latest.req.complete && !latest.headersSent)) return answerClientError(error, socket);
    // The bytes with the error follow a request that is valid or answered. The client would read a second answer as the
    // answer to that request.
    latest.once("close", () => socket.destroySoon());
    return setTimeout(() => socket.destroy(), options.requestTimeout).unref();
  });
  server.on("connect", (_request, socket) => writeProblem(socket as Socket, "method-not-allowed", "Allow: POST"));
  server.on("error", (error) => options.onError(error, "accept connection"));
  return server;
}

async function handle(
  { ingest, proxyHops }: EndpointServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  invite: (() => void) | undefined,
): Promise<void> {
  if (!hasOneHost(request)) {
    return writeAnswer(request, response, answerRejection(new RejectedRequest(reject("http-malformed"))));
  }
  switch (pathOf(request.url ?? "/")) {
    case EVENTS_PATH:
      return writeAnswer(
        request,
        response,
        await ingest(ingestRequest(request, { proxyHops, isUnshared: true, invite })),
      );
    case OPENAPI_PATH:
      return writeAnswer(request, response, answerOpenApi(request.method ?? "", OPENAPI_JSON));
    default:
      // guard(throw): unknown paths get a problem document
      return writeAnswer(request, response, notFound());
  }
}

const CLIENT_ERRORS: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "request-timeout",
  HPE_HEADER_OVERFLOW: "headers-too-large",
};

/** Bytes that are no valid request still get a problem document. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  writeProblem(socket, CLIENT_ERRORS[error.code ?? ""] ?? "http-malformed");
}

/** Writes a problem document to a socket, if there is no response object to write to. */
function writeProblem(socket: Socket, code: ProblemCode, ...headers: readonly string[]): void {
  const { status, body } = answerRejection(new RejectedRequest(reject(code)));
  const head = [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
    ...headers,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // A client that neither reads nor disconnects must not keep its connection, or the memory of its request.
  setTimeout(() => socket.destroy(), READ_PROBLEM_TIMEOUT_MS).unref();
}

/** Time limit for a client to read the problem document. */
const READ_PROBLEM_TIMEOUT_MS = 1_000;

const LATEST = Symbol("the latest response on this connection");

/**
 * A connection of this server. The latest response is stored as a property, not in a `WeakMap` or `Set`: with these, V8
 * keeps all requests of a connection until it collects the old generation (bench/tries.md). An idle connection
 * keeps its last request and response.
 */
interface Connection extends Socket {
  [LATEST]?: ServerResponse;
}

/** Answers are sent in the order of the requests, so the latest response of a connection ends last. */
function openResponse(connection: Connection): ServerResponse | undefined {
  const latest = connection[LATEST];
  return latest?.closed === false ? latest : undefined;
}
