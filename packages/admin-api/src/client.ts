import type { CallShape } from "./call-shape.ts";
import { CALLS } from "./generated/calls.ts";
import { type AdminProblem, type AdminProblemCode, adminProblemCode, describeProblem } from "./problems.ts";
import { BASE_PATH, LINES_TYPE, pathParameters, type ProgressLine } from "./route.ts";
import type { Answer, Input, RouteId } from "./routes.ts";

export interface AdminClientOptions {
  /** Address of the admin listener, such as `https://admin.example:8081`; it may have a path, as a proxy adds one. */
  readonly url: string;
  /** An admin token, or the token of a login (`drs login`). Absent in a browser, whose cookie is the credential. */
  readonly token?: string;
  /** Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch;
  /**
   * Time limit of a request, in milliseconds. For a call that a worker applies, it is the limit until the next line of
   * progress, which comes at least each ten seconds.
   */
  readonly timeoutMs?: number;
  /** Called with lines of progress of a call that a worker applies. */
  readonly onProgress?: (line: string) => void;
}

export interface AdminClient {
  /**
   * Calls a route.
   *
   * @throws AdminRequestError if the answer is not a success; errors of `fetch`.
   */
  call<Id extends RouteId>(id: Id, input: Input<Id>): Promise<Answer<Id>>;
}

const TIMEOUT_MS = 30_000;
/** A call that was interrupted by these statuses or by the network is repeated, if it may be. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 502, 503]);
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
/** A call ends after this number of failed requests in a row. The pauses between them take about a minute. */
const MAX_FAILURES = 12;

/** An answer that is not a success. */
export class AdminRequestError extends Error {
  override readonly name = "AdminRequestError";
  readonly status: number;
  /** Absent if the answer is not a problem document of the admin API, such as an answer of a proxy. */
  readonly code: AdminProblemCode | undefined;
  readonly problem: AdminProblem | undefined;

  constructor(status: number, problem: AdminProblem | undefined) {
    // A problem document of a proxy may have no detail.
    super((problem && describeProblem(problem)) || `the server answered ${status}`);
    this.status = status;
    this.problem = problem;
    this.code = problem && adminProblemCode(problem);
  }
}

/** A client of the admin API. Redirects are errors: a token is sent to the named server only. */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  return {
    async call<Id extends RouteId>(id: Id, input: Input<Id>): Promise<Answer<Id>> {
      const route = CALLS[id];
      const members = input as Readonly<Record<string, unknown>>;
      if (route.hasProgress) return (await follow(options, route, members)) as Answer<Id>;
      const signal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
      return (await answerOf(route, await send(options, route, members, { signal }))) as Answer<Id>;
    },
  };
}

interface Sending {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @throws AdminRequestError */
async function send(
  { url, token, fetch: sendWith = fetch }: AdminClientOptions,
  route: CallShape,
  input: Readonly<Record<string, unknown>>,
  { signal, headers }: Sending,
): Promise<Response> {
  const { target, body } = requestOf(route, input);
  const response = await sendWith(new URL(`${url.replace(/\/+$/, "")}${target}`), {
    method: route.method,
    redirect: "error",
    signal,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  if (!response.ok) throw new AdminRequestError(response.status, await problemOf(response));
  return response;
}

/**
 * Calls a route that a worker applies, and reports its progress. If the call was interrupted, it is repeated with the
 * same key where this is safe: the erasure continues, and no second one begins.
 * @throws AdminRequestError
 */
async function follow(
  options: AdminClientOptions,
  route: CallShape,
  input: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const key = crypto.randomUUID();
  const isRepeatable = route.isRepeatable === true || input["dry_run"] === true;
  for (let failures = 1, pauseMs = FIRST_PAUSE_MS; ; failures++, pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await followOnce(options, route, input, key);
    } catch (error) {
      const isFinal = error instanceof AdminRequestError && !RETRIED_STATUSES.has(error.status);
      if (isFinal || !isRepeatable || failures === MAX_FAILURES) throw error;
      options.onProgress?.(`Trying again: ${(error as Error).message}`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

async function followOnce(
  options: AdminClientOptions,
  route: CallShape,
  input: Readonly<Record<string, unknown>>,
  key: string,
): Promise<unknown> {
  const limit = new AbortController();
  const expire = (): void => limit.abort(new DOMException("the server was silent for too long", "TimeoutError"));
  const begin = () => setTimeout(expire, options.timeoutMs ?? TIMEOUT_MS);
  let timer = begin();
  try {
    const headers = { Accept: LINES_TYPE, "Idempotency-Key": key };
    const response = await send(options, route, input, { signal: limit.signal, headers });
    // A server that shows no progress.
    if (response.headers.get("Content-Type")?.startsWith("application/json")) return await response.json();
    for await (const line of linesOf(response.body ?? []) as AsyncIterable<ProgressLine>) {
      clearTimeout(timer);
      timer = begin();
      if ("answer" in line) return line.answer;
      if ("problem" in line) throw new AdminRequestError(line.status, line.problem);
      if (line.progress !== undefined) options.onProgress?.(line.progress);
    }
    throw new Error("the answer ended before its result");
  } finally {
    clearTimeout(timer);
  }
}

async function answerOf({ answer }: CallShape, response: Response): Promise<unknown> {
  if (answer === "lines") return linesOf(response.body ?? []);
  return answer === "bytes" ? new Uint8Array(await response.arrayBuffer()) : response.json();
}

/** Reads lines of JSON. @throws Error if the last line is incomplete. */
export async function* linesOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  // The parts are joined once, so that a long line costs no time that grows with the square of its length.
  let parts: string[] = [];
  for await (const chunk of body) {
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    parts.push(first);
    for (const next of others) {
      yield JSON.parse(parts.join(""));
      parts = [next];
    }
  }
  if (parts.join("") !== "") throw new Error("the answer ends within a line");
}

/** The URL and the body of a request. Each member of the input is a part of the path, the query or the body. */
export function requestOf(
  route: CallShape,
  input: Readonly<Record<string, unknown>>,
): { readonly target: string; readonly body: string | undefined } {
  const pathNames = pathParameters(route.path);
  const path = pathNames.reduce(
    (text, name) => text.replace(`{${name}}`, encodeURIComponent(String(input[name]))),
    route.path,
  );
  const otherMembers = Object.entries(input).filter(
    ([name, value]) => value !== undefined && !pathNames.includes(name),
  );
  const inQuery = new Set(route.query);
  const query = new URLSearchParams(
    otherMembers.filter(([name]) => inQuery.has(name)).map(([name, value]) => [name, String(value)]),
  ).toString();
  const members = Object.fromEntries(otherMembers.filter(([name]) => !inQuery.has(name)));
  return {
    target: `${BASE_PATH}${path}${query === "" ? "" : `?${query}`}`,
    body: route.hasBody ? JSON.stringify(members) : undefined,
  };
}

async function problemOf(response: Response): Promise<AdminProblem | undefined> {
  if (!response.headers.get("Content-Type")?.startsWith("application/problem+json")) return undefined;
  return (await response.json()) as AdminProblem;
}
