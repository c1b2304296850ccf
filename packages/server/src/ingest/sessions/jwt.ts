import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type FetchImplementation,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";
import type { Dependency } from "../../base/dependencies/dependencies.ts";
import { type Clock, type SessionVerifier, Unavailable, VerificationPending } from "../../base/ports.ts";
import { accountOf } from "../../base/identifiers/account.ts";

export interface JwtOptions {
  /** `{ jwksUrl }` for asymmetric keys, `{ secret }` for HMAC. */
  readonly keys: { readonly jwksUrl: string; readonly dependency: Dependency } | { readonly secret: string };
  readonly issuer: string;
  readonly audience: string;
  /** Pinned: a token of another algorithm is invalid. */
  readonly algorithms: readonly string[];
  readonly accountClaim: string;
  /** Tolerated difference between the clocks of the issuer and this server, in milliseconds. */
  readonly clockSkew: number;
  readonly fetch?: FetchImplementation;
}

export const DEFAULT_ALGORITHMS = {
  jwks: ["RS256", "PS256", "ES256", "EdDSA"],
  secret: ["HS256"],
} as const;

/**
 * Verifies session tokens that are JWTs (RFC 7519) as RFC 8725 requires: issuer, audience and algorithm are pinned, and
 * `exp` is required.
 */
export function jwtVerifier(options: JwtOptions, clock: Clock): SessionVerifier {
  const keys = keysOf(options);
  return {
    async verify(token) {
      const fetchesBefore = keys.fetches;
      try {
        const { payload } = await jwtVerify(token, keys.resolve, {
          issuer: options.issuer,
          audience: options.audience,
          algorithms: [...options.algorithms],
          clockTolerance: options.clockSkew / 1000,
          currentDate: new Date(clock.now()),
          requiredClaims: ["exp"],
        });
        const account = accountOf(payload[options.accountClaim]);
        return account === undefined
          ? undefined
          : { account, expiresAt: (payload.exp ?? 0) * 1000 + options.clockSkew };
      } catch (error) {
        const isHeldBack = error instanceof errors.JWKSNoMatchingKey && keys.fetches === fetchesBefore;
        if (isHeldBack && mayBeOfIssuer(token, options)) throw new VerificationPending(keys.retryAfterSeconds);
        if (isBadToken(error)) return undefined;
        throw new Unavailable("the keys of session tokens can't be fetched", { cause: error });
      }
    },
  };
}

/** Keys are not fetched again within this time, so that tokens with invented key ids cause no flood of requests. */
const HOLD_BACK_MS = 30_000;

interface Keys {
  readonly resolve: JWTVerifyGetKey;
  /** Number of times that the keys were fetched. */
  readonly fetches: number;
  /** Seconds until the keys may be fetched again: at least 1. */
  readonly retryAfterSeconds: number;
}

function keysOf({ keys, fetch: send = fetch }: JwtOptions): Keys {
  if ("secret" in keys) {
    const secret = new TextEncoder().encode(keys.secret);
    return { resolve: async () => secret, fetches: 0, retryAfterSeconds: 1 };
  }
  const { jwksUrl, dependency } = keys;
  let fetches = 0;
  let fetchedAt = 0;
  const resolve = createRemoteJWKSet(new URL(jwksUrl), {
    cooldownDuration: HOLD_BACK_MS,
    // The deadline of `dependency` ends the call first, because the time limit of `jose` is longer.
    timeoutDuration: 2 * dependency.timeoutMs,
    [customFetch]: (url, options) =>
      dependency.call(async (signal) => {
        const response = await send(url, { ...options, signal });
        if (response.status !== 200) throw new Error(`the JWKS endpoint answered ${response.status}`);
        const body = await response.arrayBuffer();
        fetches++;
        fetchedAt = Date.now();
        return new Response(body, response);
      }),
  });
  return {
    resolve,
    get fetches() {
      return fetches;
    },
    get retryAfterSeconds() {
      return Math.max(1, Math.ceil((fetchedAt + HOLD_BACK_MS - Date.now()) / 1000));
    },
  };
}

/**
 * Whether a token of an unknown key may be one of the issuer, who may just have added the key. Nothing of the token is
 * verified.
 */
function mayBeOfIssuer(token: string, { issuer, algorithms }: JwtOptions): boolean {
  try {
    const { alg = "" } = decodeProtectedHeader(token);
    return algorithms.includes(alg) && decodeJwt(token).iss === issuer;
  } catch {
    // jose looks for the key before it reads the claims, which may be no claims at all.
    return false;
  }
}

/** Whether the token is invalid, rather than the key set unreachable. */
function isBadToken(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  // jose reports an unexpected answer of the JWKS endpoint as a plain `JOSEError`.
  return error instanceof errors.JOSEError && error.code !== errors.JOSEError.code;
}
