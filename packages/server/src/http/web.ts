/** The endpoint for every host that speaks the Fetch standard: `(Request) => Promise<Response>`. */
import type { Ingest } from "../ingest/ingest.ts";
import type { ByteStream, IngestRequest } from "../ingest/request.ts";

export interface WebOptions {
  /** The client's address, as the host knows it; failed authentications are throttled by it. */
  readonly peerOf?: (request: Request) => string;
}

/**
 * Wraps an ingest core. Mount it at `/api/v1/device-signal-events`; it answers whatever it is given.
 * The `Request` must still have its body unread.
 */
export function webHandler(
  ingest: Ingest,
  { peerOf = () => "unknown" }: WebOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { status, headers, body } = await ingest(ingestRequest(request, peerOf(request)));
    return new Response(body, { status, headers });
  };
}

function ingestRequest(request: Request, peer: string): IngestRequest {
  return {
    method: request.method,
    headers: {
      // The Fetch standard has joined repeated headers with ", " already; no valid key or credential holds a space
      // after a comma, so a repeated header is still refused.
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
      if (!request.body) return "end";
      try {
        for await (const chunk of request.body) if (!take(chunk)) return "stopped";
        return "end";
      } catch {
        return "broken";
      }
    },
  };
}
