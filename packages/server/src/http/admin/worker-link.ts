/**
 * The way from a process of the admin API to a worker: the request of the caller, with the caller's own credential. The
 * worker checks it as if the caller had sent it to the worker.
 */
import { request as requestInClear, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as requestByTls } from "node:https";
import { text } from "node:stream/consumers";
import { type AdminProblem, LINES_TYPE, linesOf, type ProgressLine } from "@device-risk-signals/admin-api";
import { OperatorError } from "../../base/errors/operator-error.ts";
import type { Rejected, Settled } from "./progress.ts";

/** Maximum time to connect, in milliseconds. */
const CONNECT_WITHIN_MS = 5_000;
/** A worker that sends nothing for this long counts as lost. With progress it sends a line each ten seconds. */
export const SILENT_WITHIN_MS = 120_000;
/** Maximum length of an answer that is no stream. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** What the worker needs to authenticate the caller, and to know that no page of another site calls. */
const FORWARDED = ["authorization", "cookie", "origin", "sec-fetch-site", "content-type", "idempotency-key"] as const;

export interface ForwardedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string | undefined;
}

export class WorkerLink {
  readonly #url: URL | undefined;

  /** @param url absent if none is configured; then no call is forwarded. */
  constructor(url: string | undefined) {
    this.#url = url === undefined ? undefined : new URL(url);
  }

  /** Calls a route that answers with progress. @throws dependency-unavailable, call-interrupted */
  async call(request: ForwardedRequest, report: (line: string) => void): Promise<Settled> {
    const response = await this.open(request);
    if ("problem" in response) return response;
    try {
      for await (const line of linesOf(limit(response)) as AsyncIterable<ProgressLine>) {
        // guard: an answer of the worker sets nothing but the status and the body
        if ("answer" in line && line.status === 200) return { status: 200, answer: line.answer };
        if ("problem" in line) return { status: line.status, problem: problemOf(line.status, line.problem) };
        if ("progress" in line && typeof line.progress === "string") report(line.progress);
      }
    } catch (error) {
      throw interrupted(error);
    } finally {
      response.destroy();
    }
    throw interrupted(undefined);
  }

  /**
   * Sends a request for lines. @returns the lines, or the problem with which the worker rejects the request.
   * @throws dependency-unavailable, call-interrupted
   */
  async open(request: ForwardedRequest): Promise<IncomingMessage | Rejected> {
    const response = await this.#send(request);
    const { statusCode: status = 502, headers } = response;
    if (status === 200) return response;
    try {
      const problem = problemOf(status, JSON.parse(await text(limit(response))));
      const retryAfter = headers["retry-after"];
      return { status, problem, ...(retryAfter !== undefined && { headers: { "Retry-After": retryAfter } }) };
    } catch (error) {
      throw interrupted(error);
    } finally {
      response.destroy();
    }
  }

  #send({ method, target, headers, body }: ForwardedRequest): Promise<IncomingMessage> {
    const url = this.#url;
    if (!url) {
      const missing = "This process is no worker, and DRS_WORKER_URL names none: nothing was done.";
      return Promise.reject(new OperatorError("dependency-unavailable", missing));
    }
    const isEncrypted = url.protocol === "https:";
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = (isEncrypted ? requestByTls : requestInClear)(url, {
      method,
      // guard(drop): a caller does not choose the host that gets the credential: a target can be a whole URL
      path: pathOf(target),
      // A connection of its own for each call: a reused one may end while the request is sent, and then it is unknown
      // whether the worker received it.
      agent: false,
      headers: {
        ...Object.fromEntries(
          FORWARDED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
        ),
        accept: LINES_TYPE,
        ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
      },
    });
    let isConnected = false;
    const late = setTimeout(() => sent.destroy(new Error("no connection in time")), CONNECT_WITHIN_MS);
    sent.once("socket", (socket) =>
      socket.once(isEncrypted ? "secureConnect" : "connect", () => {
        isConnected = true;
        clearTimeout(late);
        sent.end(body);
      }),
    );
    sent.setTimeout(SILENT_WITHIN_MS, () => sent.destroy(new Error("no answer in time")));
    sent.once("response", resolve);
    // An answer that switches protocols ends the connection without a response and without an error.
    sent.once("close", () => reject(interrupted(undefined)));
    sent.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(late);
      reject(isConnected ? interrupted(error) : unreachable(url, error));
    });
    return promise;
  }
}

/** Path and query of a request target, which can be a whole URL (RFC 9112, section 3.2.2). */
function pathOf(target: string): string {
  const { pathname, search } = new URL(target, "http://worker.invalid");
  return `${pathname}${search}`;
}

/** Ends an answer that is longer than any answer of a worker. */
async function* limit(response: IncomingMessage): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error("the answer is too long");
    yield chunk;
  }
}

/** @throws TypeError if the value is no problem document with this status */
function problemOf(status: number, value: unknown): AdminProblem {
  const { status: own, type, title, detail } = (value ?? {}) as Partial<AdminProblem>;
  const isProblem = own === status && status >= 400 && status <= 599 && Number.isInteger(status);
  if (isProblem && [type, title, detail].every((one) => typeof one === "string")) return value as AdminProblem;
  throw new TypeError("not a problem document");
}

const unreachable = (url: URL, error: NodeJS.ErrnoException): OperatorError =>
  new OperatorError(
    "dependency-unavailable",
    `No worker can be reached at ${url.origin} (${error.code ?? error.message}): nothing was done. Repeat the call later.`,
    { cause: error },
  );

const interrupted = (cause: unknown): OperatorError =>
  new OperatorError(
    "call-interrupted",
    "The worker ended or stopped answering: check whether the call took effect before retrying.",
    { cause },
  );
