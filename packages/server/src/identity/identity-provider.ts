/** Sign-in of people by OpenID Connect: authorization code with PKCE, nonce, state and the issuer's `iss` (RFC 9207). */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
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
import type { Dependency } from "../dependencies/dependencies.ts";
import { Monitor, type Pace } from "../dependencies/monitor.ts";
import { Unavailable } from "../ports.ts";
import type { Claims, Identity } from "./role-mapping.ts";

export interface IdentityProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  readonly dependency: Dependency;
}

/** What only the browser that began a sign-in can repeat. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface SignedIn {
  readonly identity: Identity;
  readonly claims: Claims;
  /** When the person gave proof to the provider, milliseconds since the Unix epoch; `undefined`: it does not say. */
  readonly authenticatedAt: number | undefined;
}

/** `client`: the provider refuses the credentials of this client. `answer`: the answer is not one to this sign-in. */
export type RefusedSignIn = "client" | "answer";

export interface IdentityProvider {
  /** Reads the provider's metadata. @throws Unavailable */
  check(): Promise<void>;
  /** @param maxAge seconds since the person last gave proof; past it the provider asks again. @throws Unavailable */
  authorizationUrl(secrets: SignInSecrets, maxAge: number | undefined): Promise<URL>;
  /** Exchanges what the provider gave the browser. No token is kept. @param query of the callback. @throws Unavailable */
  redeem(query: string, secrets: SignInSecrets, maxAge: number | undefined): Promise<SignedIn | RefusedSignIn>;
}

export function identityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { clientId, clientSecret, dependency } = options;
  const issuer = new URL(options.issuer);

  /** The metadata is read for each step: sign-ins are rare, and what the provider changes is followed at once. */
  async function withProvider<T>(work: (configuration: Configuration) => Promise<T>): Promise<T> {
    const call = async (signal: AbortSignal): Promise<T> => {
      const connection = fetchOf(signal);
      const settings = {
        [customFetch]: connection.fetch,
        // A setting with `http:` is one of loopback.
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
        throw connection.isAway() ? new Unavailable("the identity provider can't be reached") : error;
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
        return isClientRefused(error) ? "client" : "answer";
      }),
  };
}

/** Each check reads the provider's metadata, which is another system's: once in half a minute is enough. */
const PROBE_PACE: Pace = { everyMs: 30_000, retryMs: 5_000 };

/** Notices that the provider is away before a person does, and that it is back. */
export const monitorIdentityProvider = (
  dependency: Dependency,
  provider: Pick<IdentityProvider, "check">,
  pace = PROBE_PACE,
): Monitor => new Monitor(dependency, { ping: () => provider.check(), close: async () => {} }, pace);

/** The second form is RFC 6749 §5.2: 401, where the client has sent its secret in `Authorization`. */
const isClientRefused = (error: unknown): boolean =>
  error instanceof ResponseBodyError
    ? error.error === "invalid_client" || error.error === "unauthorized_client"
    : error instanceof WWWAuthenticateChallengeError;

/** Sends the secret by `client_secret_basic`, the default, unless the provider takes it in the body only. */
function clientAuthentication(clientSecret: string | undefined): ClientAuth {
  if (clientSecret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
  return (server, client, body, headers) => {
    const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
    const isPost = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
    (isPost ? post : basic)(server, client, body, headers);
  };
}

/** A fetch that is cancelled by the signal, and knows whether the provider was away: the library hides the reason. */
function fetchOf(cancel: AbortSignal) {
  let away = false;
  return {
    isAway: () => away,
    fetch: async (url: string, options: { readonly signal?: AbortSignal }): Promise<Response> => {
      const signal = options.signal ? AbortSignal.any([options.signal, cancel]) : cancel;
      try {
        const response = await fetch(url, { ...(options as RequestInit), signal });
        away ||= response.status >= 500;
        return response;
      } catch (error) {
        away = true;
        throw error;
      }
    },
  };
}
