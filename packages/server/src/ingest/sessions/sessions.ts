import type { Config } from "../../base/config/config.ts";
import type { Dependencies } from "../../base/dependencies/dependencies.ts";
import type { Clock, SessionVerifier } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { cachedVerifier, SHARE_OF_SOURCE } from "./cached-verifier.ts";
import { introspectionVerifier } from "./introspection.ts";
import { DEFAULT_ALGORITHMS, jwtVerifier } from "./jwt.ts";
import { isOpaqueToken, opaqueTokenVerifier } from "./opaque-tokens.ts";

/**
 * Times within which a revocation takes effect: for tokens of this server, and for tokens of an authorization server.
 */
const OPAQUE_TOKEN_CACHE_MS = 5_000;
const INTROSPECTION_CACHE_MS = 10_000;

/**
 * The verifiers of the configuration. Tokens of this server's form are looked up in the table, and all other tokens go
 * to the configured verifier. If none is configured, all other tokens are invalid.
 */
export function openSessions(
  config: Config,
  executor: Executor,
  dependencies: Dependencies,
  clock: Clock,
): SessionVerifier {
  const own = cachedVerifier(opaqueTokenVerifier(executor, clock), OPAQUE_TOKEN_CACHE_MS, clock);
  const foreign = foreignVerifier(config, dependencies, clock);
  if (!foreign) return own;
  return { verify: (token, source) => (isOpaqueToken(token) ? own : foreign).verify(token, source) };
}

function foreignVerifier(config: Config, dependencies: Dependencies, clock: Clock): SessionVerifier | undefined {
  const { jwt, introspection } = config.sessions;
  const { url, clientId, clientSecret } = introspection;
  if (url !== undefined) {
    const options = {
      url,
      dependency: dependencies.get("introspection"),
      accountClaim: introspection.accountClaim,
      ...(clientId !== undefined && { clientId }),
      ...(clientSecret !== undefined && { clientSecret }),
    };
    return cachedVerifier(introspectionVerifier(options, clock), INTROSPECTION_CACHE_MS, clock, SHARE_OF_SOURCE);
  }
  const { jwksUrl, secret } = jwt;
  if (jwksUrl === undefined && secret === undefined) return undefined;
  const options = {
    keys: jwksUrl === undefined ? { secret: secret ?? "" } : { jwksUrl, dependency: dependencies.get("jwks") },
    issuer: jwt.issuer ?? "",
    audience: jwt.audience ?? "",
    algorithms: jwt.algorithms ?? DEFAULT_ALGORITHMS[jwksUrl === undefined ? "secret" : "jwks"],
    accountClaim: jwt.accountClaim,
    clockSkew: jwt.clockSkewMs,
  };
  const share = jwksUrl === undefined ? Number.POSITIVE_INFINITY : SHARE_OF_SOURCE;
  return cachedVerifier(jwtVerifier(options, clock), Number.POSITIVE_INFINITY, clock, share);
}
