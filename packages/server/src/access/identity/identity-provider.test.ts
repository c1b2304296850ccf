import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser } from "../../../../../e2e/support/browser.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import {
  CLIENT,
  startIdentityProvider,
  type TestIdentityProvider,
} from "../../../../../e2e/support/identity-provider.ts";
import type { Config } from "../../base/config/config.ts";
import { identityFinding } from "../../operations/doctor.ts";
import { Dependencies } from "../../base/dependencies/dependencies.ts";
import { identityProvider, monitorIdentityProvider } from "./identity-provider.ts";

const REDIRECT_URI = "http://127.0.0.1:9/admin/v1/sign-in/callback";
const SECRETS = { state: "a".repeat(43), nonce: "b".repeat(43), codeVerifier: "c".repeat(43) };

let provider: TestIdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider();
  provider.addRedirectUri(REDIRECT_URI);
  provider.people.set("1", { groups: ["analysts"] });
});
afterAll(() => provider?.close());

function clientOf({ clientSecret = CLIENT.secret as string, issuer = provider.issuer, timeoutMs = 5_000 } = {}) {
  const dependency = new Dependencies(timeoutMs).get("identity_provider");
  const options = { issuer, clientId: CLIENT.id, clientSecret, scopes: ["openid"], redirectUri: REDIRECT_URI };
  return { dependency, client: identityProvider({ ...options, dependency }) };
}

/** Signs a person in, and returns the parameters that the provider gives to the browser. */
async function answerAfterSignIn(maxAge?: number): Promise<URLSearchParams> {
  const { client } = clientOf();
  const url = await client.authorizationUrl(SECRETS, maxAge);
  const page = await new Browser().visit(url.href, "1", (next) => next.startsWith(REDIRECT_URI));
  return new URL(page.url).searchParams;
}

describe("the answer of the identity provider", () => {
  test("names the person, the claims and, if it was requested, the time of the authentication", async () => {
    const { client } = clientOf();
    const signedIn = await client.redeem((await answerAfterSignIn()).toString(), SECRETS, undefined);
    expect(signedIn).toMatchObject({
      identity: { issuer: provider.issuer, sub: "1" },
      claims: { groups: ["analysts"] },
      authenticatedAt: undefined,
    });
    const recent = await client.redeem((await answerAfterSignIn(300)).toString(), SECRETS, 300);
    expect(Date.now() - ((recent as { authenticatedAt: number }).authenticatedAt ?? 0)).toBeLessThan(60_000);
  });

  test("without the requested time of the authentication is reported as such", async () => {
    const { client } = clientOf();
    expect(await client.redeem((await answerAfterSignIn()).toString(), SECRETS, 300)).toBe("no-time");
  });

  test.each([
    ["another state", { ...SECRETS, state: "x".repeat(43) }],
    ["another nonce", { ...SECRETS, nonce: "x".repeat(43) }],
    ["another code verifier", { ...SECRETS, codeVerifier: "x".repeat(43) }],
  ])("is refused with %s", async (_, secrets) => {
    expect(await clientOf().client.redeem((await answerAfterSignIn()).toString(), secrets, undefined)).toBe("answer");
  });

  test.each([
    ["of another issuer", (query: URLSearchParams) => query.set("iss", "https://evil.example")],
    ["of no issuer", (query: URLSearchParams) => query.delete("iss")],
    ["with two codes", (query: URLSearchParams) => query.append("code", "another")],
  ])("%s is refused, and its code is not sent anywhere", async (_, change) => {
    const query = await answerAfterSignIn();
    const right = query.toString();
    change(query);
    const { client } = clientOf();
    expect(await client.redeem(query.toString(), SECRETS, undefined)).toBe("answer");
    expect(await client.redeem(right, SECRETS, undefined)).toMatchObject({ identity: { sub: "1" } });
  });

  test("can't be redeemed twice", async () => {
    const query = (await answerAfterSignIn()).toString();
    const { client } = clientOf();
    expect(await client.redeem(query, SECRETS, undefined)).toMatchObject({ identity: { sub: "1" } });
    expect(await client.redeem(query, SECRETS, undefined)).toBe("answer");
  });

  test("to a client with a wrong secret is reported as a failure of the client, and not of the answer", async () => {
    const { client, dependency } = clientOf({ clientSecret: "wrong" });
    expect(await client.redeem((await answerAfterSignIn()).toString(), SECRETS, undefined)).toBe("client");
    expect(dependency.isUp).toBe(true);
  });
});

describe("an identity provider that", () => {
  test.each([
    ["can't be reached", "http://127.0.0.1:1", "can't be reached"],
    ["serves no metadata", undefined, "can't be reached"],
  ])("%s is reported as a dependency that is down", async (_, issuer, problem) => {
    const server = createServer((_request, response) => response.end("no metadata of a provider"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { client, dependency } = clientOf({ issuer: issuer ?? other });
    const error: unknown = await client.check().catch((caught: unknown) => caught);
    server.close();
    expect(error).toMatchObject({ code: "dependency-unavailable" });
    expect(String(error)).not.toContain("no metadata of");
    expect(dependency.health.problems).toEqual([problem]);
  });

  test("is unavailable for a while is detected by the monitor, without a sign-in", async () => {
    let isAway = true;
    const server = createServer((_request, response) => {
      if (isAway) return response.writeHead(503).end();
      const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
      return response.setHeader("Content-Type", "application/json").end(JSON.stringify(metadata));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { client, dependency } = clientOf({ issuer });
    const monitor = monitorIdentityProvider(dependency, client, { everyMs: 5, retryMs: 5 });
    const problemsAre = (problems: readonly string[]) => () => isDeepStrictEqual(dependency.health.problems, problems);
    await until(problemsAre(["can't be reached"]));
    isAway = false;
    await until(problemsAre([]));
    isAway = true;
    await until(problemsAre(["can't be reached"]));
    await monitor.close();
    server.close();
  });

  test("is unavailable fails the check of drs doctor, which skips a provider that is not configured", async () => {
    const found = (issuer: string | undefined) => {
      const oidc = { issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, scopes: ["openid"] };
      const config = { service: { admin: { oidc } } } as unknown as Config;
      return identityFinding({ config, dependencies: new Dependencies(5_000) });
    };
    const what = "identity provider";
    const took_ms = expect.any(Number);
    expect(await found(provider.issuer)).toEqual([{ what, ok: true, detail: `${provider.issuer} answers`, took_ms }]);
    const detail = expect.stringContaining("127.0.0.1:2: the identity provider can't be reached (ECONNREFUSED): no");
    expect(await found("http://127.0.0.1:2")).toEqual([{ what, ok: false, detail, took_ms }]);
    expect(await found(undefined)).toEqual([]);
  });

  test("does not answer makes the call fail at the deadline", async () => {
    const server = createServer(() => {});
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { client, dependency } = clientOf({ issuer, timeoutMs: 100 });
    await expect(client.check()).rejects.toMatchObject({ code: "dependency-silent" });
    expect(dependency.health.problems).toEqual(["does not answer"]);
    server.close();
    server.closeAllConnections();
  });
});
