/** An OpenID Connect provider on loopback, at which people sign in with their name only. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Provider } from "oidc-provider";

export const CLIENT = { id: "drs", secret: "a client secret of the test" } as const;

export interface TestIdentityProvider {
  readonly issuer: string;
  /** Claims by subject, in addition to `sub`; a test changes them. */
  readonly people: Map<string, Record<string, unknown>>;
  /** Accepts the redirect URI of a server. */
  addRedirectUri(uri: string): void;
  close(): Promise<void>;
}

const CLAIMS = ["sub", "groups", "_claim_names", "hasgroups"];

export async function startIdentityProvider(): Promise<TestIdentityProvider> {
  let listener: RequestListener = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Record<string, unknown>>();
  const redirectUris: string[] = [];
  const start = (): void => {
    listener = listenerOf(issuer, people, redirectUris);
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
  people: ReadonlyMap<string, Record<string, unknown>>,
  redirectUris: readonly string[],
): RequestListener {
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [...redirectUris] }],
    jwks: { keys: [PRIVATE_KEY] },
    cookies: { keys: ["a cookie key of the test"] },
    claims: { openid: CLAIMS },
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
  const answer = provider.callback();
  return (request, response) => {
    if (request.url?.startsWith("/sign-in/")) void interact(provider, request, response);
    else answer(request, response);
  };
}

/** Shows the form that asks for a name, and signs in the person whom the form names. Consent is given at once. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, session, params } = await provider.interactionDetails(request, response);
  if (prompt.name === "consent" && session) {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope("openid");
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
