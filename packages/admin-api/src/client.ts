import { type AdminProblem, type AdminProblemCode, adminProblemCode } from "./problems.ts";
import type { Order } from "./routes/orders.ts";
import { BASE_PATH, isBytes, isLines, pathParameters, type Route } from "./route.ts";
import { type Answer, type Input, type RouteId, routeOf } from "./routes.ts";

export interface AdminClientOptions {
  /** Address of the admin listener, such as `https://admin.example:8081`. */
  readonly url: string;
  /** An admin token, or the token of a login (`drs login`). */
  readonly token: string;
  /** Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch;
  /** Time limit of a request, in milliseconds. A call that is an order sends requests until the order has ended. */
  readonly timeoutMs?: number;
  /** Called with each state of an order that takes longer than a request, including the final state. */
  readonly onOrder?: (order: Order) => void;
}

export interface AdminClient {
  /**
   * Calls a route.
   *
   * @throws AdminRequestError if the answer is not a success, or the order failed; errors of `fetch`.
   */
  call<Id extends RouteId>(id: Id, input: Input<Id>): Promise<Answer<Id>>;
}

const TIMEOUT_MS = 30_000;
/** How long one request waits for the end of an order. */
const WAIT_MS = 1_000;
const STATUS_ORDER_PLACED = 202;
/** These statuses and network errors don't end a call that waits for an order: the order continues. */
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
    const violations = problem?.errors?.map(({ where, detail }) => `${where}: ${detail}`) ?? [];
    super([problem?.detail ?? `the server answered ${status}`, ...violations].join("\n"));
    this.status = status;
    this.problem = problem;
    this.code = problem && adminProblemCode(problem);
  }
}

/** A client of the admin API. Redirects are errors: a token is sent to the named server only. */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  return {
    async call<Id extends RouteId>(id: Id, input: Input<Id>): Promise<Answer<Id>> {
      const route = routeOf(id);
      const response = await send(options, route, input as Readonly<Record<string, unknown>>);
      const answer = await answerOf(route, response);
      return (response.status === STATUS_ORDER_PLACED ? await follow(options, answer as Order) : answer) as Answer<Id>;
    },
  };
}

/** @throws AdminRequestError */
async function send(
  { url, token, timeoutMs = TIMEOUT_MS, fetch: sendWith = fetch }: AdminClientOptions,
  route: Route,
  input: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const { target, body } = requestOf(route, input);
  const response = await sendWith(new URL(target, url), {
    method: route.method,
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    ...(body !== undefined && { body }),
  });
  if (!response.ok) throw new AdminRequestError(response.status, await problemOf(response));
  return response;
}

/** Waits for the end of an order. @throws AdminRequestError if the order did not succeed. */
async function follow(options: AdminClientOptions, placed: Order): Promise<unknown> {
  options.onOrder?.(placed);
  const input = { order_id: placed.order_id, wait_ms: WAIT_MS };
  for (;;) {
    const order = await readOrder(options, input);
    options.onOrder?.(order);
    const problem = order.problem as AdminProblem | null;
    if (problem) throw new AdminRequestError(problem.status, problem);
    if (order.state === "done") return order.answer;
  }
}

/** Reads an order. Repeats the request if the server or the network is down for a while. */
async function readOrder(options: AdminClientOptions, input: Input<"readOrder">): Promise<Answer<"readOrder">> {
  for (let failures = 1, pauseMs = FIRST_PAUSE_MS; ; failures++, pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return (await (await send(options, routeOf("readOrder"), input)).json()) as Answer<"readOrder">;
    } catch (error) {
      const isFinal = error instanceof AdminRequestError && !RETRIED_STATUSES.has(error.status);
      if (isFinal || failures === MAX_FAILURES) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

async function answerOf({ answer }: Route, response: Response): Promise<unknown> {
  if (isLines(answer)) return linesOf(response.body ?? []);
  return isBytes(answer) ? new Uint8Array(await response.arrayBuffer()) : response.json();
}

/** @throws Error if the last line is incomplete. */
async function* linesOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let incompleteLine = "";
  for await (const chunk of body) {
    const lines = (incompleteLine + decoder.decode(chunk, { stream: true })).split("\n");
    incompleteLine = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
  if (incompleteLine !== "") throw new Error("the answer ends within a line");
}

/** The URL and the body of a request. Each member of the input is a part of the path, the query or the body. */
export function requestOf(
  route: Route,
  input: Readonly<Record<string, unknown>>,
): { readonly target: string; readonly body: string | undefined } {
  const pathNames = pathParameters(route.path);
  const path = pathNames.reduce(
    (text, name) => text.replace(`{${name}}`, encodeURIComponent(String(input[name]))),
    route.path as string,
  );
  const otherMembers = Object.entries(input).filter(
    ([name, value]) => value !== undefined && !pathNames.includes(name),
  );
  const inQuery = new Set(Object.keys(route.query?.properties ?? {}));
  const query = new URLSearchParams(
    otherMembers.filter(([name]) => inQuery.has(name)).map(([name, value]) => [name, String(value)]),
  ).toString();
  const members = Object.fromEntries(otherMembers.filter(([name]) => !inQuery.has(name)));
  return {
    target: `${BASE_PATH}${path}${query === "" ? "" : `?${query}`}`,
    body: route.body ? JSON.stringify(members) : undefined,
  };
}

async function problemOf(response: Response): Promise<AdminProblem | undefined> {
  if (!response.headers.get("Content-Type")?.startsWith("application/problem+json")) return undefined;
  return (await response.json()) as AdminProblem;
}
