/** The endpoint for every host that speaks the Fetch standard: `(Request) => Promise<Response>`. */
import { HostMisuse } from "../base/errors/host-misuse.ts";
import type { Ingest } from "../ingest/ingest.ts";
import type { ByteStream, RequestHeaders } from "../ingest/request.ts";
import { DISCARD_TIMEOUT_MS, MAX_DISCARDED_BYTES } from "./node.ts";

export interface WebOptions {
  /** The client's address, as the host knows it. The rate of failed authentications is limited for each address. */
  readonly peerOf?: (request: Request) => string;
}

/** No address is longer than this, but a host may take a longer text from a header. */
const MAX_ADDRESS_LENGTH = 64;

/**
 * Wraps an ingest core. Mount it at `/api/v1/device-signal-events`; it answers every request. If other code of the host
 * has read the body, the answer is 500, and `onError` of the endpoint gets a `TypeError`.
 */
export function webHandler(
  ingest: Ingest,
  { peerOf = () => "unknown" }: WebOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = new FetchBody(request);
    const peer = peerOf(request).slice(0, MAX_ADDRESS_LENGTH);
    const answer = await ingest({ method: request.method, headers: headersOf(request), body, peer });
    void body.discardRest();
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
}

function headersOf({ headers }: Request): RequestHeaders {
  return {
    // The Fetch standard has joined repeated headers with ", " already. No valid idempotency key and no valid credential
    // holds a space after a comma, so a repeated header is still rejected.
    all: (name) => {
      const value = headers.get(name);
      return value === null ? [] : [value];
    },
  };
}

/** Codes of Node for a connection that ended, and for data that can't be decompressed. */
const OF_CLIENT = /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|ERR_TRAILING_JUNK_AFTER_STREAM_END|Z_\w+)$/;

/** The body of a request. One reader takes what the endpoint needs, and discards the rest. */
class FetchBody implements ByteStream {
  readonly #request: Request;
  #reader: ReadableStreamDefaultReader<unknown> | undefined;

  constructor(request: Request) {
    this.#request = request;
  }

  /** Without the length that the client sent, nothing tells whether a middleware has decompressed the body. */
  get isReplaced(): boolean {
    return !this.#request.headers.has("content-length");
  }

  async forEach(take: (chunk: Uint8Array) => boolean): Promise<"end" | "stopped" | "broken"> {
    const { bodyUsed, body } = this.#request;
    if (bodyUsed || body?.locked) {
      throw new HostMisuse("Other code of the host has read the body. Pass the request to the endpoint unread.");
    }
    if (!body) return "end";
    this.#reader = body.getReader();
    for (;;) {
      const read = await this.#reader.read().catch((error: unknown) => {
        // guard: what a stream of the host does would be blamed on the client
        if (!this.#isOfClient(error))
          throw new HostMisuse("The stream of the body failed in the host.", { cause: error });
      });
      if (!read) return "broken";
      if (read.done) return "end";
      if (!(read.value instanceof Uint8Array)) throw new HostMisuse("The body of the request is no stream of bytes.");
      if (!take(read.value)) return "stopped";
    }
  }

  /** Whether the client disconnected, or sent what can't be decompressed. */
  #isOfClient(error: unknown): boolean {
    const { code, name } = (error ?? {}) as NodeJS.ErrnoException;
    return this.#request.signal.aborted || name === "AbortError" || OF_CLIENT.test(code ?? "");
  }

  /**
   * Discards the rest of the body, also while `forEach` waits for a late client, and unlocks the body. If the rest were
   * not read, it would block the connection, and if the connection ended at once, the client could lose the answer.
   */
  async discardRest(): Promise<void> {
    const { body } = this.#request;
    const reader = this.#reader ?? (body?.locked ? undefined : body?.getReader());
    if (!reader) return;
    const cancel = (): Promise<void> => reader.cancel().catch(() => {});
    const timer = setTimeout(() => void cancel(), DISCARD_TIMEOUT_MS);
    let left = MAX_DISCARDED_BYTES;
    for (;;) {
      const read = await reader.read().catch(() => undefined);
      if (!read || read.done) break;
      left -= (read.value as Uint8Array).length;
      if (!(left >= 0)) await cancel();
    }
    clearTimeout(timer);
    reader.releaseLock();
  }
}
