/**
 * The load generator: a separate process with a small HTTP client, so that it uses little CPU time compared with the
 * server. Its argument is `LoadOptions` as JSON. It prints `sending` before its first request, and at the end or after
 * SIGTERM a `LoadResult` as JSON.
 */
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { COSTLY } from "./costly-bodies.ts";
import { type Generator, GENERATORS } from "./generators.ts";

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  readonly actionId: string;
  readonly connections: number;
  /** Duration of the measurement. With a `rate`, the load generator first sends for one second without measuring. */
  readonly seconds: number;
  /**
   * Requests per second, sent on time and independent of the answers. With 0, a connection sends the next request after
   * the answer to the previous one.
   */
  readonly rate: number;
  /** The number of the run. Runs with different numbers send different idempotency keys and events. */
  readonly run: number;
  /** Makes the events; default: `full`. */
  readonly generator?: Generator;
  /** The name of a costly body (`costly-bodies.ts`) that is sent, compressed, instead of full events. */
  readonly costly?: string;
}

export interface LoadResult {
  readonly stored: number;
  readonly failed: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly bodyBytes: number;
}

const TEMPLATES = 1_000;
/**
 * With a `rate`, the latencies of the first second are not measured, because the load generator then compiles its code
 * and opens its connections, and sends requests late.
 */
const WARM_UP_MS = 1_000;
/**
 * With this value no run uses a seed of the events from which the compression dictionary was made (`tools/dictionary`).
 */
const FIRST_SEED = 50_000;

const options = JSON.parse(process.argv[2] ?? "{}") as LoadOptions;

/**
 * Makes the body of a request, split at the place of the session id. Each template has an event with another seed.
 * Requests from one template differ only in idempotency key and session id.
 */
function makeTemplate(index: number): [Buffer, Buffer] {
  const make = GENERATORS[options.generator ?? "full"];
  const event = { ...make(FIRST_SEED + options.run * 100_000 + index, new Date()), session_id: "SESSION" };
  const request = {
    action_id: options.actionId,
    action_type: "payment",
    sdk_version: "1.2.3",
    platform: "android",
    app_version: "7.1.0",
    observations: event,
  };
  const [before = "", after = ""] = JSON.stringify(request).split("SESSION");
  return [Buffer.from(before), Buffer.from(after)];
}

/** Makes one costly body. All requests of a run have this body, and differ only in the idempotency key. */
function makeCostlyTemplate(kind: string): [Buffer, Buffer] {
  const body = COSTLY[kind]?.(options.actionId);
  if (body === undefined) throw new TypeError(`no costly body ${kind}`);
  return [gzipSync(body), Buffer.alloc(0)];
}

const { costly } = options;
const templates =
  costly === undefined
    ? Array.from({ length: TEMPLATES }, (_, index) => makeTemplate(index))
    : [makeCostlyTemplate(costly)];
const encoding = costly === undefined ? "" : "Content-Encoding: gzip\r\n";
const sessionIdOf = (n: number): string =>
  `${options.run.toString(16).padStart(8, "0")}-${n.toString(16).padStart(27, "0")}`;
const latencies: number[] = [];
let sent = 0;
let stored = 0;
let failed = 0;

function requestBytes(): Buffer {
  const n = sent++;
  const [before, after] = templates[n % templates.length] as [Buffer, Buffer];
  const key = sessionIdOf(n);
  const id = costly === undefined ? key : "";
  const head =
    `POST /api/v1/device-signal-events HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${options.token}\r\n` +
    `Idempotency-Key: ${key}\r\n${encoding}Content-Type: application/json\r\nContent-Length: ${before.length + id.length + after.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), before, Buffer.from(id), after]);
}

class Connection {
  readonly #port: number;
  readonly #host: string;
  #socket: Socket | undefined;
  #started = 0;
  #answered: ((status: number) => void) | undefined;
  #text = "";

  constructor(port: number, host: string) {
    this.#port = port;
    this.#host = host;
    this.#open();
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: this.#host, noDelay: true });
    // A server closes a connection if it has not read the body.
    const lost = (): void => {
      if (this.#socket === socket) this.#drop();
    };
    socket.on("data", (chunk) => this.#read(chunk.toString("latin1")));
    socket.on("error", lost).on("close", lost);
    this.#socket = socket;
    return socket;
  }

  #drop(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#text = "";
    this.#answer(0);
  }

  /**
   * @param due the time at which the request should have been sent. The latency is measured from this time, so it
   * includes the wait for a free connection.
   */
  async post(due: number): Promise<void> {
    this.#started = due;
    const status = await new Promise<number>((resolve) => {
      this.#answered = resolve;
      (this.#socket ?? this.#open()).write(requestBytes());
    });
    if (status === 201) stored++;
    else failed++;
    if (due >= measuredFrom) latencies.push(performance.now() - this.#started);
  }

  close(): void {
    this.#socket?.destroy();
  }

  #read(text: string): void {
    this.#text += text;
    const head = this.#text.indexOf("\r\n\r\n");
    if (head === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#text)?.[1]);
    if (this.#text.length < head + 4 + length) return;
    const status = Number(this.#text.slice(9, 12));
    const isClosing = /^connection: close/im.test(this.#text.slice(0, head));
    this.#text = "";
    if (isClosing) {
      this.#socket?.destroy();
      this.#socket = undefined;
    }
    this.#answer(status);
  }

  #answer(status: number): void {
    const resolve = this.#answered;
    this.#answered = undefined;
    resolve?.(status);
  }
}

const { hostname, port } = new URL(options.url);
const connections = Array.from({ length: options.connections }, () => new Connection(Number(port), hostname));
const started = performance.now();
const measuredFrom = started + (options.rate > 0 ? WARM_UP_MS : 0);
let end = measuredFrom + options.seconds * 1000;
process.once("SIGTERM", () => (end = 0));
process.stdout.write("sending\n");

async function closedLoop(connection: Connection): Promise<void> {
  while (performance.now() < end) await connection.post(performance.now());
}

async function openLoop(): Promise<void> {
  const idle = [...connections];
  const waiting: number[] = [];
  let due = started;
  const requestsInProgress = new Set<Promise<void>>();
  const start = (connection: Connection, at: number): void => {
    const work = connection.post(at).then(() => {
      requestsInProgress.delete(work);
      const next = waiting.shift();
      if (next === undefined) idle.push(connection);
      else start(connection, next);
    });
    requestsInProgress.add(work);
  };
  while (performance.now() < end) {
    while (due <= performance.now()) {
      const connection = idle.pop();
      if (connection) start(connection, due);
      else waiting.push(due);
      due += 1000 / options.rate;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (requestsInProgress.size > 0) await Promise.all(requestsInProgress);
}

await (options.rate > 0 ? openLoop() : Promise.all(connections.map(closedLoop)));
const seconds = (performance.now() - started) / 1000;
for (const connection of connections) connection.close();
latencies.sort((a, b) => a - b);
const percentile = (share: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
const [before, after] = templates[0] as [Buffer, Buffer];
const result: LoadResult = {
  stored,
  failed,
  seconds,
  p50Ms: percentile(0.5),
  p99Ms: percentile(0.99),
  longestMs: percentile(1),
  bodyBytes: before.length + after.length + sessionIdOf(0).length,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
