/** The endpoint as a Fastify 5 plugin. */
import type { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";
import type { Readable } from "node:stream";
import type { FastifyError, FastifyInstance, FastifyPluginCallback, FastifyReply, FastifyRequest } from "fastify";
import type { Ingest } from "../ingest/ingest.ts";
import { type Answer, EVENTS_PATH } from "../ingest/request.ts";
import { discardRest, ingestRequest, invitation } from "./node.ts";
import { OPENAPI_JSON } from "./openapi.ts";
import { answerOpenApi, OPENAPI_PATH } from "./paths.ts";

export interface DeviceRiskSignalsOptions {
  readonly ingest: Ingest;
  /** Number of proxies in front that append to `X-Forwarded-For`. */
  readonly proxyHops?: number;
}

/**
 * What a `preParsing` hook of the host passes in place of the request. It is kept apart from `request.body`, which a
 * host may log.
 */
const PAYLOAD = Symbol("payload");

interface EventRequest extends FastifyRequest {
  [PAYLOAD]: Readable | undefined;
}

/**
 * Adds `POST /api/v1/device-signal-events` and `GET /api/v1/openapi.json`. The core gets the body as a stream of bytes,
 * which no parser of Fastify has read; hooks of the host run as for every other route. A `preParsing` hook may
 * decompress the body. If a hook has read the body or decodes it, the answer is 500, and `onError` of the endpoint gets
 * a `TypeError`.
 */
export const deviceRiskSignals: FastifyPluginCallback<DeviceRiskSignalsOptions> = (fastify, options, done) => {
  fastify.decorateRequest(PAYLOAD, undefined);
  fastify.addHook("onRequest", (request, _reply, next) => {
    // Later hooks may take their time; meanwhile a listener of the host must not get bytes that the core lacks.
    request.raw.pause();
    next();
  });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser("*", (request, payload, parsed) => {
    (request as EventRequest)[PAYLOAD] = payload;
    // An error before the core reads the body must not be an uncaught one; the core reports it.
    if (payload !== request.raw) payload.on("error", () => {});
    parsed(null);
  });
  route(fastify, EVENTS_PATH, async (request, reply) => {
    const { raw } = request;
    const replacement = (request as EventRequest)[PAYLOAD];
    const invite = invitation(raw, reply.raw);
    const proxyHops = options.proxyHops ?? 0;
    const answer = await options.ingest(ingestRequest(raw, { proxyHops, replacement, invite }));
    if (raw.complete) raw.resume();
    else leaveUnread(raw, reply);
    return answer;
  });
  route(fastify, OPENAPI_PATH, async (request) => answerOpenApi(request.method, OPENAPI_JSON));
  done();
};

/**
 * Ends an upload that was answered early. Unread bytes of an HTTP/2 stream use up the window of its connection, until
 * no other stream of the client gets through (RFC 9113 §5.2); RFC 9113 §8.1 lets a server reset it after the answer.
 */
function leaveUnread(request: IncomingMessage, reply: FastifyReply): void {
  // The types of Fastify name an HTTP/1 request unless the host says otherwise.
  const { stream } = request as IncomingMessage & Partial<Pick<Http2ServerRequest, "stream">>;
  if (stream === undefined) return void reply.header("Connection", "close");
  const reset = (): void => stream.close(constants.NGHTTP2_NO_ERROR);
  discardRest(request, () => (reply.raw.writableFinished ? reset() : reply.raw.once("finish", reset)));
}

type Respond = (request: FastifyRequest, reply: FastifyReply) => Promise<Answer>;

function route(fastify: FastifyInstance, path: string, respond: Respond): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const answer = await respond(request, reply);
    return reply.code(answer.status).headers(answer.headers).send(bytesOf(answer));
  };
  const errorHandler = (cause: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    // Fastify rejects a malformed media type before it looks for a parser. Such a request gets the core's answer.
    if (cause.code !== "FST_ERR_CTP_INVALID_MEDIA_TYPE") throw cause;
    handler(request, reply).catch((failure: unknown) => reply.send(failure));
  };
  fastify.all(path, { errorHandler }, handler);
}

/** The body as bytes, because Fastify adds a charset to the media type of a JSON text. */
const bytesOf = ({ body }: Answer): Buffer => Buffer.from(body);
