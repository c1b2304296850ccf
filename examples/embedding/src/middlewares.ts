/**
 * Middlewares of hosts that may touch the body of a request before the endpoint reads it: packages that backends use,
 * and what tools for monitoring, own loggers and mistakes do.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import bodyParser from "body-parser";
import compression from "compression";
import express, { type RequestHandler } from "express";
import fileUpload from "express-fileupload";
import { rateLimit } from "express-rate-limit";
import helmet from "helmet";
import morgan from "morgan";
import multer from "multer";
import onFinished from "on-finished";
import { pinoHttp } from "pino-http";
import rawBody from "raw-body";

/** A middleware of Connect, which every host here can run before its framework or in it. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/** `stored`: the exact bytes. `misuse`: 500, and a `TypeError` for the log of the host. `late`: 408. */
export type Outcome = "stored" | "misuse" | "late";

export interface TouchingMiddleware {
  readonly name: string;
  readonly middleware: Middleware;
  readonly outcome: Outcome;
  /** What else can come of it in a host of the Fetch standard, which makes a stream of its own of the request. */
  readonly inFetch?: readonly Outcome[];
}

const touching = (touch: (request: IncomingMessage) => unknown): Middleware => {
  return (request, _response, next) => {
    touch(request);
    next();
  };
};

/** Runs middleware that needs the request and response of Express, in an Express application around the host. */
const inExpress = (handler: RequestHandler): Middleware => {
  const app = express();
  app.use(handler);
  return (request, response, next) => (app as unknown as Middleware)(request, response, next);
};

const listenAndWait: Middleware = (request, _response, next) => {
  request.once("data", () => setTimeout(next, 20));
};

const unshiftFirst: Middleware = (request, _response, next) => {
  request.once("readable", () => {
    const bytes = request.read() as Buffer | null;
    if (bytes) request.unshift(bytes);
    next();
  });
};

const silent = new PassThrough().resume();

export const MIDDLEWARES: readonly TouchingMiddleware[] = [
  { name: "none", middleware: touching(() => {}), outcome: "stored" },
  { name: "morgan", middleware: morgan("combined", { stream: silent }), outcome: "stored" },
  { name: "pino-http", middleware: pinoHttp(silent), outcome: "stored" },
  { name: "helmet", middleware: helmet(), outcome: "stored" },
  { name: "compression", middleware: compression({ threshold: 0 }) as unknown as Middleware, outcome: "stored" },
  { name: "express-rate-limit", middleware: inExpress(rateLimit({ limit: 1_000 })), outcome: "stored" },
  { name: "on-finished", middleware: touching((request) => onFinished(request, () => {})), outcome: "stored" },
  { name: "multer", middleware: inExpress(multer().none()), outcome: "stored" },
  { name: "express-fileupload", middleware: inExpress(fileUpload()), outcome: "stored" },
  { name: "body-parser for forms", middleware: bodyParser.urlencoded({ extended: true }), outcome: "stored" },
  { name: "body-parser for JSON", middleware: bodyParser.json({ limit: "1mb" }), outcome: "misuse" },
  { name: "body-parser for bytes", middleware: bodyParser.raw({ type: "*/*", limit: "1mb" }), outcome: "misuse" },
  {
    name: "raw-body next to the host",
    middleware: touching((request) => rawBody(request)),
    outcome: "stored",
    inFetch: ["misuse"],
  },
  {
    name: "a listener of data",
    middleware: touching((request) => request.on("data", () => {})),
    outcome: "stored",
    inFetch: ["misuse"],
  },
  { name: "listeners wrapped by a monitor", middleware: touching(wrapListeners), outcome: "stored" },
  {
    name: "an early resume",
    middleware: touching((request) => request.resume()),
    outcome: "stored",
    inFetch: ["misuse"],
  },
  { name: "a pause", middleware: touching((request) => request.pause()), outcome: "stored" },
  {
    name: "a copy without a reader",
    middleware: touching((one) => one.pipe(new PassThrough())),
    outcome: "stored",
    inFetch: ["misuse"],
  },
  {
    name: "a late mount",
    middleware: (_request, _response, next) => setTimeout(next, 20),
    outcome: "stored",
  },
  { name: "a listener before a late mount", middleware: listenAndWait, outcome: "misuse" },
  {
    name: "setEncoding",
    middleware: touching((request) => request.setEncoding("utf8")),
    outcome: "misuse",
    inFetch: ["stored"],
  },
  {
    name: "a listener of readable",
    middleware: touching((one) => one.on("readable", () => {})),
    outcome: "misuse",
    inFetch: ["stored", "late"],
  },
  { name: "a look at the first bytes", middleware: unshiftFirst, outcome: "misuse", inFetch: ["stored"] },
];

/** Replaces the function by which the application adds its listeners: monitors see the body in this way. */
function wrapListeners(request: IncomingMessage): void {
  const add = request.on.bind(request);
  request.on = (event: string, listener: (...values: unknown[]) => void) =>
    add(event, (...values: unknown[]) => listener.apply(request, values));
}

/** Puts a middleware in front of a listener of `node:http`. */
export const before = (middleware: Middleware, listener: RequestListener): RequestListener => {
  return (request, response) =>
    middleware(request, response, (error) => {
      if (error === undefined) listener(request, response);
      else response.destroy(error as Error);
    });
};
