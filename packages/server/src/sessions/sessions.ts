import type { Config } from "../config/config.ts";
import type { Dependencies } from "../dependencies/dependencies.ts";
import type { Clock, SessionVerifier } from "../ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { cachedVerifier, FAIR_SHARE } from "./cached.ts";
import { introspectionVerifier } from "./introspection.ts";
import { DEFAULT_ALGORITHMS, jwtVerifier } from "./jwt.ts";
import { isOpaqueToken, opaqueTokenVerifier } from "./opaque-tokens.ts";

/** How long the revocation of a token of ours, or of an authorization server's, may take to be felt. */
const OPAQUE_MS = 5_000;
const INTROSPECTED_MS = 10_000;

/** The verifiers that the configuration asks for: tokens of our own form are looked up here, all others go there. */
export function openSessions(
  config: Config,
  executor: Executor,
  dependencies: Dependencies,
  clock: Clock,
): SessionVerifier {
  const own = cachedVerifier(opaqueTokenVerifier(executor, clock), OPAQUE_MS, clock);
  const foreign = foreignVerifier(config, dependencies, clock);
  if (!foreign) return own;
  return { verify: (token, source) => (isOpaqueToken(token) ? own : foreign).verify(token, source) };
}

function foreignVerifier(config: Config, dependencies: Dependencies, clock: Clock): SessionVerifier | undefined {
  const { DRS_JWT_JWKS_URL: jwksUrl, DRS_JWT_SECRET: secret, DRS_INTROSPECTION_URL: introspectionUrl } = config;
  if (introspectionUrl !== undefined) {
    const options = {
      url: introspectionUrl,
      dependency: dependencies.get("introspection"),
      accountClaim: config.DRS_INTROSPECTION_ACCOUNT_CLAIM,
      ...(config.DRS_INTROSPECTION_CLIENT_ID !== undefined && { clientId: config.DRS_INTROSPECTION_CLIENT_ID }),
      ...(config.DRS_INTROSPECTION_CLIENT_SECRET !== undefined && {
        clientSecret: config.DRS_INTROSPECTION_CLIENT_SECRET,
      }),
    };
    return cachedVerifier(introspectionVerifier(options, clock), INTROSPECTED_MS, clock, FAIR_SHARE);
  }
  if (jwksUrl === undefined && secret === undefined) return undefined;
  const options = {
    keys: jwksUrl === undefined ? { secret: secret ?? "" } : { jwksUrl, dependency: dependencies.get("jwks") },
    issuer: config.DRS_JWT_ISSUER ?? "",
    audience: config.DRS_JWT_AUDIENCE ?? "",
    algorithms: config.DRS_JWT_ALGORITHMS ?? DEFAULT_ALGORITHMS[jwksUrl === undefined ? "secret" : "jwks"],
    accountClaim: config.DRS_JWT_ACCOUNT_CLAIM,
    clockSkew: config.DRS_JWT_CLOCK_SKEW,
  };
  const share = jwksUrl === undefined ? Number.POSITIVE_INFINITY : FAIR_SHARE;
  return cachedVerifier(jwtVerifier(options, clock), Number.POSITIVE_INFINITY, clock, share);
}
