/**
 * The admin API as a request listener. It authenticates, authorises and validates the call of each route, and audits
 * reads and denials. An operation that makes a change writes its own audit entry.
 */
import type { IncomingMessage, RequestListener } from "node:http";
import { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import {
  type AdminProblem,
  type AdminViolation,
  BASE_PATH,
  hasProgress,
  isBytes,
  isLines,
  LINES_TYPE,
  type Permission,
  type Route,
  ROUTE_IDS,
  type RouteId,
  rolesWith,
  routeOf,
  scopeOf,
} from "@device-risk-signals/admin-api";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { Compile } from "typebox/compile";
import { Format } from "typebox/format";
import { Value } from "typebox/value";
import type { TSchema } from "typebox";
import { writeAudit } from "../../audit/audit.ts";
import type { FalseCredential } from "../../access/identity/false-credentials.ts";
import type { AdminSessions } from "../../access/identity/admin-sessions.ts";
import { agentOf, type Caller } from "../../access/identity/caller.ts";
import { parseText } from "../../ingest/parse-text.ts";
import { RejectedRequest } from "../../ingest/request.ts";
import { sourceOf } from "../../base/identifiers/source-address.ts";
import { accountThrottle, failureThrottle } from "../../ingest/throttle.ts";
import type { OnError } from "../../base/ports.ts";
import { isUuid } from "../../base/identifiers/uuidv7.ts";
import type { RoleMapping } from "../../access/identity/role-mapping.ts";
import { authenticate } from "./authenticate.ts";
import type { OperationCall, OperationResult } from "../../operations/operation.ts";
import { callOperation, loadOperations } from "../../operations/operations.ts";
import { type AdminPorts } from "../../operations/ports.ts";
import { AdminError, adminErrorOf } from "../../operations/problem.ts";
import { requireRecentSignIn } from "../../operations/recent-sign-in.ts";
import type { WorkerCalls } from "../../operations/worker-calls.ts";
import { type Rejected, type Settled, streamProgress, type Work } from "./progress.ts";
import { noCookie, originOf, prefixOf, type Reach, sessionCookie } from "./cookies.ts";
import { addLinkSignIn } from "./link-sign-in.ts";
import { pageOfProblem } from "./sign-in-pages.ts";
import { addSignIn, SIGN_IN_PAGES, SIGN_IN_PATH, type SignInPorts } from "./sign-in.ts";
import { type ForwardedRequest, SILENT_WITHIN_MS, WorkerLink } from "./worker-link.ts";

const MAX_BODY_BYTES = 65_536;
/** Limits for the requests of one caller: the sustained rate per second, and the largest burst. */
const REQUESTS_PER_SECOND = 50;
const MAX_REQUEST_BURST = 100;
/** Limits for failed authentications of one source address: the sustained rate per second, and the largest burst. */
const FAILURE_RATE = 5;
const FAILURE_BURST = 100;

const SECURITY_HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

export interface AdminApiOptions {
  readonly ports: AdminPorts;
  /** The routes that this process serves. Default: all. */
  readonly routes?: readonly RouteId[];
  /** Apply calls that need the login of a worker; absent if this process is no worker, and forwards them. */
  readonly calls?: WorkerCalls;
  /** The worker to which calls are forwarded. */
  readonly workerUrl?: string | undefined;
  /** The OpenAPI document, as JSON. */
  readonly document: string;
  /** Whether requests may come without TLS, as they may on loopback. */
  readonly isClearAllowed: boolean;
  /** How people sign in; absent if they can't, or not at this process. */
  readonly signIn?: SignInPorts;
  /** How browsers reach the pages; absent if no person can sign in. */
  readonly reach?: Reach | undefined;
  /** Absent if the configuration names none. */
  readonly roleFile?: { readonly current: RoleMapping } | undefined;
  /** Called for each request whose credentials were missing or false. @param peer the source address. */
  readonly onFalseCredential: (kind: FalseCredential, peer: string) => void;
  /** Called with unexpected errors. */
  readonly onError: OnError;
}

/** What the hooks have found out about a request. */
interface Admitted {
  readonly caller: Caller;
  readonly call: Omit<OperationCall<RouteId>, "input">;
}

const admitted = new WeakMap<FastifyRequest, Admitted>();

/** @returns a listener for every path below `/admin/v1`. */
export async function createAdminApi(options: AdminApiOptions): Promise<RequestListener> {
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    // guard(drop): a path that the router refuses is answered with a problem, which does not repeat the path
    frameworkErrors: (_error, _request, reply) => void answerRefusedPath(reply),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (_request: unknown, body: Buffer) => {
    const value = parseText(body);
    // guard: a member that occurs twice is refused, as in ingestion: readers would disagree about its value
    if (value instanceof RejectedRequest) throw new AdminError("request-invalid", { errors: placesOf(value) });
    return value;
  });
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => validator(schema, httpPart ?? "body"));
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof AdminError && error.credential)
      options.onFalseCredential(error.credential, peerOf(request.raw));
    return answerError(error, request, reply, options);
  });
  app.setNotFoundHandler(() => {
    throw new AdminError("not-found");
  });
  app.addHook("onRequest", async (request) => requireSafeChannel(request, options));
  app.addHook("onSend", async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    if (isEncrypted(request.raw)) reply.header("Strict-Transport-Security", "max-age=31536000");
  });
  app.get(`${BASE_PATH}/openapi.json`, async (_, reply) => reply.type("application/json").send(options.document));
  app.get(`${BASE_PATH}/sign-in-ways`, async () => ({ ways: waysOf(options) }));
  const { adminSessions } = await options.ports.keys();
  if (options.signIn) addSignIn(app, options.ports, adminSessions, options.signIn);
  if (options.reach === "loopback") addLinkSignIn(app, options.ports, adminSessions);
  const admit = admission(options, adminSessions);
  const { routes = ROUTE_IDS, workerUrl } = options;
  const link = new WorkerLink(workerUrl);
  // guard(drop): an upgrade replaces the files of a server that still runs, and a call must not mix two releases
  await loadOperations(routes);
  for (const id of routes) addRoute(app, id, admit, link, options);
  refuseOtherMethods(app, routes);
  await app.ready();
  return (request, response) => app.routing(request, response);
}

/** How people sign in here. Anybody may ask. */
const waysOf = ({ signIn, reach }: AdminApiOptions): readonly string[] => [
  ...(signIn ? ["identity-provider"] : []),
  ...(reach === "loopback" ? ["link"] : []),
];

function addRoute(
  app: FastifyInstance,
  id: RouteId,
  admit: (request: FastifyRequest, permission: Permission, id: RouteId) => Promise<void>,
  link: WorkerLink,
  { calls, reach, onError }: AdminApiOptions,
): void {
  const route = routeOf(id);
  app.route({
    method: route.method,
    url: urlOf(route),
    bodyLimit: route.maxBodyBytes ?? MAX_BODY_BYTES,
    schema: {
      params: route.params ?? NO_PROPERTIES,
      querystring: route.query ?? NO_PROPERTIES,
      ...(route.body && { body: route.body }),
    },
    onRequest: (request) => admit(request, route.permission, id),
    handler: async (request, reply) => {
      const { call } = admitted.get(request) as Admitted;
      const input = { ...(request.params as object), ...(request.query as object), ...(request.body as object) };
      if (id === "signOut" && reach) reply.header("Set-Cookie", noCookie(sessionCookie(reach, request.raw)));
      if (route.appliedBy !== "worker") return answer(reply, route, await perform(id, { ...call, input }), onError);
      const leave = calls?.enter();
      // guard(drop): who forwards a call writes from which address it came, which the worker does not see
      if (!calls) await auditForwarding(call, id);
      if (!hasProgress(route)) {
        if (!calls) return relay(reply, await link.open(forwarded(request)));
        const isClosed = Promise.withResolvers<void>();
        if (reply.raw.destroyed) isClosed.resolve();
        reply.raw.once("close", isClosed.resolve).setTimeout(SILENT_WITHIN_MS, () => reply.raw.destroy());
        const performed = perform(id, { ...call, input }, calls);
        void Promise.allSettled([performed, isClosed.promise]).then(leave);
        return answer(reply, route, await performed, onError);
      }
      const work: Work = (report) =>
        settle(async () => {
          if (!calls) return link.call(forwarded(request), report);
          const done = await perform(id, { ...call, input }, calls, report).finally(leave);
          return { status: 200, answer: done.answer };
        }, onError);
      if (request.headers.accept?.includes(LINES_TYPE)) return reply.type(LINES_TYPE).send(streamProgress(work));
      const settled = await work(() => {});
      if ("problem" in settled) return problem(reply, settled.problem, settled.headers ?? {});
      return reply.type("application/json").send(JSON.stringify(settled.answer));
    },
  });
}

/**
 * Performs a call and writes its audit entry. @param calls apply the call with the login of the worker; absent if the
 * operation does not need it.
 */
async function perform(
  id: RouteId,
  call: OperationCall<RouteId>,
  calls?: WorkerCalls,
  report: AdminPorts["report"] = () => {},
): Promise<OperationResult<RouteId>> {
  // The schemas of the route have checked the input.
  const performed = calls ? calls.apply(id, call, report) : callOperation(id, call);
  const { audit, ...result } = await performed.catch(async (error: unknown) => {
    // guard(drop): a rejection by an operation is audited, like one by the permission of the route
    await auditRejection(id, call, error);
    throw error;
  });
  const { pool, keys } = call.ports;
  // guard(drop): a read is audited before it is answered
  if (audit)
    await writeAudit(pool, (await keys()).audit, { ...agentOf(call.caller), ...entryOf(routeOf(id)), ...audit });
  return result;
}

function answer(
  reply: FastifyReply,
  route: Route,
  { answer: value, headers = {} }: OperationResult<RouteId>,
  onError: OnError,
): FastifyReply {
  reply.headers(headers);
  if (isBytes(route.answer)) {
    return reply
      .type("application/octet-stream")
      .header("Content-Disposition", "attachment")
      .send(Buffer.from(value as Uint8Array));
  }
  if (isLines(route.answer)) {
    const lines = encodeLines(value as AsyncIterable<unknown>, onError);
    return reply.type(LINES_TYPE).send(Readable.from(lines, { objectMode: false }));
  }
  return reply.type("application/json").send(JSON.stringify(value));
}

/** The result of work, in which an error is a problem. */
async function settle(work: () => Promise<Settled>, onError: OnError): Promise<Settled> {
  try {
    return await work();
  } catch (error) {
    const { shown, unexpected } = adminErrorOf(error);
    if (unexpected !== undefined) onError(unexpected, "admin request");
    return { status: shown.problem.status, problem: shown.problem, headers: shown.headers };
  }
}

async function auditForwarding({ ports, caller }: Admitted["call"], id: RouteId): Promise<void> {
  const entry = { operation: "call.forward", outcome: "begun", detail: { of: routeOf(id).operation } };
  await writeAudit(ports.pool, (await ports.keys()).audit, { ...agentOf(caller), ...entry });
}

const forwarded = ({ method, raw, headers, body }: FastifyRequest): ForwardedRequest => ({
  method,
  target: raw.url ?? "/",
  headers,
  body: body === undefined ? undefined : JSON.stringify(body),
});

/** Answers as the worker does. A stream that ends early ends the connection to the caller, too. */
function relay(reply: FastifyReply, response: IncomingMessage | Rejected): FastifyReply {
  if ("problem" in response) return problem(reply, response.problem, response.headers ?? {});
  reply.raw.once("close", () => response.destroy());
  return reply.type(LINES_TYPE).send(response);
}

/**
 * Audits a call that was rejected with the status 403, unless the operation has audited it, and a call with the login of
 * a worker that failed. The entry has the account, the event and the case that the caller named, but no account that the
 * caller sees only as a pseudonym.
 */
async function auditRejection(
  id: RouteId,
  { ports, caller, scope, input }: OperationCall<RouteId>,
  error: unknown,
): Promise<void> {
  const { operation, appliedBy } = routeOf(id);
  const isDenied = error instanceof AdminError && error.problem.status === 403;
  if (isDenied ? error.isAudited : appliedBy !== "worker") return;
  const named = input as { readonly account?: string; readonly event_id?: string; readonly case_id?: string };
  await writeAudit(ports.pool, (await ports.keys()).audit, {
    ...agentOf(caller),
    ...(isDenied
      ? { operation, outcome: "denied" }
      : {
          operation: "call.end",
          outcome: "failed",
          detail: { of: operation, code: adminErrorOf(error).shown.problem.code },
        }),
    ...(named.account !== undefined && scope !== "pseudonyms" && { account: named.account }),
    ...(named.event_id !== undefined && { eventIds: [named.event_id.toLowerCase()] }),
    ...(named.case_id !== undefined && { caseId: named.case_id }),
  });
}

/** An error after the first line ends the connection, so that the caller detects that the answer is incomplete. */
async function* encodeLines(values: AsyncIterable<unknown>, onError: OnError): AsyncGenerator<string> {
  try {
    for await (const value of values) yield `${JSON.stringify(value)}\n`;
  } catch (error) {
    onError(error, "admin request");
    throw error;
  }
}

const entryOf = ({ operation }: Route) => ({ operation, outcome: "done" });

const NO_PROPERTIES = { type: "object", properties: {}, additionalProperties: false } as const;

const urlOf = ({ path }: Route): string => `${BASE_PATH}${path.replaceAll(/\{(\w+)\}/g, ":$1")}`;

/** Checks that run before the body is read. */
function admission({ ports, reach, roleFile }: AdminApiOptions, adminSessions: AdminSessions) {
  const throttle = accountThrottle(REQUESTS_PER_SECOND, MAX_REQUEST_BURST, ports.monotonic);
  const failures = failureThrottle(FAILURE_RATE, FAILURE_BURST, ports.monotonic);
  const auditDenial = async (caller: Caller, id: RouteId): Promise<void> => {
    const { operation } = routeOf(id);
    await writeAudit(ports.pool, (await ports.keys()).audit, { ...agentOf(caller), operation, outcome: "denied" });
  };
  const requireRecent = async (caller: Caller, id: RouteId): Promise<void> => {
    try {
      requireRecentSignIn(caller, ports.clock);
    } catch (error) {
      await auditDenial(caller, id);
      throw error;
    }
  };
  return async (request: FastifyRequest, permission: Permission, id: RouteId): Promise<void> => {
    const { raw } = request;
    const { pool, clock } = ports;
    const authentication = { pool, clock, adminSessions, reach, mapping: roleFile?.current };
    const peer = peerOf(raw);
    // A valid credential passes, because other people at its address can't keep it from the limit.
    const authenticated = await authenticate(authentication, raw).catch((error: unknown) => {
      const waitSeconds = error instanceof AdminError ? failures.take(peer) : 0;
      // guard(false): failures of one address are limited
      if (waitSeconds > 0) throw tooMany(waitSeconds, (error as AdminError).credential);
      throw error;
    });
    const caller = { ...authenticated, source: sourceOf(peer), ...callOf(raw) };
    const { isAllowed, retryAfterSeconds } = throttle.take(caller.person);
    if (!isAllowed) throw tooMany(retryAfterSeconds);
    const scope = scopeOf(permission, caller.roles);
    if (scope === undefined) {
      await auditDenial(caller, id);
      const needed = rolesWith(permission).join(" or ");
      const detail = `The permission ${permission} needs the role ${needed}. You have: ${caller.roles.join(", ") || "none"}.`;
      throw new AdminError("permission-missing", { detail });
    }
    // guard(drop): a session that was stolen some time ago erases, exports and destroys nothing
    if (routeOf(id).recentSignIn && caller.session) await requireRecent(caller, id);
    admitted.set(request, { caller, call: { ports, caller, scope } });
  };
}

/** The key that a caller gives to a call, so that a repeated call finds what it began. */
function callOf({ headers }: IncomingMessage): Pick<Caller, "callId"> {
  const key = headers["idempotency-key"];
  if (key === undefined) return {};
  if (typeof key === "string" && isUuid(key)) return { callId: key.toLowerCase() };
  throw new AdminError("request-invalid", { errors: [{ where: "header/Idempotency-Key", detail: "must be a UUID" }] });
}

const tooMany = (seconds: number, credential?: FalseCredential): AdminError =>
  new AdminError("too-many-requests", { headers: { "Retry-After": String(seconds) }, credential });

const peerOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? "";

const isEncrypted = ({ socket }: IncomingMessage): boolean => (socket as Partial<TLSSocket>).encrypted === true;

function requireSafeChannel(
  { raw, routeOptions }: FastifyRequest,
  { isClearAllowed, reach }: Pick<AdminApiOptions, "isClearAllowed" | "reach">,
): void {
  if (!isClearAllowed && !isEncrypted(raw)) throw new AdminError("tls-required");
  // guard(false): a page of another origin changes nothing
  if (isCrossSite(raw, reach) && !isSignInPage({ routeOptions })) {
    throw new AdminError("cross-site");
  }
}

const isSignInPage = ({ routeOptions }: Pick<FastifyRequest, "routeOptions">): boolean =>
  (SIGN_IN_PAGES as readonly unknown[]).includes(routeOptions.url);

/**
 * Whether a page of another origin sent the request, by `Sec-Fetch-Site`, or by `Origin` if the browser does not send
 * that header. Programs send neither.
 */
function isCrossSite(request: IncomingMessage, reach: Reach | undefined): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const { origin, host } = request.headers;
  // A forwarded request has the origin of the console and the host of the worker.
  return origin !== undefined && !(reach && origin === originOf(reach, request)) && URL.parse(origin)?.host !== host;
}

/** Answers other methods on the paths of routes with 405, instead of 404. */
function refuseOtherMethods(app: FastifyInstance, ids: readonly RouteId[]): void {
  const urls = Map.groupBy(ids.map(routeOf), urlOf);
  for (const [url, routes] of urls) {
    const allowed = routes.map(({ method }) => method);
    const others = HTTP_METHODS.filter((method) => !allowed.some((one) => one === method));
    app.route({
      method: others,
      url,
      // This hook runs before the body is read.
      onRequest: async () => {
        throw new AdminError("method-not-allowed", { headers: { Allow: allowed.join(", ") } });
      },
      handler: async () => {},
    });
  }
}

const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

// Operations read a time by `Date`, which knows no leap second and no name of a time zone (RFC 9557).
Format.Set("date-time", (text) => Format.IsDateTime(text) && !Number.isNaN(Date.parse(text)));

/**
 * Validates a part of a request. Texts of the path and the query are converted into numbers and booleans first. A body
 * is validated without conversion.
 */
function validator(schema: TSchema, part: string) {
  const check = Compile(schema);
  return (data: unknown) => {
    const value = part === "body" ? data : Value.Convert(schema, data ?? {});
    if (check.Check(value)) return { value };
    const errors = check.Errors(value).map(({ instancePath, message }) => ({
      where: part === "body" ? `body${instancePath}` : `${part}${instancePath}`,
      detail: message,
    }));
    return { error: new AdminError("request-invalid", { errors: errors.slice(0, 20) }) };
  };
}

/** Answers a path that the router rejects before any hook runs. */
function answerRefusedPath(reply: FastifyReply): FastifyReply {
  const { problem: body, headers } = new AdminError("request-invalid", { errors: [UNREADABLE_PATH] });
  return problem(reply.headers(SECURITY_HEADERS), body, headers);
}

const UNREADABLE_PATH = { where: "path", detail: "is too long, or not encoded as it should be" };

/** Codes of the answers to errors of Fastify, by Fastify's codes. */
const FASTIFY_ERRORS = {
  FST_ERR_CTP_BODY_TOO_LARGE: "body-too-large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "media-type-unsupported",
} as const;

function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { reach, onError }: Pick<AdminApiOptions, "onError" | "reach">,
): FastifyReply {
  const { shown, unexpected } = adminErrorOf(asAdminError(error as FastifyError));
  if (unexpected !== undefined) onError(unexpected, "admin request");
  if (isSignInPage(request) && request.headers.accept?.includes("text/html")) {
    const page = pageOfProblem(shown.problem, `${prefixOf(reach)}${SIGN_IN_PATH}`);
    return reply.status(shown.problem.status).headers(shown.headers).type("text/html; charset=utf-8").send(page);
  }
  return problem(reply, shown.problem, shown.headers);
}

/** The error to answer for a request that Fastify has rejected; every other error unchanged. */
function asAdminError(error: FastifyError): unknown {
  if (error instanceof AdminError || !error.code?.startsWith("FST_") || (error.statusCode ?? 500) >= 500) return error;
  const code = FASTIFY_ERRORS[error.code as keyof typeof FASTIFY_ERRORS];
  return code === undefined ? new AdminError("request-invalid", { errors: [NOT_JSON] }) : new AdminError(code);
}

const placesOf = ({ rejection }: RejectedRequest): readonly AdminViolation[] =>
  rejection.errors.map(({ pointer, detail }) => ({ where: `body${pointer}`, detail }));

const NOT_JSON = { where: "body", detail: "is not valid JSON, or not an object" };

function problem(reply: FastifyReply, body: AdminProblem, headers: Readonly<Record<string, string>>): FastifyReply {
  return reply.status(body.status).headers(headers).type("application/problem+json").send(JSON.stringify(body));
}
