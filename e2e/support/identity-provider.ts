/** An OpenID Connect provider on loopback, at which people sign in with their name only. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Context, Provider } from "oidc-provider";

export const CLIENT = { id: "drs", secret: "a client secret of the test" } as const;

export interface TestIdentityProvider {
  readonly issuer: string;
  /** Claims by subject, in addition to `sub`; a test changes them. */
  readonly people: Map<string, Record<string, unknown>>;
  /** Accepts the redirect URI of a server. */
  addRedirectUri(uri: string): void;
  close(): Promise<void>;
}

/** How a provider differs from the default: the issuer names no path, and claims need no other scope than `openid`. */
export interface ProviderForm {
  /** What follows the host in the issuer, such as `/realms/staff`, or `/`. */
  readonly path?: string;
  /** The claims that the ID token has with each scope, in addition to the standard ones. */
  readonly claims?: Readonly<Record<string, readonly string[]>>;
  /** Whether the ID token has `auth_time`: always, never, or (the default) if `max_age` asks for it. */
  readonly authTime?: "always" | "never";
  /** Whether the answer has no parameter `iss` (RFC 9207). */
  readonly omitsIssuer?: boolean;
}

const CLAIMS = { openid: ["groups", "name", "_claim_names", "hasgroups"] };

export async function startIdentityProvider(form: ProviderForm = {}): Promise<TestIdentityProvider> {
  let listener: RequestListener = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}${form.path ?? ""}`;
  const people = new Map<string, Record<string, unknown>>();
  const redirectUris: string[] = [];
  const start = (): void => {
    listener = listenerOf(issuer, form, people, redirectUris);
  };
  return {
    issuer,
    people,
    addRedirectUri(uri) {
      redirectUris.push(uri);
      start();
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function listenerOf(
  issuer: string,
  { path = "", claims = CLAIMS, authTime, omitsIssuer = false }: ProviderForm,
  people: ReadonlyMap<string, Record<string, unknown>>,
  redirectUris: readonly string[],
): RequestListener {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [...redirectUris],
        require_auth_time: authTime === "always",
      },
    ],
    jwks: { keys: [PRIVATE_KEY] },
    cookies: { keys: ["a cookie key of the test"] },
    claims: { ...claims, openid: ["sub", ...(claims["openid"] ?? [])] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/sign-in/${uid}` },
    ttl: { Session: 3_600, Interaction: 3_600, Grant: 3_600, AccessToken: 60, AuthorizationCode: 60, IdToken: 60 },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ sub, ...people.get(sub) }),
    }),
  });
  if (omitsIssuer) provider.use((context, next) => next().then(() => omitIssuer(context)));
  const answer = provider.callback();
  const mountPath = path.replace(/\/$/, "");
  return (request, response) => {
    if (request.url?.startsWith("/sign-in/")) return void interact(provider, request, response);
    const originalUrl = authTime === "never" ? request.url?.replace(/&max_age=\d+/, "") : request.url;
    const mounted = Object.assign(request, { originalUrl, url: originalUrl?.slice(mountPath.length) });
    return answer(mounted, response);
  };
}

/** Removes the issuer from the answer to the browser, and from the metadata the promise to send it. */
function omitIssuer(context: Context): void {
  if (context.path.endsWith("/openid-configuration")) {
    delete (context.body as Record<string, unknown>)["authorization_response_iss_parameter_supported"];
  }
  const location = context.response.get("Location");
  if (location?.includes("code=")) context.set("Location", location.replace(/&iss=[^&]*/, ""));
}

/** Shows the form that asks for a name, and signs in the person whom the form names. Consent is given at once. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, session, params } = await provider.interactionDetails(request, response);
  if (prompt.name === "consent" && session) {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }
  if (request.method === "POST") {
    const accountId = new URLSearchParams(await text(request)).get("name") ?? "";
    return provider.interactionFinished(request, response, { login: { accountId } });
  }
  response.writeHead(200, { "Content-Type": "text/html" });
  response.end('<form method="post"><input name="name"><button>Sign in</button></form>');
}

const PRIVATE_KEY = {
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }),
  use: "sig",
  kid: "test",
};
