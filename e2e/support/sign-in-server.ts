/** A server to which people sign in through an identity provider on loopback. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { CLIENT, type ProviderForm, startIdentityProvider, type TestIdentityProvider } from "./identity-provider.ts";
import { type ServerProcess, startServer } from "./server.ts";

export interface SignInServer {
  readonly server: ServerProcess;
  readonly provider: TestIdentityProvider;
  readonly environment: Readonly<Record<string, string>>;
  /** Replaces the role file; the server reads it on SIGHUP. */
  writeRoles(text: string): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Gives three roles to the group `staff`, and links subject 1 of the issuer to the person `j.doe`. */
export const roleFileOf = (issuer: string): string => `
roles:
  staff: [operator, privacy, auditor]
people:
  - person: j.doe
    identities: [{ issuer: "${issuer}", sub: "1" }]
`;

interface SignInServerOptions {
  /** The address in browsers; default: the admin listener's own. */
  readonly address?: string;
  readonly form?: ProviderForm;
}

/** @param folder the folder of the role file. */
export async function startSignInServer(
  environment: Record<string, string>,
  folder: string,
  { address, form }: SignInServerOptions = {},
): Promise<SignInServer> {
  const provider = await startIdentityProvider(form);
  provider.people.set("1", { groups: ["staff"] });
  const port = await freePort();
  const publicUrl = address ?? `http://localhost:${port}`;
  provider.addRedirectUri(`${publicUrl}/admin/v1/sign-in/callback`);
  const roleFile = join(folder, "roles.yaml");
  const writeRoles = (text: string): Promise<void> => writeFile(roleFile, text);
  await writeRoles(roleFileOf(provider.issuer));
  const settings = {
    ...environment,
    DRS_ADMIN_PORT: String(port),
    DRS_ADMIN_PUBLIC_URL: publicUrl,
    DRS_OIDC_ISSUER: provider.issuer,
    DRS_OIDC_CLIENT_ID: CLIENT.id,
    DRS_OIDC_CLIENT_SECRET: CLIENT.secret,
    DRS_OIDC_ROLE_FILE: roleFile,
    DRS_OIDC_NAME_CLAIM: "name",
  };
  let server = await startServer(settings);
  return {
    get server() {
      return server;
    },
    provider,
    environment: settings,
    writeRoles,
    async restart() {
      await server.stop();
      server = await startServer(settings);
    },
    async stop() {
      await server.stop();
      await provider.close();
    },
  };
}
