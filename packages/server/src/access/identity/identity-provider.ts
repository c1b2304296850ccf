/**
 * Sign-in of people by OpenID Connect: authorization code with PKCE, nonce, state and the issuer's `iss` (RFC 9207).
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import type { Dependency } from "../../base/dependencies/dependencies.ts";
import { Monitor, type Pace } from "../../base/dependencies/monitor.ts";
import { describeUnreached } from "../../base/messages/unreached.ts";
import { Unavailable } from "../../base/ports.ts";
import type { Claims, Identity } from "./role-mapping.ts";

export interface IdentityProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  /** The address to which the provider sends the browser back. */
  readonly redirectUri: string;
  readonly dependency: Dependency;
}

/** Values that bind a sign-in to the browser that began it. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface SignedIn {
  readonly identity: Identity;
  readonly claims: Claims;
  /**
   * The time at which the person authenticated at the provider, in milliseconds since the Unix epoch; `undefined` if
   * the provider does not report it.
   */
  readonly authenticatedAt: number | undefined;
}

/**
 * `client`: the provider refused the credentials of this client. `no-time`: the time of the authentication was asked
 * for, and the provider does not report it. `answer`: the answer is an error, or it does not belong to this sign-in.
 */
export type RefusedSignIn = "client" | "no-time" | "answer";

export interface IdentityProvider {
  /** Reads the provider's metadata. @throws Unavailable */
  check(): Promise<void>;
  /**
   * @param maxAge if the person's last authentication is more than this number of seconds ago, the provider asks the
   * person to authenticate again.
   * @throws Unavailable
   */
  authorizationUrl(secrets: SignInSecrets, maxAge: number | undefined): Promise<URL>;
  /**
   * Exchanges the code that the provider gave to the browser for the identity and the claims of the person. Keeps no
   * token of the provider.
   * @param query the query string of the callback.
   * @throws Unavailable
   */
  redeem(query: string, secrets: SignInSecrets, maxAge: number | undefined): Promise<SignedIn | RefusedSignIn>;
}

export function identityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { clientId, clientSecret, dependency } = options;
  const issuer = new URL(options.issuer);

  /**
   * Reads the provider's metadata for each call, so that a change at the provider applies at once. Sign-ins are rare.
   */
  async function withProvider<T>(work: (configuration: Configuration) => Promise<T>): Promise<T> {
    const call = async (signal: AbortSignal): Promise<T> => {
      const connection = fetchOf(signal);
      const settings = {
        [customFetch]: connection.fetch,
        // The configuration accepts `http:` only for a loopback host.
        execute:
          issuer.protocol === "http:"
            ? [allowInsecureRequests, enableNonRepudiationChecks]
            : [enableNonRepudiationChecks],
      };
      try {
        const configuration = await discovery(issuer, clientId, {}, clientAuthentication(clientSecret), settings).catch(
          () => {
            throw new Unavailable("the identity provider gives no metadata");
          },
        );
        return await work(configuration);
      } catch (error) {
        const code = connection.failure();
        if (code === undefined) throw error;
        throw new Unavailable(`the identity provider ${describeUnreached(code)}`, { cause: { code } });
      }
    };
    return dependency.call(call, { isAway: (error) => error instanceof Unavailable });
  }

  return {
    check: () => withProvider(async () => {}),
    authorizationUrl: (secrets, maxAge) =>
      withProvider(async (configuration) =>
        buildAuthorizationUrl(configuration, {
          redirect_uri: options.redirectUri,
          scope: options.scopes.join(" "),
          state: secrets.state,
          nonce: secrets.nonce,
          code_challenge: await calculatePKCECodeChallenge(secrets.codeVerifier),
          code_challenge_method: "S256",
          ...(maxAge !== undefined && { max_age: String(maxAge) }),
        }),
      ),
    redeem: (query, secrets, maxAge) =>
      withProvider(async (configuration) => {
        const checks = {
          expectedState: secrets.state,
          expectedNonce: secrets.nonce,
          pkceCodeVerifier: secrets.codeVerifier,
          ...(maxAge !== undefined && { maxAge }),
        };
        const url = new URL(`${options.redirectUri}?${query}`);
        const claims = (await authorizationCodeGrant(configuration, url, checks)).claims();
        if (!claims) return "answer";
        const { iss, sub, auth_time: authTime } = claims;
        return {
          identity: { issuer: iss, sub },
          claims,
          authenticatedAt: authTime === undefined ? undefined : authTime * 1_000,
        };
      }).catch((error: unknown): RefusedSignIn => {
        if (error instanceof Unavailable) throw error;
        if (isClientRefused(error)) return "client";
        return maxAge !== undefined && lacksTime(error) ? "no-time" : "answer";
      }),
  };
}

/**
 * Checks only twice a minute while the provider answers, because each check is a request to another organisation's
 * system.
 */
const PROBE_PACE: Pace = { everyMs: 30_000, retryMs: 5_000 };

/**
 * Checks the provider regularly, so that its failure and its recovery are reported before a person tries to sign in.
 */
export const monitorIdentityProvider = (
  dependency: Dependency,
  provider: Pick<IdentityProvider, "check">,
  pace = PROBE_PACE,
): Monitor => new Monitor(dependency, { ping: () => provider.check(), close: async () => {} }, pace);

/**
 * Whether the provider refused the credentials of this client. If the client sent its secret in `Authorization`, the
 * provider refuses it with status 401 and a challenge (RFC 6749 §5.2).
 */
const isClientRefused = (error: unknown): boolean =>
  error instanceof ResponseBodyError
    ? error.error === "invalid_client" || error.error === "unauthorized_client"
    : error instanceof WWWAuthenticateChallengeError;

/** Whether the ID token was refused, and has no time of the authentication. */
function lacksTime(error: unknown): boolean {
  if (!(error instanceof ClientError) || error.code !== "OAUTH_INVALID_RESPONSE") return false;
  const { claims } = ((error.cause as Error | undefined)?.cause ?? {}) as { readonly claims?: object };
  return claims !== undefined && !("auth_time" in claims);
}

/** Sends the secret by `client_secret_basic`, the default, unless the provider accepts it only in the body. */
function clientAuthentication(clientSecret: string | undefined): ClientAuth {
  if (clientSecret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
  return (server, client, body, headers) => {
    const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
    const isPost = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
    (isPost ? post : basic)(server, client, body, headers);
  };
}

/**
 * A fetch that the signal can cancel. It records why the provider was unavailable, because the errors of
 * `openid-client` do not say so.
 */
function fetchOf(cancel: AbortSignal) {
  let failure: string | undefined;
  return {
    failure: () => failure,
    fetch: async (url: string, options: { readonly signal?: AbortSignal }): Promise<Response> => {
      const signal = options.signal ? AbortSignal.any([options.signal, cancel]) : cancel;
      try {
        const response = await fetch(url, { ...(options as RequestInit), signal });
        if (response.status >= 500) failure ??= `status ${response.status}`;
        return response;
      } catch (error) {
        const { cause, name } = error as Error;
        failure ??= (cause as NodeJS.ErrnoException | undefined)?.code ?? name;
        throw error;
      }
    },
  };
}
