import { accountOf } from "../identifiers/account.ts";
import type { Session, SessionVerifier } from "../ports.ts";
import { type IngestRequest, type RejectedRequest, rejectRequest } from "./request.ts";
import { sourceOf } from "../identifiers/source-address.ts";
import type { FailureThrottle } from "./throttle.ts";

/** Maximum length of a token; longer ones are rejected without verification. */
const MAX_TOKEN_LENGTH = 8_192;

/** The syntax of a token (RFC 6750 §2.1, `b64token`). */
const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

const CHALLENGE_NONE = { "WWW-Authenticate": "Bearer" };
const CHALLENGE_INVALID = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

/**
 * Derives the account from the `Authorization` header, before any byte of the body is parsed. Failures are throttled by
 * source address. A request with valid credentials passes nevertheless.
 */
export async function authenticate(
  request: IngestRequest,
  verifier: SessionVerifier,
  failures: FailureThrottle,
): Promise<Session | RejectedRequest> {
  const values = request.headers.all("authorization");
  const token = tokenOf(values);
  const session = token === undefined ? undefined : await verifier.verify(token, sourceOf(request.peer));
  // A host's own verifier may return anything. If the result can't be an account, the request has no session.
  if (session && accountOf(session.account) !== undefined) return session;
  const wait = failures.take(request.peer);
  if (wait > 0) return rejectRequest("too-many-failures", { "Retry-After": String(wait) });
  return values.length === 0
    ? rejectRequest("credentials-missing", CHALLENGE_NONE)
    : rejectRequest("credentials-invalid", CHALLENGE_INVALID);
}

function tokenOf(values: readonly string[]): string | undefined {
  const [value] = values;
  if (value === undefined || values.length > 1 || value.length > MAX_TOKEN_LENGTH) return undefined;
  return BEARER.exec(value)?.[1];
}
