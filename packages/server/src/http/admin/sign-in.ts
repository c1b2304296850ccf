/**
 * Pages on which people sign in. They are not among the routes of the admin API, because a browser visits them without
 * a credential.
 */
import type { IncomingMessage } from "node:http";
import { BASE_PATH } from "@device-risk-signals/admin-api";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { writeAudit } from "../../audit/audit.ts";
import { sourceOf } from "../../base/identifiers/source-address.ts";
import { type AdminSessions, endWiderSessions, type SignedInPerson } from "../../access/identity/admin-sessions.ts";
import { actorPrefixOf } from "../../access/identity/caller.ts";
import type { IdentityProvider, SignedIn } from "../../access/identity/identity-provider.ts";
import {
  identityKey,
  mapIdentity,
  REFUSED_PERSON,
  type RoleMapping,
  type RolesClaim,
} from "../../access/identity/role-mapping.ts";
import {
  type Attempt,
  ATTEMPT_MS,
  beginAttempt,
  type Destination,
  secretsOf,
  takeAttempt,
} from "../../access/identity/sign-in-attempts.ts";
import { displayName } from "../../access/identity/display-name.ts";
import { recordSignIn } from "../../access/identity/signed-in-identities.ts";
import { type FailureThrottle, failureThrottle } from "../../ingest/throttle.ts";
import { inTransaction } from "../../store/postgres/database.ts";
import type { Ports } from "../../operations/ports.ts";
import { AdminError } from "../../operations/problem.ts";
import { isFromConsole } from "./authenticate.ts";
import { cookieOf, cookiesOf, noCookie, type PublicAddress, sessionCookie, SIGN_IN_COOKIE } from "./cookies.ts";
import { pageWithButton, pageWithLink } from "./sign-in-pages.ts";
import { SIGN_IN_OPERATION, startConsoleSession } from "./console-session.ts";
import { localPath, loopbackUri } from "./redirects.ts";

/** The parts that the sign-in of people needs. */
export interface SignInPorts extends PublicAddress {
  readonly provider: IdentityProvider;
  readonly roleFile: { readonly current: RoleMapping };
  readonly rolesClaim: RolesClaim;
  /** The claim with the name that is shown next to a person. */
  readonly nameClaim: string | undefined;
}

export const SIGN_IN_PATH = `${BASE_PATH}/sign-in`;
export const CALLBACK_PATH = `${SIGN_IN_PATH}/callback`;
const CLI_SIGN_IN_PATH = `${BASE_PATH}/cli-sign-in`;
const CLI_TOKEN_PATH = `${CLI_SIGN_IN_PATH}/token`;

/** Paths that a browser may reach from pages of other origins, because they do nothing on behalf of a session. */
export const SIGN_IN_PAGES = [SIGN_IN_PATH, CALLBACK_PATH, CLI_SIGN_IN_PATH] as const;

/**
 * Limits for sign-ins that one source address begins or completes: the sustained rate per second, and the largest
 * burst.
 */
const SIGN_INS_PER_SECOND = 5;
const MAX_SIGN_IN_BURST = 60;
const MAX_MAX_AGE = 86_400;
const FORM_TYPE = "application/x-www-form-urlencoded";

const CODE_VERIFIER_PATTERN = "^[A-Za-z0-9._~-]{43,128}$";
const NO_OTHER_PROPERTIES = { additionalProperties: false } as const;
const SIGN_IN_QUERY = Type.Object(
  {
    return: Type.Optional(Type.String({ maxLength: 2_000 })),
    max_age: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_MAX_AGE })),
  },
  NO_OTHER_PROPERTIES,
);
const CLI_QUERY = Type.Object(
  {
    redirect_uri: Type.String({ maxLength: 200 }),
    state: Type.String({ pattern: "^[A-Za-z0-9_-]{16,128}$" }),
    code_challenge: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" }),
    max_age: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_MAX_AGE })),
  },
  NO_OTHER_PROPERTIES,
);
type CliQuery = Static<typeof CLI_QUERY>;
const CODE_BODY = Type.Object(
  { code: Type.String({ maxLength: 128 }), code_verifier: Type.String({ pattern: CODE_VERIFIER_PATTERN }) },
  NO_OTHER_PROPERTIES,
);

type StorePorts = Ports<"clock" | "keys.audit" | "monotonic" | "pool">;

interface SignInParts extends StorePorts {
  readonly adminSessions: AdminSessions;
}

export function addSignIn(
  app: FastifyInstance,
  { pool, clock, monotonic, keys }: StorePorts,
  adminSessions: AdminSessions,
  signIn: SignInPorts,
): void {
  const ports = { pool, clock, monotonic, keys, adminSessions };
  const begins = failureThrottle(SIGN_INS_PER_SECOND, MAX_SIGN_IN_BURST, monotonic);
  const failures = failureThrottle(SIGN_INS_PER_SECOND, MAX_SIGN_IN_BURST, monotonic);
  const page = { onRequest: requireNavigation };
  const limited = { onRequest: [requireNavigation, async (request: FastifyRequest) => take(begins, request)] };
  /** A valid answer or code passes, because other programs at its address can't keep it from the limit. */
  const countFailure = <T>(request: FastifyRequest, work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      // guard: failures of one address are limited
      if (error instanceof AdminError) take(failures, request);
      throw error;
    });
  app.get(SIGN_IN_PATH, { ...limited, schema: { querystring: SIGN_IN_QUERY } }, async (request, reply) => {
    const { return: path, max_age: maxAge = null } = request.query as { return?: string; max_age?: number };
    const destination = { kind: "console", path: localPath(path ?? `${BASE_PATH}/session`) } as const;
    return begin(ports, signIn, { destination, maxAge }, reply);
  });
  const cliSchema = { querystring: CLI_QUERY };
  app.get(CLI_SIGN_IN_PATH, { ...page, schema: cliSchema }, async (request, reply) => {
    const query = request.query as CliQuery;
    return reply
      .type("text/html; charset=utf-8")
      .send(pageWithButton(`${signIn.prefix}${CLI_SIGN_IN_PATH}`, query, loopbackUri(query.redirect_uri)));
  });
  // The form of this page has no fields. Other routes accept no form.
  app.register(async (forms) => {
    forms.addContentTypeParser(FORM_TYPE, { parseAs: "string", bodyLimit: 1 }, async () => undefined);
    forms.post(CLI_SIGN_IN_PATH, { ...limited, schema: cliSchema }, async ({ raw, query }, reply) => {
      // guard: only the button of the page signs a person in for a command, and no link of any site
      if (!isFromConsole(raw, signIn)) throw new AdminError("cross-site");
      const { redirect_uri, state, code_challenge: codeChallenge, max_age: maxAge = null } = query as CliQuery;
      const destination = { kind: "login", redirectUri: loopbackUri(redirect_uri), state, codeChallenge } as const;
      return begin(ports, signIn, { destination, maxAge }, reply);
    });
  });
  app.get(CALLBACK_PATH, page, (request, reply) => countFailure(request, finish(ports, signIn, request.raw, reply)));
  app.post(CLI_TOKEN_PATH, { schema: { body: CODE_BODY } }, async (request, reply) => {
    const { code, code_verifier: verifier } = request.body as Readonly<Record<"code" | "code_verifier", string>>;
    const exchanging = exchange({ ...ports, source: sourceOfRequest(request.raw) }, code, verifier);
    return reply.type("application/json").send(JSON.stringify(await countFailure(request, exchanging)));
  });
}

/** @throws AdminError too-many-requests */
function take(throttle: FailureThrottle, { raw }: FastifyRequest): void {
  const seconds = throttle.take(sourceOfRequest(raw));
  if (seconds > 0) throw new AdminError("too-many-requests", { headers: { "Retry-After": String(seconds) } });
}

/**
 * Refuses pages that are loaded as an image or in a frame (https://www.w3.org/TR/fetch-metadata/), before they count
 * towards the limit of their address.
 */
async function requireNavigation({ headers }: FastifyRequest): Promise<void> {
  const destination = headers["sec-fetch-dest"];
  // guard: a page of another site can't use up the sign-ins of an address
  if (destination !== undefined && destination !== "document") throw new AdminError("cross-site");
}

async function begin({ pool, clock }: SignInParts, signIn: SignInPorts, attempt: Attempt, reply: FastifyReply) {
  const secret = await beginAttempt(pool, clock, attempt);
  const url = await signIn.provider.authorizationUrl(secretsOf(secret, attempt), attempt.maxAge ?? undefined);
  return reply.header("Set-Cookie", cookieOf(SIGN_IN_COOKIE, secret, ATTEMPT_MS / 1_000)).redirect(url.href, 303);
}

async function finish(ports: SignInParts, signIn: SignInPorts, request: IncomingMessage, reply: FastifyReply) {
  const { pool, clock } = ports;
  reply.header("Set-Cookie", noCookie(SIGN_IN_COOKIE));
  const [secret, ...others] = cookiesOf(request, SIGN_IN_COOKIE);
  const attempt = secret === undefined || others.length > 0 ? undefined : await takeAttempt(pool, clock, secret);
  if (secret === undefined || !attempt) throw falseSignIn();
  const query = (request.url ?? "").split("?").slice(1).join("?");
  const signedIn = await signIn.provider.redeem(query, secretsOf(secret, attempt), attempt.maxAge ?? undefined);
  if (signedIn === "client") throw new AdminError("sign-in-invalid", { detail: CLIENT_REFUSED });
  if (signedIn === "no-time") throw new AdminError("sign-in-invalid", { detail: NO_TIME });
  if (signedIn === "answer") throw falseSignIn();
  const source = sourceOfRequest(request);
  const person = await mapPerson(ports, signIn, signedIn, source);
  return attempt.destination.kind === "console"
    ? openConsole({ ...ports, source }, signIn, person, attempt.destination.path, request, reply)
    : answerCommand(ports, person, attempt.destination, reply);
}

const falseSignIn = (): AdminError => new AdminError("sign-in-invalid", { credential: "sign-in" });

const sourceOfRequest = ({ socket }: IncomingMessage): string => sourceOf(socket.remoteAddress ?? "");

const CLIENT_REFUSED =
  "The identity provider does not accept this server: check DRS_OIDC_CLIENT_ID and DRS_OIDC_CLIENT_SECRET.";

const NO_TIME =
  "The identity provider does not say when the person authenticated: let it send the claim auth_time in ID tokens.";

/**
 * Maps an identity to a person, and ends the sessions of the identity that have a role which the identity has lost.
 * @throws AdminError sign-in-refused
 */
async function mapPerson(
  { pool, clock, keys }: SignInParts,
  { roleFile, rolesClaim, nameClaim }: SignInPorts,
  { identity, claims, authenticatedAt }: SignedIn,
  source: string,
): Promise<SignedInPerson> {
  const key = identityKey(identity);
  const mapped = mapIdentity(roleFile.current, identity, claims, rolesClaim);
  const actor = `identity ${key.slice(0, 16)}`;
  const { audit } = await keys();
  // guard(drop): a role that the identity provider took away ends at the next sign-in
  await inTransaction(pool, async (transaction) => {
    for (const detail of await endWiderSessions(transaction, clock, key, mapped.ok ? mapped.roles : [])) {
      const entry = { actor, via: "console", source, operation: "session.revoke", outcome: "done", detail } as const;
      await writeAudit(transaction, audit, entry);
    }
  });
  if (mapped.ok) {
    const at = authenticatedAt === undefined ? null : new Date(authenticatedAt).toISOString();
    const { person, roles, grants } = mapped;
    const signedIn = { person, roles, grants, identity: key, authenticatedAt: at };
    await recordSignIn(pool, clock, signedIn, displayName(claims, nameClaim));
    return signedIn;
  }
  const refused = { actor: `${actorPrefixOf(REFUSED_PERSON)}${actor})`, via: "console", outcome: "denied" } as const;
  await writeAudit(pool, audit, { ...refused, source, operation: SIGN_IN_OPERATION, detail: { ...identity } });
  throw new AdminError("sign-in-refused", { detail: mapped.advice });
}

async function openConsole(
  ports: SignInParts & { readonly source: string },
  signIn: SignInPorts,
  person: SignedInPerson,
  path: string,
  request: IncomingMessage,
  reply: FastifyReply,
) {
  const cookie = sessionCookie(signIn, request);
  const { secret } = await startConsoleSession(ports, person, cookiesOf(request, cookie));
  return reply
    .header("Set-Cookie", cookieOf(cookie, secret))
    .type("text/html; charset=utf-8")
    .send(pageWithLink(`${signIn.prefix}${path}`));
}

/** Gives the command a code through the browser. Only the command can exchange it. */
async function answerCommand(
  { pool, clock, adminSessions }: SignInParts,
  person: SignedInPerson,
  { redirectUri, state, codeChallenge }: Extract<Destination, { kind: "login" }>,
  reply: FastifyReply,
) {
  const { secret } = await adminSessions.start(pool, clock, "code", person, codeChallenge);
  const url = new URL(redirectUri);
  url.searchParams.set("code", secret);
  url.searchParams.set("state", state);
  return reply.redirect(url.href, 303);
}

async function exchange(
  { pool, clock, keys, adminSessions, source }: SignInParts & { readonly source: string },
  code: string,
  verifier: string,
) {
  const { audit } = await keys();
  const login = await inTransaction(pool, async (transaction) => {
    const started = await adminSessions.exchange(transaction, clock, code, verifier);
    if (!started) return undefined;
    const actor = `${actorPrefixOf(started.person)}login ${started.sessionId})`;
    const { roles } = started;
    const entry = { actor, via: "cli", roles, source, operation: SIGN_IN_OPERATION, outcome: "done" } as const;
    await writeAudit(transaction, audit, entry);
    return started;
  });
  if (!login) throw falseSignIn();
  const { secret: token, person, roles, expiresAt } = login;
  return { token, person, roles, expires_at: expiresAt };
}
