/** An admin listener to which people sign in through an identity provider on loopback. */
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import { Browser } from "../../../../../e2e/support/browser.ts";
import {
  CLIENT,
  startIdentityProvider,
  type TestIdentityProvider,
} from "../../../../../e2e/support/identity-provider.ts";
import type { TestSystem } from "../../../../../e2e/support/test-system.ts";
import { identityProvider } from "../../access/identity/identity-provider.ts";
import { readRoleMapping, type RoleMapping } from "../../access/identity/role-mapping.ts";
import { type AdminScene, useAdminListener } from "./admin-scene.fixture.ts";
import { CALLBACK_PATH } from "./sign-in.ts";

/** The time after which the limit of an address allows a full burst of sign-ins again. */
const FULL_BURST_MS = 12_000;

export interface SignInScene {
  readonly listener: AdminScene;
  readonly provider: TestIdentityProvider;
  /** Refuses identities that the role file does not list, until the end of the test. */
  refuseUnlisted(): void;
  /** A browser in which the person of this subject has signed in. */
  signIn(sub?: string, browser?: Browser): Promise<Browser>;
}

/** The role file. Subjects 1 and 2 are the same person. */
const roleFile = (issuer: string): string => `
roles:
  analysts: [analyst]
  everything: [operator, analyst, investigator, privacy, auditor]
people:
  - person: j.doe
    identities: [{ issuer: "${issuer}", sub: "1" }, { issuer: "${issuer}", sub: "2" }]
unlisted: admit
`;

export function useSignIn(scene: TestSystem): SignInScene {
  let provider: TestIdentityProvider;
  let roles: { current: RoleMapping };
  beforeAll(async () => {
    provider = await startIdentityProvider();
    for (const sub of ["1", "2", "3"]) provider.people.set(sub, { groups: ["everything"] });
  });
  afterAll(() => provider?.close());
  const listener = useAdminListener(
    () => scene.system,
    (url) => {
      const redirectUri = `${url}${CALLBACK_PATH}`;
      provider.addRedirectUri(redirectUri);
      const dependency = scene.system.dependencies.get("identity_provider");
      const client = { clientId: CLIENT.id, clientSecret: CLIENT.secret, scopes: ["openid"] };
      roles = { current: mappingOf(roleFile(provider.issuer)) };
      return {
        origin: url,
        prefix: "",
        provider: identityProvider({ ...client, issuer: provider.issuer, redirectUri, dependency }),
        roleFile: roles,
        rolesClaim: { name: "groups", separator: undefined },
        nameClaim: "name",
      };
    },
  );
  beforeEach(() => listener.pass(FULL_BURST_MS));
  return {
    listener,
    get provider() {
      return provider;
    },
    refuseUnlisted() {
      const { current } = roles;
      onTestFinished(() => void (roles.current = current));
      roles.current = { ...current, admitsUnlisted: false };
    },
    async signIn(sub = "1", browser = new Browser()) {
      const page = await browser.visit(`${listener.url}/admin/v1/sign-in`, sub);
      if (page.status !== 200) throw new Error(`the sign-in ended with ${page.status}: ${page.text}`);
      return browser;
    },
  };
}

function mappingOf(text: string): RoleMapping {
  const result = readRoleMapping(text);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.mapping;
}
