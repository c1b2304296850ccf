/** Converts a `node:http` request to an ingest request, and writes an answer to its response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer, ByteStream, IngestRequest, RequestHeaders } from "../ingest/request.ts";

/** Limits of reading from a client that still sends its body after the answer: milliseconds and bytes. */
const DISCARD_TIMEOUT_MS = 2_000;
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

export interface NodeRequestOptions {
  /** How many proxies in front append to `X-Forwarded-For`. */
  readonly proxyHops: number;
  /** Whether no other code, such as a listener of an embedding host, reads the body. */
  readonly isUnshared?: boolean;
  /** Called before the first byte of the body is read, for `Expect: 100-continue`. */
  readonly invite?: (() => void) | undefined;
}

export function ingestRequest(
  request: IncomingMessage,
  { proxyHops, isUnshared = false, invite }: NodeRequestOptions,
): IngestRequest {
  return {
    method: request.method ?? "",
    headers: headersOf(request),
    body: bodyOf(request, isUnshared, invite),
    peer: sourceAddress(request, proxyHops),
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

function bodyOf(request: IncomingMessage, isUnshared: boolean, invite: (() => void) | undefined): ByteStream {
  return {
    givesChunks: true,
    givesMemory: isUnshared,
    forEach: (take) =>
      new Promise((resolve) => {
        const finish = (end: "end" | "stopped" | "broken"): void => {
          request.off("data", onData).off("end", onEnd).off("close", onBroken).off("error", onBroken);
          resolve(end);
        };
        const onData = (chunk: Buffer): void => {
          if (take(chunk)) return;
          request.pause();
          finish("stopped");
        };
        const onEnd = (): void => finish("end");
        const onBroken = (): void => finish(request.complete ? "end" : "broken");
        if (request.destroyed) return finish("broken");
        request.on("data", onData).on("end", onEnd).on("close", onBroken).on("error", onBroken);
        invite?.();
      }),
  };
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
    response.writeHead(answer.status, headers);
    response.end(request.method === "HEAD" ? undefined : body);
    return;
  }
  // The client has disconnected: no answer can reach it.
  if (request.destroyed) return;
  // The body was not read to its end. The answer is sent at once. The connection is closed when the client has stopped
  // sending or a limit above is reached, because the client could lose the answer if the connection closed at once.
  response.writeHead(answer.status, { ...headers, Connection: "close" });
  response.write(body);
  let discarded = 0;
  const close = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(close, DISCARD_TIMEOUT_MS);
  request.on("data", (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) {
      clearTimeout(timer);
      request.socket.destroy();
    }
  });
  request.on("end", close).on("close", close).on("error", close);
  request.resume();
}
