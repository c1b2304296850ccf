/** The endpoint for every host that speaks the Fetch standard: `(Request) => Promise<Response>`. */
import { HostMisuse } from "../base/errors/host-misuse.ts";
import type { Ingest } from "../ingest/ingest.ts";
import type { ByteStream, IngestRequest } from "../ingest/request.ts";

export interface WebOptions {
  /** The client's address, as the host knows it. The rate of failed authentications is limited for each address. */
  readonly peerOf?: (request: Request) => string;
}

/** No address is longer than this, but a host may take a longer text from a header. */
const MAX_ADDRESS_LENGTH = 64;

/** Maximum number of bytes that are read and discarded of a body that was not read to its end. */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

/**
 * Wraps an ingest core. Mount it at `/api/v1/device-signal-events`; it answers every request. If other code of the host
 * has read the body, the answer is 500, and `onError` of the endpoint gets a `TypeError`.
 */
export function webHandler(
  ingest: Ingest,
  { peerOf = () => "unknown" }: WebOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { status, headers, body } = await ingest(
      ingestRequest(request, peerOf(request).slice(0, MAX_ADDRESS_LENGTH)),
    );
    void discardRest(request.body);
    return new Response(body, { status, headers });
  };
}

function ingestRequest(request: Request, peer: string): IngestRequest {
  return {
    method: request.method,
    headers: {
      // The Fetch standard has joined repeated headers with ", " already. No valid idempotency key and no valid
      // credential holds a space after a comma, so a repeated header is still rejected.
      all: (name) => {
        const value = request.headers.get(name);
        return value === null ? [] : [value];
      },
    },
    body: bodyOf(request),
    peer,
  };
}

function bodyOf(request: Request): ByteStream {
  return {
    async forEach(take) {
      if (request.bodyUsed || request.body?.locked) {
        throw new HostMisuse("Other code of the host has read the body. Pass the request to the endpoint unread.");
      }
      if (!request.body) return "end";
      try {
        for await (const chunk of request.body.values({ preventCancel: true })) {
          if (!(chunk instanceof Uint8Array)) throw new HostMisuse("The body of the request is no stream of bytes.");
          if (!take(chunk)) return "stopped";
        }
        return "end";
      } catch (error) {
        if (error instanceof HostMisuse) throw error;
        return "broken";
      }
    },
  };
}

/**
 * Discards the rest of a body. If the rest were not read, it would block the connection, and if the connection ended at
 * once, the client could lose the answer.
 */
async function discardRest(body: Request["body"]): Promise<void> {
  if (body?.locked) return;
  let left = MAX_DISCARDED_BYTES;
  try {
    for await (const chunk of body ?? []) {
      left -= chunk.length;
      if (left < 0) return;
    }
  } catch {
    // The client has disconnected.
  }
}
