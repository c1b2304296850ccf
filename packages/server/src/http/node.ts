/** Converts a `node:http` request to an ingest request, and writes an answer to its response. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Answer, IngestRequest, RequestHeaders } from "../ingest/request.ts";
import { bodyOf, type NodeBodyOptions } from "./node-body.ts";

/** Limits of reading from a client that still sends its body after the answer: milliseconds and bytes. */
export const DISCARD_TIMEOUT_MS = 2_000;
export const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

export interface NodeRequestOptions extends NodeBodyOptions {
  /** How many proxies in front append to `X-Forwarded-For`. */
  readonly proxyHops: number;
}

export function ingestRequest(request: IncomingMessage, options: NodeRequestOptions): IngestRequest {
  return {
    method: request.method ?? "",
    headers: headersOf(request),
    body: bodyOf(request, options),
    peer: sourceAddress(request, options.proxyHops),
  };
}

function headersOf(request: IncomingMessage): RequestHeaders {
  const { rawHeaders } = request;
  return {
    all(name) {
      const values: string[] = [];
      for (let index = 0; index < rawHeaders.length; index += 2) {
        const raw = rawHeaders[index] as string;
        if (raw.length === name.length && raw.toLowerCase() === name) values.push(rawHeaders[index + 1] as string);
      }
      return values;
    },
  };
}

/**
 * Returns what invites the body of a request with `Expect: 100-continue`. Node has done so already, unless the server
 * passes such requests to the host by `server.on("checkContinue", host)`.
 */
export function invitation(request: IncomingMessage, response: ServerResponse): (() => void) | undefined {
  if (request.headers.expect === undefined) return undefined;
  const { server } = request.socket as Socket & { readonly server?: Server };
  return server && server.listenerCount("checkContinue") > 0 ? () => response.writeContinue() : undefined;
}

/**
 * The client's address as the outermost trusted proxy saw it. Only the entries of `X-Forwarded-For` that trusted
 * proxies appended count.
 */
function sourceAddress(request: IncomingMessage, proxyHops: number): string {
  const direct = request.socket.remoteAddress ?? "unknown";
  if (proxyHops === 0) return direct;
  const forwarded = request.headers["x-forwarded-for"];
  const entries = (Array.isArray(forwarded) ? forwarded.join(",") : (forwarded ?? ""))
    .split(",")
    .map((entry) => entry.trim());
  const entry = entries.at(-proxyHops);
  return entry === undefined || entry === "" ? direct : entry.slice(0, 64);
}

export function writeAnswer(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  // The body stays a string: then Node sends headers and body in one write.
  const { body } = answer;
  const headers: Record<string, string | number> = { ...answer.headers, "Content-Length": Buffer.byteLength(body) };
  if (request.complete) {
    // A listener of an embedding host that waits for the end of the body gets it, although the endpoint has paused it.
    if (request.isPaused()) request.resume();
    response.writeHead(answer.status, headers);
    response.end(request.method === "HEAD" ? undefined : body);
    return;
  }
  // The client has disconnected: no answer can reach it.
  if (request.destroyed) return;
  // The body was not read to its end. The answer is sent at once. The connection is closed when the client has stopped
  // sending or a limit is reached, because the client could lose the answer if the connection closed at once.
  response.writeHead(answer.status, { ...headers, Connection: "close" });
  response.write(body);
  discardRest(request, (hasTooMuch) => (hasTooMuch ? request.socket.destroy() : response.end()));
}

/**
 * Reads and drops what the client still sends after its answer.
 * @param done called once: when the body has ended, the client has disconnected, or a limit above is reached.
 */
export function discardRest(request: IncomingMessage, done: (hasTooMuch: boolean) => void): void {
  let discarded = 0;
  const stop = (hasTooMuch: boolean): void => {
    clearTimeout(timer);
    request.off("data", count).off("end", end).off("close", end).off("error", end);
    done(hasTooMuch);
  };
  const end = (): void => stop(false);
  const count = (chunk: Buffer | string): void => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) stop(true);
  };
  const timer = setTimeout(end, DISCARD_TIMEOUT_MS);
  request.on("data", count).on("end", end).on("close", end).on("error", end);
  request.resume();
}
