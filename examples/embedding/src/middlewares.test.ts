/**
 * Each middleware before the endpoint, in each framework, for small and large bodies, plain and compressed: the endpoint
 * stores the exact bytes, or it answers 500 and tells the host why. It never blames the client.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import compress from "@fastify/compress";
import { createEndpoint, type Endpoint, optionsFromEnvironment } from "@device-risk-signals/server";
import { deviceRiskSignals } from "@device-risk-signals/server/fastify";
import { nodeHandler } from "@device-risk-signals/server/node";
import { webHandler } from "@device-risk-signals/server/web";
import { getRequestListener } from "@hono/node-server";
import { NestFactory } from "@nestjs/core";
import express from "express";
import Fastify, { type FastifyInstance } from "fastify";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { logger } from "hono/logger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorized, PATH, send } from "../../../e2e/support/client.ts";
import { sharedDatabase, type TestDatabase } from "../../../e2e/support/database.ts";
import { openTestSystem } from "../../../e2e/support/parties.ts";
import type { System } from "../../../packages/server/src/runtime/system.ts";
import { findEvent } from "../../../packages/server/src/store/events/read-events.ts";
import { CUSTOMER, host, PAYMENT } from "./host.ts";
import { before, MIDDLEWARES, type Middleware, type Outcome } from "./middlewares.ts";
import { buildNext, NEXT_APP } from "./next.ts";

const LIMIT = 262_144;
const SIZES = [250, 22_000, 86_000, LIMIT];
const VARIANTS = SIZES.flatMap((size) => [false, true].map((isPacked) => ({ size, isPacked })));
type Variant = (typeof VARIANTS)[number];

let database: TestDatabase;
let endpoint: Endpoint;
let system: System;
const errors: unknown[] = [];

beforeAll(async () => {
  database = await sharedDatabase();
  const environment = { ...(await database.environment()), DRS_THROTTLE_RATE: "0", DRS_REQUEST_TIMEOUT: "1s" };
  Object.assign(process.env, environment);
  endpoint = await createEndpoint({
    ...optionsFromEnvironment(environment),
    ...host,
    onError: (error) => void errors.push(error),
  });
  system = await openTestSystem(environment);
});

afterAll(async () => {
  await endpoint.close();
  await system.close();
  await database.close();
});

interface Host {
  readonly listener: RequestListener;
  /** Whether the host is another one than that of this test, which does not see its errors. */
  readonly hasOwnEndpoint?: boolean;
  readonly close?: () => Promise<unknown>;
}

/** The module of a host of Nest that has nothing else. */
class HostModule {
  readonly isHost = true;
}

interface Framework {
  readonly name: string;
  readonly isFetch?: boolean;
  /** Mounts the endpoint behind the middleware. */
  readonly mount: (middleware: Middleware) => Promise<Host>;
}

const FRAMEWORKS: readonly Framework[] = [
  {
    name: "node:http",
    mount: async (middleware) => {
      const handle = nodeHandler(endpoint.ingest);
      return { listener: before(middleware, (request, response) => void handle(request, response)) };
    },
  },
  {
    name: "Express",
    mount: async (middleware) => {
      const app = express();
      app.use(middleware);
      app.all(PATH, nodeHandler(endpoint.ingest));
      return { listener: app };
    },
  },
  {
    name: "Nest",
    mount: async (middleware) => {
      const app = await NestFactory.create({ module: HostModule }, { logger: false });
      app.use(middleware);
      app.getHttpAdapter().all(PATH, nodeHandler(endpoint.ingest));
      await app.init();
      return { listener: app.getHttpAdapter().getInstance() as RequestListener, close: () => app.close() };
    },
  },
  {
    name: "Fastify",
    mount: async (middleware) =>
      fastifyHost((app) => {
        app.addHook("onRequest", (request, reply, next) => middleware(request.raw, reply.raw, next as () => void));
      }),
  },
  {
    name: "Hono",
    isFetch: true,
    mount: async (middleware) => {
      const app = new Hono();
      app.all(PATH, (context) => webHandler(endpoint.ingest)(context.req.raw));
      return { listener: before(middleware, listenerOf(app)) };
    },
  },
  {
    name: "Next",
    isFetch: true,
    mount: async (middleware) => {
      const handle = await nextHandler();
      const listener: RequestListener = (request, response) => handle(request, response);
      return { listener: before(middleware, listener), hasOwnEndpoint: true };
    },
  },
];

let nextApp: Promise<RequestListener> | undefined;
const nextHandler = (): Promise<RequestListener> => (nextApp ??= openNext());

async function openNext(): Promise<RequestListener> {
  if (!existsSync(`${NEXT_APP}/dist/BUILD_ID`)) await buildNext(await database.environment());
  // The types of Next would change those of `process.env` for all files that this test imports.
  const name: string = "next";
  const { default: next } = (await import(name)) as { default: (options: object) => NextServer };
  const app = next({ dev: false, dir: NEXT_APP });
  await app.prepare();
  return app.getRequestHandler();
}

interface NextServer {
  prepare(): Promise<void>;
  getRequestHandler(): RequestListener;
}

async function fastifyHost(prepare: (app: FastifyInstance) => unknown): Promise<Host> {
  const app = Fastify();
  await prepare(app);
  await app.register(deviceRiskSignals, { ingest: endpoint.ingest });
  await app.ready();
  return { listener: (request, response) => app.routing(request, response), close: () => app.close() };
}

/** Hono's listener as one of `node:http`, which ignores its promise. */
const listenerOf = (app: Hono): RequestListener => {
  const listen = getRequestListener(app.fetch);
  return (request, response) => void listen(request, response);
};

const honoHost = async (prepare: (app: Hono) => unknown): Promise<Host> => {
  const app = new Hono();
  prepare(app);
  app.all(PATH, (context) => webHandler(endpoint.ingest)(context.req.raw));
  return { listener: listenerOf(app) };
};

/** Middleware that only one framework has. */
const OF_A_FRAMEWORK: readonly { name: string; open: () => Promise<Host>; outcome: Outcome }[] = [
  {
    name: "@fastify/compress for all routes",
    open: () => fastifyHost((app) => app.register(compress, { global: true })),
    outcome: "stored",
  },
  {
    name: "a preParsing hook of Fastify that passes a copy",
    open: () =>
      fastifyHost((app) => app.addHook("preParsing", async (_one, _reply, body) => body.pipe(new PassThrough()))),
    outcome: "stored",
  },
  {
    name: "a preParsing hook of Fastify that passes texts",
    open: () =>
      fastifyHost((app) =>
        app.addHook("preParsing", async (_one, _reply, body) => body.pipe(new PassThrough({ encoding: "utf8" }))),
      ),
    outcome: "misuse",
  },
  {
    name: "the logger and the body limit of Hono",
    open: () =>
      honoHost((app) =>
        app.use(
          logger(() => {}),
          bodyLimit({ maxSize: 2 * LIMIT }),
        ),
      ),
    outcome: "stored",
  },
  {
    name: "a Hono middleware that reads the body",
    open: () =>
      honoHost((app) =>
        app.use(async (context, next) => {
          await context.req.text();
          await next();
        }),
      ),
    outcome: "misuse",
  },
];

/** Sends each body once, and expects one of the outcomes for each of them. */
async function expectOutcome({ listener, hasOwnEndpoint, close }: Host, allowed: readonly Outcome[]): Promise<void> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  errors.length = 0;
  const results = await Promise.all(VARIANTS.map((variant) => post(url, variant)));
  server.close();
  server.closeAllConnections();
  await close?.();
  expect(results.filter(({ outcome }) => !(allowed as readonly string[]).includes(outcome))).toEqual([]);
  expect(errors.filter((error) => !(error instanceof TypeError))).toEqual([]);
  const misused = results.filter(({ outcome }) => outcome === "misuse").length;
  if (!hasOwnEndpoint) expect(errors, "each 500 tells the host why").toHaveLength(misused);
}

async function post(url: string, variant: Variant): Promise<Variant & { outcome: string }> {
  const { event, body } = requestOfSize(variant.size);
  const encoding = variant.isPacked ? { "Content-Encoding": "gzip" } : {};
  const headers = { ...authorized({ ...CUSTOMER, ...PAYMENT }), ...encoding };
  const { status, text, json } = await send({ url, headers, body: variant.isPacked ? gzipSync(body) : body });
  const outcome = async (): Promise<string> => {
    if (status === 500) return "misuse";
    if (status === 408) return "late";
    if (status !== 201) return `${status} ${text}`;
    return (await readEvent(json["event_id"] as string)) === event ? "stored" : "other bytes";
  };
  return { ...variant, outcome: await outcome() };
}

async function readEvent(eventId: string): Promise<string> {
  const event = await findEvent(system.pool, eventId);
  if (!event) throw new Error("the event is not there");
  return (await system.sealer.open(event, event.sealedUnder, event.payload)).toString();
}

/** A request of exactly this size in bytes. Its digits do not compress well, so that gzip leaves several chunks. */
function requestOfSize(size: number): { event: string; body: string } {
  const { actionId, actionType } = PAYMENT;
  const eventWith = (text: string): string =>
    `{"session_id":"s","event_type":"device_intel_collection", "schema_version":1.0,"collected_at":"${new Date().toISOString()}","probes":{${text}}}`;
  const bodyWith = (event: string): string =>
    `{"action_id":"${actionId}","action_type":"${actionType}","sdk_version":"1","platform":"ios","observations":${event}}`;
  const probe = (text: string): string => `"x":{"status":"error","error":"${text}"}`;
  const room = size - bodyWith(eventWith(probe(""))).length;
  const text = room > 0 ? randomBytes(room).toString("hex").slice(0, room) : "";
  const event = eventWith(room > 0 ? probe(text) : "");
  return { event, body: bodyWith(event) };
}

describe.each(FRAMEWORKS)("in $name, the endpoint behind", ({ isFetch, mount }) => {
  test.each(MIDDLEWARES)(
    "$name stores the exact bytes, or tells the host",
    async ({ middleware, outcome, inFetch = [] }) => {
      await expectOutcome(await mount(middleware), isFetch ? [outcome, ...inFetch] : [outcome]);
    },
  );
});

test.each(OF_A_FRAMEWORK)(
  "$name: the endpoint stores the exact bytes, or tells the host",
  async ({ open, outcome }) => {
    await expectOutcome(await open(), [outcome]);
  },
);
