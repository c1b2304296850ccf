/** The sign-in at providers that answer as Keycloak, Entra, Okta, Google and Auth0 do. */
import { describe, expect, onTestFinished, test } from "vitest";
import { Browser } from "../../../../../e2e/support/browser.ts";
import { CLIENT, type ProviderForm, startIdentityProvider } from "../../../../../e2e/support/identity-provider.ts";
import { Dependencies } from "../../base/dependencies/dependencies.ts";
import { identityProvider } from "./identity-provider.ts";
import { mapIdentity, type Mapped, readRoleMapping } from "./role-mapping.ts";

const REDIRECT_URI = "http://127.0.0.1:9/admin/v1/sign-in/callback";
const SECRETS = { state: "a".repeat(43), nonce: "b".repeat(43), codeVerifier: "c".repeat(43) };

interface Product extends ProviderForm {
  readonly sub: string;
}

/** https://www.keycloak.org/docs/latest/server_admin/#_protocol-mappers: without a mapper, roles are in access tokens only. */
const KEYCLOAK: Product = {
  path: "/realms/staff",
  sub: "6fe1b9b9-5ddd-478d-9b38-bd11698295cf",
  authTime: "always",
  claims: { openid: ["realm_access", "resource_access", "groups", "roles"] },
};

/** https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference: neither groups nor `auth_time` unless configured. */
const ENTRA: Product = {
  path: "/9122040d-6c67-4c5b-b112-36a304b66dad/v2.0",
  sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
  authTime: "never",
  omitsIssuer: true,
  claims: { openid: ["oid", "tid", "roles", "groups", "_claim_names", "_claim_sources"] },
};

/** https://developer.okta.com/docs/guides/customize-tokens-groups-claim: groups with the scope `groups` only. */
const OKTA: Product = {
  sub: "00uixa271s6x7qt8I0h7",
  authTime: "always",
  omitsIssuer: true,
  claims: { openid: [], groups: ["groups"] },
};

/** https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload: no groups, and no `auth_time`. */
const GOOGLE: Product = {
  sub: "10769150350006150715113082367",
  authTime: "never",
  omitsIssuer: true,
  claims: { openid: ["hd"] },
};

/** https://auth0.com/docs/secure/tokens/json-web-tokens/create-custom-claims: the issuer ends in a slash, and an action adds roles. */
const AUTH0: Product = {
  path: "/",
  sub: "auth0|5f7c8ec7c33c6c004bbafe82",
  omitsIssuer: true,
  claims: { openid: ["https://drs.example/roles"] },
};

interface Settings {
  readonly claim?: string;
  readonly separator?: "space" | "comma";
  readonly scopes?: readonly string[];
  /** The value to which the role file gives the role analyst. */
  readonly value?: string;
  /** The identities of the file. By default it lists the issuer and subject of the product. */
  readonly unlisted?: boolean;
  readonly maxAge?: number;
}

async function signIn(product: Product, claims: Record<string, unknown>, settings: Settings = {}) {
  const { claim = "groups", separator, scopes = ["openid"], value = "drs-analysts", maxAge } = settings;
  const provider = await startIdentityProvider(product);
  onTestFinished(() => provider.close());
  provider.addRedirectUri(REDIRECT_URI);
  provider.people.set(product.sub, claims);
  const client = identityProvider({
    issuer: provider.issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    scopes,
    redirectUri: REDIRECT_URI,
    dependency: new Dependencies(5_000).get("identity_provider"),
  });
  const url = await client.authorizationUrl(SECRETS, maxAge);
  const page = await new Browser().visit(url.href, product.sub, (next) => next.startsWith(REDIRECT_URI));
  const signedIn = await client.redeem(new URL(page.url).searchParams.toString(), SECRETS, maxAge);
  if (typeof signedIn === "string") return signedIn;
  const sub = settings.unlisted ? "another" : product.sub;
  const file = readRoleMapping(`
roles: { "${value}": [analyst] }
people: [{ person: j.doe, identities: [{ issuer: "${provider.issuer}", sub: "${sub}" }] }]`);
  if (!file.ok) throw new Error(file.problems.join("\n"));
  return mapIdentity(file.mapping, signedIn.identity, signedIn.claims, { name: claim, separator });
}

const GRANTS = expect.any(Array) as string[];
const ANALYST: Mapped = { ok: true, person: "j.doe", roles: ["analyst"], grants: GRANTS };
const refused = (advice: string) => ({ ok: false, advice: expect.stringContaining(advice) as string });

describe("a person of Keycloak", () => {
  test.each<[string, Record<string, unknown>, Settings]>([
    ["realm roles", { realm_access: { roles: ["offline_access", "drs-analysts"] } }, { claim: "realm_access.roles" }],
    [
      "roles of a client",
      { resource_access: { account: { roles: [] }, "drs.admin": { roles: ["drs-analysts"] } } },
      { claim: "resource_access.drs.admin.roles" },
    ],
    ["paths of groups", { groups: ["/staff", "/staff/drs-analysts"] }, { value: "/staff/drs-analysts" }],
    [
      "one text, by a mapper that is not multivalued",
      { roles: "a,drs-analysts" },
      { claim: "roles", separator: "comma" },
    ],
  ])("signs in by %s, also for an operation that needs a recent sign-in", async (_, claims, settings) => {
    expect(await signIn(KEYCLOAK, claims, settings)).toEqual(ANALYST);
    expect(await signIn(KEYCLOAK, claims, { ...settings, maxAge: 300 })).toEqual(ANALYST);
  });

  test("is refused with advice while no mapper adds roles to the ID token", async () => {
    expect(await signIn(KEYCLOAK, {}, { claim: "realm_access.roles" })).toEqual(
      refused("no claim realm_access.roles with texts. Let the identity provider add it"),
    );
  });
});

describe("a person of Entra", () => {
  const person = { oid: "7f8e", tid: "9122040d-6c67-4c5b-b112-36a304b66dad" };
  const overage = {
    _claim_names: { groups: "src1" },
    _claim_sources: { src1: { endpoint: "https://graph.example/getMemberObjects" } },
  };

  test.each<[string, Record<string, unknown>, Settings]>([
    ["application roles", { roles: ["drs-analysts"] }, { claim: "roles" }],
    ["application roles, with too many groups to list", { roles: ["drs-analysts"], ...overage }, { claim: "roles" }],
    ["object ids of groups", { groups: ["a1", "b2"] }, { value: "b2" }],
  ])("signs in by %s", async (_, claims, settings) => {
    expect(await signIn(ENTRA, { ...person, ...claims }, settings)).toEqual(ANALYST);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["no groups, as by default", {}, "no claim groups"],
    ["too many groups to list", overage, "Let the identity provider send application roles"],
  ])("with %s is refused with advice", async (_, claims, advice) => {
    expect(await signIn(ENTRA, { ...person, ...claims })).toEqual(refused(advice));
  });

  test("can't sign in for an operation that needs a recent sign-in while auth_time is not configured", async () => {
    expect(await signIn(ENTRA, { roles: ["drs-analysts"] }, { claim: "roles", maxAge: 300 })).toBe("no-time");
  });
});

describe("a person of Okta", () => {
  const claims = { groups: ["Everyone", "drs-analysts"] };

  test("signs in by groups if the scope groups is asked for, also for an operation that needs a recent sign-in", async () => {
    for (const maxAge of [{}, { maxAge: 300 }]) {
      expect(await signIn(OKTA, claims, { scopes: ["openid", "groups"], ...maxAge })).toEqual(ANALYST);
    }
  });

  test("is refused with advice if only the scope openid is asked for", async () => {
    expect(await signIn(OKTA, claims)).toEqual(refused("no claim groups"));
  });
});

describe("a person of Google", () => {
  test("signs in by their subject, or by their organisation", async () => {
    expect(await signIn(GOOGLE, { hd: "staff.example" }, { claim: "sub", value: GOOGLE.sub })).toEqual(ANALYST);
    expect(await signIn(GOOGLE, { hd: "staff.example" }, { claim: "hd", value: "staff.example" })).toEqual(ANALYST);
  });

  test("of another organisation, or of none, is refused", async () => {
    const settings = { claim: "hd", value: "staff.example" };
    expect(await signIn(GOOGLE, { hd: "evil.example" }, settings)).toEqual(refused("no value of the claim hd"));
    expect(await signIn(GOOGLE, {}, settings)).toEqual(refused("no claim hd"));
    expect(await signIn(GOOGLE, { hd: "staff.example" }, { ...settings, unlisted: true })).toEqual(
      refused(`sub: '${GOOGLE.sub}'`),
    );
  });

  test("can't sign in for an operation that needs a recent sign-in, because Google does not report the time", async () => {
    expect(await signIn(GOOGLE, {}, { claim: "sub", value: GOOGLE.sub, maxAge: 300 })).toBe("no-time");
  });
});

describe("a person of Auth0", () => {
  const claims = { "https://drs.example/roles": ["drs-analysts"] };

  test("signs in by a claim with a namespace, also for an operation that needs a recent sign-in", async () => {
    const settings = { claim: "https://drs.example/roles" };
    expect(await signIn(AUTH0, claims, settings)).toEqual(ANALYST);
    expect(await signIn(AUTH0, claims, { ...settings, maxAge: 300 })).toEqual(ANALYST);
  });

  test("that the file does not list is refused with an issuer that ends in a slash", async () => {
    const settings = { claim: "https://drs.example/roles", unlisted: true };
    expect(await signIn(AUTH0, claims, settings)).toEqual({
      ok: false,
      advice: expect.stringMatching(/issuer: 'http:\/\/127\.0\.0\.1:\d+\/', sub: 'auth0\|/) as string,
    });
  });
});
