/** The endpoint as a Fastify 5 plugin. */
import type { FastifyError, FastifyInstance, FastifyPluginCallback, FastifyReply, FastifyRequest } from "fastify";
import type { Ingest } from "../ingest/ingest.ts";
import type { Answer } from "../ingest/request.ts";
import { ingestRequest } from "./node.ts";
import { OPENAPI_JSON } from "./openapi.ts";
import { answerOpenApi, EVENTS_PATH, OPENAPI_PATH } from "./paths.ts";

export interface DeviceRiskSignalsOptions {
  readonly ingest: Ingest;
  /** Number of proxies in front that append to `X-Forwarded-For`. */
  readonly proxyHops?: number;
}

/**
 * Adds `POST /api/v1/device-signal-events` and `GET /api/v1/openapi.json`. The core gets the body as a stream of bytes,
 * which no parser of Fastify has read; hooks of the host run as for every other route.
 */
export const deviceRiskSignals: FastifyPluginCallback<DeviceRiskSignalsOptions> = (fastify, options, done) => {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser("*", (_request, _payload, parsed) => parsed(null));
  route(fastify, EVENTS_PATH, async (request, reply) => {
    const answer = await options.ingest(ingestRequest(request.raw, { proxyHops: options.proxyHops ?? 0 }));
    if (!request.raw.complete) reply.header("Connection", "close");
    return answer;
  });
  route(fastify, OPENAPI_PATH, async (request) => answerOpenApi(request.method, OPENAPI_JSON));
  done();
};

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
