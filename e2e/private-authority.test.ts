/**
 * Tests of JWKS, introspection and an identity provider that have a certificate of a private authority, and that only a
 * forward proxy can reach. The variables are those of Node.
 */
import { execFileSync } from "node:child_process";
import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, createConnection } from "node:net";
import { join } from "node:path";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorized, send, transport } from "./support/client.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { issueCredentials, runDrs, startServer } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** Only the proxy knows where this host is. */
const ISSUER = "https://identity.internal";
const OPAQUE = "a-token-of-another-server";

let database: TestDatabase;
let folder: { path: string; remove: () => Promise<void> };
let environment: Record<string, string>;
let provider: Server;
let proxy: Server;
let reached: string[];
let key: KeyObject;

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));

/** Makes an authority and a certificate of it for the host. */
function makeCertificates(): { cert: Buffer; key: Buffer; authority: string } {
  const at = (name: string): string => join(folder.path, name);
  const openssl = (...args: readonly string[]): Buffer => execFileSync("openssl", args, { stdio: "ignore" });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  openssl("req", "-x509", ...curve, "-subj", "/CN=authority", "-keyout", at("ca.key"), "-out", at("ca.crt"));
  const issued = ["-CA", at("ca.crt"), "-CAkey", at("ca.key"), "-addext", "subjectAltName=DNS:identity.internal"];
  openssl(
    "req",
    "-x509",
    ...curve,
    ...issued,
    "-subj",
    "/CN=identity",
    "-keyout",
    at("tls.key"),
    "-out",
    at("tls.crt"),
  );
  return { cert: readFileSync(at("tls.crt")), key: readFileSync(at("tls.key")), authority: at("ca.crt") };
}

beforeAll(async () => {
  folder = await temporaryFolder();
  database = await sharedDatabase();
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  key = pair.privateKey;
  const answers: Readonly<Record<string, unknown>> = {
    "/jwks": { keys: [{ ...createPublicKey(key).export({ format: "jwk" }), kid: "1", alg: "ES256" }] },
    "/introspect": { active: true, sub: "one" },
    "/.well-known/openid-configuration": {
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      jwks_uri: `${ISSUER}/jwks`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    },
  };
  const { authority, ...tls } = makeCertificates();
  provider = createServer(tls, (request, response) => {
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(answers[request.url ?? ""] ?? {}));
  });
  const providerPort = await listen(provider);
  proxy = createHttpServer().on("connect", (request, client) => {
    reached.push(request.url ?? "");
    client.on("error", () => {});
    const server = createConnection(providerPort, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      server.pipe(client).pipe(server);
    });
    server.on("error", () => client.destroy());
  });
  environment = {
    ...(await database.environment()),
    NODE_EXTRA_CA_CERTS: authority,
    NODE_USE_ENV_PROXY: "1",
    HTTPS_PROXY: `http://127.0.0.1:${await listen(proxy)}`,
    NO_PROXY: "localhost,127.0.0.1",
  };
});

afterAll(async () => {
  provider?.close();
  proxy?.close();
  await database?.close();
  await folder?.remove();
});

/** Sends an event with this token to a server with these settings. @returns the status, and what readiness says then. */
async function answerWith(settings: Record<string, string>, token: string): Promise<[status: number, ready: string]> {
  reached = [];
  const who = await issueCredentials(environment, "one");
  const server = await startServer({ ...environment, ...settings });
  try {
    const body = JSON.stringify(transport(who));
    const { status } = await send({ url: server.url, headers: authorized({ ...who, token }), body });
    return [status, (await send({ url: server.adminUrl, method: "GET", path: "/readyz" })).text];
  } finally {
    await server.stop();
  }
}

describe("behind a forward proxy and with a private authority", () => {
  const jwt = { DRS_JWT_JWKS_URL: `${ISSUER}/jwks`, DRS_JWT_ISSUER: ISSUER, DRS_JWT_AUDIENCE: "drs" };
  const introspection = { DRS_INTROSPECTION_URL: `${ISSUER}/introspect` };
  const signed = (): Promise<string> =>
    new SignJWT({ sub: "one", iss: ISSUER, aud: "drs" })
      .setProtectedHeader({ alg: "ES256", kid: "1" })
      .setExpirationTime("5m")
      .sign(key);

  test("a server verifies tokens by JWKS", async () => {
    expect(await answerWith(jwt, await signed())).toEqual([201, "ok\n"]);
    expect(reached).toEqual(["identity.internal:443"]);
  });

  test("a server verifies tokens by introspection", async () => {
    expect(await answerWith(introspection, OPAQUE)).toEqual([201, "ok\n"]);
    expect(reached).toEqual(["identity.internal:443"]);
  });

  const doctor = async (changed: Record<string, string> = {}): Promise<string> => {
    reached = [];
    const roles = join(folder.path, "roles.yaml");
    writeFileSync(roles, "roles:\n  staff: [operator]\n");
    const oidc = {
      DRS_ADMIN_PUBLIC_URL: "http://localhost:8081",
      DRS_OIDC_ISSUER: ISSUER,
      DRS_OIDC_CLIENT_ID: "drs",
      DRS_OIDC_ROLE_FILE: roles,
    };
    return (await runDrs({ ...environment, ...oidc, ...changed }, ["doctor"])).stdout.toString();
  };

  test("drs doctor reads the metadata of an identity provider", async () => {
    expect(await doctor()).toContain(`${ISSUER} answers`);
    expect(reached).toEqual(["identity.internal:443"]);
  });

  describe("without the authority", () => {
    const without = { NODE_EXTRA_CA_CERTS: "" };
    const reason =
      "can't be reached (UNABLE_TO_VERIFY_LEAF_SIGNATURE): name the file of its authority in NODE_EXTRA_CA_CERTS";

    test.each<[string, () => Promise<[number, string]>]>([
      ["JWKS", async () => answerWith({ ...jwt, ...without }, await signed())],
      ["introspection", () => answerWith({ ...introspection, ...without }, OPAQUE)],
    ])("tokens of %s get 503, and readiness names the variable", async (title, answer) => {
      expect(await answer()).toEqual([503, expect.stringContaining(`${title}: ${reason} (since `)]);
    });

    test("drs doctor names the variable for an identity provider", async () => {
      expect(await doctor(without)).toContain(`${ISSUER}: the identity provider ${reason}`);
    });
  });

  test("without the proxy, tokens of JWKS get 503", async () => {
    const [status] = await answerWith({ ...jwt, NODE_USE_ENV_PROXY: "0" }, await signed());
    expect(status).toBe(503);
  });
});
