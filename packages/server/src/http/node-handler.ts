/** The endpoint as a listener of `node:http`: for Express, Nest, Connect, or a server without a framework. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Ingest } from "../ingest/ingest.ts";
import { ingestRequest, invitation, writeAnswer } from "./node.ts";

export interface NodeHandlerOptions {
  /** Number of proxies in front that append to `X-Forwarded-For`. */
  readonly proxyHops?: number;
}

/**
 * Wraps an ingest core. Mount it at `/api/v1/device-signal-events`, before any parser of bodies; it answers every
 * method. If a middleware has read the body or decodes it, the answer is 500, and `onError` of the endpoint gets a
 * `TypeError`.
 */
export function nodeHandler(
  ingest: Ingest,
  { proxyHops = 0 }: NodeHandlerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const invite = invitation(request, response);
    writeAnswer(request, response, await ingest(ingestRequest(request, { proxyHops, invite })));
  };
}
