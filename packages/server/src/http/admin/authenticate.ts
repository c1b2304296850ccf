/** Authenticates requests of the admin API. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import type { AdminSession, AdminSessions } from "../../access/identity/admin-sessions.ts";
import type { FalseCredential } from "../../access/identity/false-credentials.ts";
import { findHolder, hasTokenForm } from "../../access/identity/admin-tokens.ts";
import { areTokenPeopleGiven, isSessionGiven, type RoleMapping } from "../../access/identity/role-mapping.ts";
import { type Caller, originOfSession, originOfToken } from "../../access/identity/caller.ts";
import { AdminError } from "../../operations/problem.ts";
import { cookiesOf, originOf, type Reach, sessionCookie } from "./cookies.ts";

export interface Authentication {
  readonly pool: Executor;
  readonly clock: Clock;
  readonly adminSessions: AdminSessions;
  /** How browsers reach the pages. It is absent if no person can sign in, and then no cookie is a credential. */
  readonly reach?: Reach | undefined;
  /** What the role file gives now; absent if there is none. */
  readonly mapping?: RoleMapping | undefined;
}

const BEARER_HEADER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const CHALLENGE_HEADER = { "WWW-Authenticate": "Bearer" };
const INVALID_TOKEN_HEADER = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

/** @throws AdminError credentials-missing, credentials-invalid, cross-site. @throws Unavailable */
export async function authenticate(authentication: Authentication, request: IncomingMessage): Promise<Caller> {
  const authorizations = authorizationsOf(request);
  const { reach } = authentication;
  const cookies = reach === undefined ? [] : cookiesOf(request, sessionCookie(reach, request));
  const count = authorizations.length + cookies.length;
  if (count === 0) throw new AdminError("credentials-missing", { headers: CHALLENGE_HEADER, credential: "missing" });
  // guard(drop): a request with two credentials is refused
  if (count > 1) throw invalid("several");
  const [cookie] = cookies;
  const caller =
    cookie === undefined
      ? await callerOfToken(authentication, authorizations[0] ?? "")
      : await callerOfCookie(authentication, cookie, request);
  if (!caller) throw invalid(cookie === undefined ? "token" : "cookie");
  return caller;
}

async function callerOfToken({ pool, clock, adminSessions, mapping }: Authentication, authorization: string) {
  const [, token] = BEARER_HEADER.exec(authorization) ?? [];
  // guard: only a text of a token's form costs a statement of SQL
  if (token === undefined || !hasTokenForm(token)) throw invalid("malformed");
  const holder = await findHolder(pool, clock, token);
  // guard: a person who was removed from the role file has no token, even if its row could not be changed
  if (holder) return mapping && !areTokenPeopleGiven(mapping, holder) ? undefined : callerOfHolder(holder);
  return callerOfSession(mapping, await adminSessions.find(pool, clock, "login", token), "login");
}

function callerOfHolder({
  person,
  roles,
  expires_at,
  token_id,
  obtained_by,
}: NonNullable<Awaited<ReturnType<typeof findHolder>>>): Caller {
  return { person, roles, expiresAt: expires_at, ...originOfToken(person, token_id, obtained_by), tokenId: token_id };
}

async function callerOfCookie(
  { pool, clock, adminSessions, reach, mapping }: Authentication,
  cookie: string,
  request: IncomingMessage,
) {
  // guard(drop): no page of another site acts by a browser's cookie
  if (!isSafe(request) && !isFromConsole(request, reach)) throw new AdminError("cross-site");
  return callerOfSession(mapping, await adminSessions.find(pool, clock, "console", cookie), "console");
}

function callerOfSession(
  mapping: RoleMapping | undefined,
  session: AdminSession | undefined,
  kind: "console" | "login",
): Caller | undefined {
  // guard: a session has no person and no role that the role file does not give now, even if its row could not be changed
  if (!session || (mapping && !isSessionGiven(mapping, session))) return undefined;
  const { person, roles, expiresAt, sessionId, authenticatedAt } = session;
  const origin = originOfSession(person, kind, sessionId);
  return { person, roles, expiresAt, ...origin, session: { id: sessionId, authenticatedAt } };
}

const invalid = (credential: FalseCredential): AdminError =>
  new AdminError("credentials-invalid", { headers: INVALID_TOKEN_HEADER, credential });

const isSafe = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD";

/**
 * Whether a page of the console sent the request, by `Sec-Fetch-Site` or `Origin`, which no page can set. A cookie does
 * not prove it, because browsers also add cookies to requests from other pages.
 */
export function isFromConsole(request: IncomingMessage, reach: Reach | undefined): boolean {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (site !== undefined) return site === "same-origin";
  return reach !== undefined && origin === originOf(reach, request);
}

/** The values of all `Authorization` lines, because Node's `headers` has only the first of several. */
function authorizationsOf({ rawHeaders }: IncomingMessage): readonly string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization");
}
