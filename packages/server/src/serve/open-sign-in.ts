import { CALLBACK_PATH, type SignInPorts } from "../http/admin/sign-in.ts";
import type { CloseStack } from "../runtime/close-stack.ts";
import type { System } from "../runtime/system.ts";
import { identityProvider, monitorIdentityProvider } from "../access/identity/identity-provider.ts";
import type { RoleFile } from "../access/identity/role-file.ts";
import { publicAddressOf } from "./reach.ts";

export interface SignIn extends SignInPorts {
  readonly roleFile: RoleFile;
  /** The host name of the console's pages. */
  readonly hostName: string;
}

/**
 * @param opened gets the monitor of the provider, to close it. The server starts even if the provider can't be reached;
 * then readiness and the log name the provider.
 * @returns `undefined` if no identity provider is configured.
 */
export function openSignIn(
  { config, dependencies }: Pick<System, "config" | "dependencies">,
  roleFile: RoleFile | undefined,
  opened: CloseStack,
): SignIn | undefined {
  const { oidc, publicUrl } = config.service.admin;
  const { issuer, clientId, clientSecret, rolesClaim, rolesSeparator, nameClaim, scopes } = oidc;
  // The rules between settings require all of them together.
  if (issuer === undefined || clientId === undefined || roleFile === undefined || publicUrl === undefined)
    return undefined;
  const address = publicAddressOf(publicUrl);
  const dependency = dependencies.get("identity_provider");
  const provider = identityProvider({
    issuer,
    clientId,
    clientSecret,
    scopes,
    redirectUri: `${address.origin}${address.prefix}${CALLBACK_PATH}`,
    dependency,
  });
  const claim = { name: rolesClaim, separator: rolesSeparator };
  const ports = { ...address, hostName: new URL(publicUrl).hostname, provider, rolesClaim: claim, nameClaim, roleFile };
  const monitor = monitorIdentityProvider(dependency, provider);
  opened.add("monitor of the identity provider", () => monitor.close());
  return ports;
}
