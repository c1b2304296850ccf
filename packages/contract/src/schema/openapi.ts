import { type ProblemCode, PROBLEMS } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { type JsonSchema, schemasReferring } from "./json-schema.ts";

const PROBLEM_REF = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };

/** Header parameters and answers are described here once; statuses and their causes come from the error registry. */
export function openApiDocument(version: string): JsonSchema {
  return {
    openapi: "3.1.1",
    info: {
      title: "Device Risk Signals",
      version,
      summary: "Stores each raw device-signal event once, with its exact bytes.",
      description:
        "The host application sends the raw event that its on-device SDK returned. The endpoint stores the exact event, " +
        "once per idempotency key, and returns no verdict. Errors are problem documents of RFC 9457.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "Where this document was read." }],
    tags: [
      { name: "Events", description: "Raw device-signal events." },
      { name: "Description", description: "This interface." },
    ],
    paths: {
      "/api/v1/device-signal-events": { post: createEvent() },
      "/api/v1/openapi.json": { get: readDocument() },
    },
    components: {
      schemas: schemasReferring((name) => `#/components/schemas/${name}`),
      securitySchemes: {
        sessionToken: {
          type: "http",
          scheme: "bearer",
          description: "The application session token. The account is derived from it, never from `client_id`.",
        },
      },
      headers: {
        RateLimit: { description: "What is left of the account's quota.", schema: { type: "string" } },
        RateLimitPolicy: { description: "The account's quota.", schema: { type: "string" } },
        RetryAfter: { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
        Allow: { description: "The methods that the path takes.", schema: { type: "string" } },
        WwwAuthenticate: { description: "Challenge of RFC 6750.", schema: { type: "string" } },
        IdempotencyReplayed: { description: "Present on a replay.", schema: { type: "string", const: "true" } },
      },
    },
  };
}

function createEvent(): JsonSchema {
  return {
    operationId: "createDeviceSignalEvent",
    tags: ["Events"],
    summary: "Store a raw event, once",
    description:
      "A retry with the same `Idempotency-Key` and an equal body (equal by RFC 8785) gets the answer of the first request; " +
      "another body with the same key is a conflict. A rejected request stores nothing; its key stays unused.",
    security: [{ sessionToken: [] }],
    parameters: [
      {
        name: "Idempotency-Key",
        in: "header",
        required: true,
        description: "Names the event among those of the account: visible ASCII, taken as it is.",
        schema: { type: "string", minLength: 1, maxLength: LIMITS.idempotencyKey, pattern: "^[!-~]+$" },
      },
      {
        name: "Content-Encoding",
        in: "header",
        required: false,
        description: `The size limit of ${LIMITS.bodyBytes} bytes holds for the decompressed body. gzip data may have several members (RFC 1952).`,
        schema: { type: "string", enum: ["identity", "gzip"] },
      },
    ],
    requestBody: {
      required: true,
      content: { "application/json": { schema: { $ref: "#/components/schemas/TransportRequest" } } },
    },
    responses: {
      "201": created("The event was stored and is durable."),
      "200": created("A replay: the event was stored by an earlier request.", {
        "Idempotency-Replayed": { $ref: "#/components/headers/IdempotencyReplayed" },
      }),
      ...problemResponses(() => true),
    },
  };
}

function readDocument(): JsonSchema {
  return {
    operationId: "readOpenApiDocument",
    tags: ["Description"],
    summary: "This document",
    security: [],
    responses: {
      "200": {
        description: "The OpenAPI 3.1 document.",
        content: { "application/json": { schema: { type: "object" } } },
      },
      ...problemResponses((status) => [400, 405, 408, 431, 503].includes(status)),
    },
  };
}

const RATE_HEADERS = {
  RateLimit: { $ref: "#/components/headers/RateLimit" },
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
};

function created(description: string, headers: JsonSchema = {}): JsonSchema {
  return {
    description,
    headers: { ...RATE_HEADERS, ...headers },
    content: { "application/json": { schema: { $ref: "#/components/schemas/CreateResponse" } } },
  };
}

const HEADERS_BY_STATUS: Readonly<Record<number, JsonSchema>> = {
  401: { "WWW-Authenticate": { $ref: "#/components/headers/WwwAuthenticate" } },
  405: { Allow: { $ref: "#/components/headers/Allow" } },
  429: { "Retry-After": { $ref: "#/components/headers/RetryAfter" }, ...RATE_HEADERS },
  503: { "Retry-After": { $ref: "#/components/headers/RetryAfter" } },
};

/** One response per status, listing the problems of the registry that have it. */
function problemResponses(covers: (status: number) => boolean): JsonSchema {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
    const { status } = PROBLEMS[code];
    if (covers(status)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].when}`).join("\n\n"),
        ...(HEADERS_BY_STATUS[status] && { headers: HEADERS_BY_STATUS[status] }),
        content: PROBLEM_REF,
      },
    ]),
  );
}
