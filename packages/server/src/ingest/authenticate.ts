import { accountOf } from "../base/identifiers/account.ts";
import { type Session, type SessionVerifier, VerificationPending } from "../base/ports.ts";
import { type IngestRequest, type RejectedRequest, rejectRequest } from "./request.ts";
import { sourceOf } from "../base/identifiers/source-address.ts";
import type { FailureThrottle } from "./throttle.ts";

/**
 * Maximum number of characters of the header, with its scheme. The token of a longer header is rejected without
 * verification.
 */
const MAX_HEADER_LENGTH = 8_192;

/** The value of the header, with a token of RFC 6750 §2.1 (`b64token`). */
const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

const CHALLENGE_NONE = { "WWW-Authenticate": "Bearer" };
const CHALLENGE_INVALID = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

/**
 * Derives the account from the `Authorization` header, before any byte of the body is parsed. Failed authentications
 * are throttled by source address, but valid credentials pass even from a throttled address.
 */
export async function authenticate(
  request: IngestRequest,
  verifier: SessionVerifier,
  failures: FailureThrottle,
): Promise<Session | RejectedRequest> {
  const values = request.headers.all("authorization");
  const token = tokenOf(values);
  const session = token === undefined ? undefined : await verify(token);
  // The verifier of a host may return any value. If its `account` is not a valid account, the request counts as
  // unauthenticated.
  const isVerified = session && !(session instanceof VerificationPending) && accountOf(session.account) !== undefined;
  if (isVerified) return session;
  const wait = failures.take(request.peer);
  if (wait > 0) return rejectRequest("too-many-failures", { "Retry-After": String(wait) });
  if (session instanceof VerificationPending) {
    return rejectRequest("unavailable", { "Retry-After": String(session.retryAfterSeconds) });
  }
  return values.length === 0
    ? rejectRequest("credentials-missing", CHALLENGE_NONE)
    : rejectRequest("credentials-invalid", CHALLENGE_INVALID, values.some(isTooLong) ? "too-long" : undefined);

  async function verify(one: string): Promise<Session | VerificationPending | undefined> {
    try {
      return await verifier.verify(one, sourceOf(request.peer));
    } catch (error) {
      if (error instanceof VerificationPending) return error;
      throw error;
    }
  }
}

const isTooLong = (value: string): boolean => value.length > MAX_HEADER_LENGTH;

function tokenOf(values: readonly string[]): string | undefined {
  const [value] = values;
  if (value === undefined || values.length > 1 || isTooLong(value)) return undefined;
  return BEARER.exec(value)?.[1];
}
