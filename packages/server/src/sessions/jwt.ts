import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";
import type { Dependency } from "../dependencies/dependencies.ts";
import { type Clock, type SessionVerifier, Unavailable } from "../ports.ts";
import { accountOf } from "../identifiers/account.ts";

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
  const resolveKey = keyResolver(options);
  return {
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, resolveKey, {
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
        if (isBadToken(error)) return undefined;
        throw new Unavailable("the keys of session tokens can't be fetched", { cause: error });
      }
    },
  };
}

function keyResolver({ keys, fetch: send = fetch }: JwtOptions): JWTVerifyGetKey {
  if ("secret" in keys) {
    const secret = new TextEncoder().encode(keys.secret);
    return async () => secret;
  }
  const { jwksUrl, dependency } = keys;
  return createRemoteJWKSet(new URL(jwksUrl), {
    // The deadline of `dependency` ends the call first, because the time limit of `jose` is longer.
    timeoutDuration: 2 * dependency.timeoutMs,
    [customFetch]: (url, options) =>
      dependency.call(async (signal) => {
        const response = await send(url, { ...options, signal });
        if (response.status !== 200) throw new Error(`the JWKS endpoint answered ${response.status}`);
        return new Response(await response.arrayBuffer(), response);
      }),
  });
}

/** Whether the token is invalid, rather than the key set unreachable. */
function isBadToken(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  // jose reports an unexpected answer of the JWKS endpoint as a plain `JOSEError`.
  return error instanceof errors.JOSEError && error.code !== errors.JOSEError.code;
}
