/** The standalone endpoint on `node:http` or `node:https`. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { type ProblemCode, reject } from "@device-risk-signals/contract";
import type { Ingest } from "../ingest/ingest.ts";
import { answerRefusal, Refusal } from "../ingest/request.ts";
import { ingestRequest, writeAnswer } from "./node.ts";
import { OPENAPI_JSON } from "./openapi.ts";
import { answerOpenApi, EVENTS_PATH, notFound, OPENAPI_PATH, pathOf } from "./paths.ts";

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface EndpointOptions {
  readonly ingest: Ingest;
  readonly proxyHops: number;
  /** Milliseconds for a request to arrive in full. */
  readonly requestTimeout: number;
  readonly tls?: TlsFiles;
}

const MOST_HEADER_BYTES = 16_384;

export function createEndpointServer(options: EndpointOptions): Server {
  const settings: ServerOptions = {
    requestTimeout: options.requestTimeout,
    headersTimeout: Math.min(options.requestTimeout, 15_000),
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: MOST_HEADER_BYTES,
    noDelay: true,
  };
  const answer = (invite?: () => void): RequestListener => {
    return (request, response) => void handle(options, request, response, invite);
  };
  const server = options.tls
    ? createTlsServer({ ...settings, ...options.tls }, answer())
    : createServer(settings, answer());
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    answer(() => response.writeContinue())(request, response);
  });
  server.on("clientError", answerClientError);
  return server;
}

async function handle(
  { ingest, proxyHops }: EndpointOptions,
  request: IncomingMessage,
  response: ServerResponse,
  invite: (() => void) | undefined,
): Promise<void> {
  switch (pathOf(request.url ?? "/")) {
    case EVENTS_PATH:
      return writeAnswer(request, response, await ingest(ingestRequest(request, proxyHops, invite)));
    case OPENAPI_PATH:
      return writeAnswer(request, response, answerOpenApi(request.method ?? "", OPENAPI_JSON));
    default:
      return writeAnswer(request, response, notFound());
  }
}

const CLIENT_ERRORS: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "request-timeout",
  HPE_HEADER_OVERFLOW: "headers-too-large",
};

/** What never became a request still gets a problem document. */
function answerClientError(fault: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || fault.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const { status, body } = answerRefusal(new Refusal(reject(CLIENT_ERRORS[fault.code ?? ""] ?? "http-malformed")));
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? "Bad Request"}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

const REASONS: Readonly<Record<number, string>> = { 408: "Request Timeout", 431: "Request Header Fields Too Large" };
